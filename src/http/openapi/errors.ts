import { STATUS_CODES } from 'node:http'
import { ApiError, type ErrorCode, errorCodes, notFound, toApiError } from '../../errors/api-error.ts'
import { Type } from '../../schemas/schemas.ts'
import { pagingParameters, updatedAfterParameter } from '../pagination/lists.ts'
import { createProblem, type Problem } from '../problem.ts'
import { parseQuery } from '../routing/query.ts'
import { exampleRequestId, type ResponseHeader, rateLimitHeaders, referToHeaders } from './headers.ts'

/** Errors of every request, even without credentials. */
export const errorsOfEveryRequest: readonly ErrorCode[] = [
  'malformed_request',
  'duplicate_header',
  'https_required',
  'request_timeout',
  'expectation_failed',
  'uri_too_long',
  'headers_too_large',
  'internal_error',
]

/** Errors of every request with credentials. */
export const errorsOfEveryOperation: readonly ErrorCode[] = [
  ...errorsOfEveryRequest,
  'invalid_parameter',
  'service_name_required',
  'invalid_credentials',
  'session_ended',
  'cross_origin_request',
  'service_not_assigned',
  'not_acceptable',
  'rate_limited',
  'too_many_failures',
  'service_unavailable',
]

/** Creates a writer of error responses. Operations with the same codes for a status share a component. */
export function createErrorWriter(publicUrl: string) {
  const components: Record<string, object> = {}
  function write(codes: readonly ErrorCode[]) {
    const statuses = Map.groupBy([...new Set(codes)], each => errorCodes[each].status)
    const responses = [...statuses].map(([status, statusCodes]) => {
      const name = toComponentName(status, statusCodes)
      components[name] ??= buildErrorResponse(publicUrl, status, statusCodes)
      return [String(status), { $ref: `#/components/responses/${name}` }] as const
    })
    return Object.fromEntries(responses)
  }
  return { write, components }
}

/** Returns the name of the status, followed by the codes that not every operation has: `BadRequestOrInvalidCursor`. */
function toComponentName(status: number, codes: readonly ErrorCode[]) {
  const common = errorsOfEveryOperation.filter(each => errorCodes[each].status === status)
  const hasCommon = common.length > 0 && common.every(each => codes.includes(each))
  const specific = hasCommon ? codes.filter(each => !common.includes(each)) : codes
  const words = [...(hasCommon ? [STATUS_CODES[status] ?? ''] : []), ...specific]
  return words.map(toPascalCase).join('Or')
}

const toPascalCase = (words: string) =>
  words
    .split(/[^A-Za-z]+/)
    .map(word => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')

const headersByStatus: Record<number, readonly ResponseHeader[]> = {
  401: ['WWW-Authenticate'],
  408: [],
  409: ['Retry-After.sometimes', ...rateLimitHeaders],
  414: [],
  417: [],
  429: ['Retry-After', ...rateLimitHeaders],
  431: [],
  503: ['Retry-After', ...rateLimitHeaders],
  504: ['Retry-After.sometimes', ...rateLimitHeaders],
}

const buildErrorResponse = (publicUrl: string, status: number, codes: readonly ErrorCode[]) => ({
  description: codes.map(each => `\`${each}\`: ${errorCodes[each].title}`).join('\n\n'),
  headers: referToHeaders(...(headersByStatus[status] ?? rateLimitHeaders)),
  content: {
    'application/problem+json': {
      schema: { $ref: '#/components/schemas/Problem' },
      examples: Object.fromEntries(
        codes.map(each => [each, { summary: errorCodes[each].title, value: buildExampleProblem(each, publicUrl) }]),
      ),
    },
  },
})

/** Invalid queries, by the code that they are rejected with. */
const exampleQueries: Partial<Record<ErrorCode, string>> = {
  invalid_parameter: 'limit=1000',
  invalid_cursor: 'after_cursor=',
  invalid_timestamp: 'updated_after=yesterday',
}

/** Example details, if the title is not a typical one. */
const details: Partial<Record<ErrorCode, string>> = {
  duplicate_header: "The header `x-service-name` can't be sent twice.",
  insufficient_role: 'This requires the role `admin`.',
  capability_unavailable:
    'GET /customers?updated_after= needs back-office version 2022.1 or later. Version 2021.3 is installed.',
}

/** Returns an error with a realistic detail. */
function buildExampleError(each: ErrorCode): ApiError {
  const query = exampleQueries[each]
  if (query !== undefined) {
    const schema = Type.Object({ updated_after: updatedAfterParameter, ...pagingParameters() })
    const [first, ...more] = parseQuery(schema, query, 'UTC').errors
    if (first) return toApiError([first, ...more])
  }
  if (each === 'not_found') return notFound('record')
  if (each === 'date_range_inverted') {
    const detail = '`updated_before` must be later than `updated_after`.'
    return toApiError([{ parameter: 'updated_before', code: each, detail }])
  }
  return new ApiError(each, details[each])
}

const buildExampleProblem = (each: ErrorCode, publicUrl: string): Problem =>
  createProblem(buildExampleError(each), { publicUrl, instance: '/customers/search', requestId: exampleRequestId })
