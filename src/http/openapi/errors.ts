import { STATUS_CODES } from 'node:http'
import { ApiError, type ErrorCode, errorCodes, notFound, toApiError } from '../../errors/api-error.ts'
import { Type } from '../../schemas/schemas.ts'
import { paging, updatedAfter } from '../pagination/lists.ts'
import { type Problem, problem } from '../problem.ts'
import { readQuery } from '../routing/query.ts'
import { type AnswerHeader, exampleRequestId, headersOf, rateLimitHeaders } from './headers.ts'

/** What any request may be answered, whoever sends it. */
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

/** What any request with credentials may be answered. */
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

/** Collects the error responses that operations refer to; operations with the same codes for a status share one. */
export function errorWriter(publicUrl: string) {
  const components: Record<string, object> = {}
  function write(possible: readonly ErrorCode[]) {
    const statuses = Map.groupBy([...new Set(possible)], each => errorCodes[each].status)
    const responses = [...statuses].map(([status, mine]) => {
      const name = nameOf(status, mine)
      components[name] ??= response(publicUrl, status, mine)
      return [String(status), { $ref: `#/components/responses/${name}` }] as const
    })
    return Object.fromEntries(responses)
  }
  return { write, components }
}

/** The status's name for the codes of every operation, followed by what comes on top: `BadRequestOrInvalidCursor`. */
function nameOf(status: number, mine: readonly ErrorCode[]) {
  const common = errorsOfEveryOperation.filter(each => errorCodes[each].status === status)
  const usual = common.length > 0 && common.every(each => mine.includes(each))
  const rest = usual ? mine.filter(each => !common.includes(each)) : mine
  const words = [...(usual ? [STATUS_CODES[status] ?? ''] : []), ...rest]
  return words.map(pascalCase).join('Or')
}

const pascalCase = (words: string) =>
  words
    .split(/[^A-Za-z]+/)
    .map(word => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')

const ownHeaders: Record<number, readonly AnswerHeader[]> = {
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

const response = (publicUrl: string, status: number, mine: readonly ErrorCode[]) => ({
  description: mine.map(each => `\`${each}\`: ${errorCodes[each].title}`).join('\n\n'),
  headers: headersOf(...(ownHeaders[status] ?? rateLimitHeaders)),
  content: {
    'application/problem+json': {
      schema: { $ref: '#/components/schemas/Problem' },
      examples: Object.fromEntries(
        mine.map(each => [each, { summary: errorCodes[each].title, value: exampleProblem(each, publicUrl) }]),
      ),
    },
  },
})

/** Queries that are refused with the code. */
const faultyQueries: Partial<Record<ErrorCode, string>> = {
  invalid_parameter: 'limit=1000',
  invalid_cursor: 'after_cursor=',
  invalid_timestamp: 'updated_after=yesterday',
}

const details: Partial<Record<ErrorCode, string>> = {
  duplicate_header: "The header `x-service-name` can't be sent twice.",
  insufficient_role: 'This requires the role `admin`.',
  capability_unavailable:
    'GET /customers?updated_after= needs back-office version 2022.1 or later; this one is 2021.3.',
}

/** The error as the service words it. */
function exampleError(each: ErrorCode): ApiError {
  const query = faultyQueries[each]
  if (query !== undefined) {
    const shape = Type.Object({ updated_after: updatedAfter, ...paging() })
    const [first, ...more] = readQuery(shape, query, 'UTC').errors
    if (first) return toApiError([first, ...more])
  }
  if (each === 'not_found') return notFound('record')
  if (each === 'date_range_inverted') {
    const detail = '`updated_before` must be later than `updated_after`.'
    return toApiError([{ parameter: 'updated_before', code: each, detail }])
  }
  return new ApiError(each, details[each])
}

const exampleProblem = (each: ErrorCode, publicUrl: string): Problem =>
  problem(exampleError(each), { publicUrl, instance: '/customers/search', requestId: exampleRequestId })
