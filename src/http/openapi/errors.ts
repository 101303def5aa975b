import { STATUS_CODES } from 'node:http'
import { ApiError, type ErrorCode, errorCodes, notFound, toApiError } from '../../errors/api-error.ts'
import { Type } from '../../schemas/schemas.ts'
import { buildPagingParameters, updatedAfterParameter } from '../pagination/lists.ts'
import { createProblem, type Problem } from '../problem.ts'
import { parseQuery } from '../routing/query.ts'
import { errorsOfEveryWrite, errorsOfRepeatable } from '../routing/writes.ts'
import { exampleRequestId, type ResponseHeader, referToHeaders } from './headers.ts'

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
  'second_factor_required',
  'session_ended',
  'cross_origin_request',
  'service_not_assigned',
  'insufficient_scope',
  'not_acceptable',
  'rate_limited',
  'too_many_failures',
  'service_unavailable',
]

/** Errors that the response components explain. An operation explains its other errors itself. */
const sharedErrors: ReadonlySet<ErrorCode> = new Set([
  ...errorsOfEveryOperation,
  ...errorsOfEveryWrite,
  ...errorsOfRepeatable,
  'insufficient_role',
  'invalid_cursor',
  'invalid_timestamp',
  'not_found',
  'too_many_exports',
])

/** The response to `If-None-Match` with the current `ETag`. */
const notModified = {
  description: 'The record has not changed since the response that `If-None-Match` names.',
  headers: referToHeaders('ETag'),
}

/** Statuses that the default response covers, unless an operation has codes of its own. They mean the same in every operation. */
const isDefaultStatus = (status: number) =>
  [401, 403, 405, 406, 408, 413, 414, 415, 417, 429, 431, 500, 502, 503, 504].includes(status)

/** Returns the errors that the response components don't list, in the order of the catalogue. */
export const getOwnErrors = (codes: Iterable<ErrorCode>) => [...codes].filter(code => !sharedErrors.has(code))

/**
 * Creates a writer of error responses. It collects the components: one per status, one per code, and one for the statuses that every operation
 * has. `hasExamples` adds an example to the errors of an operation.
 */
export function createErrorWriter(publicUrl: string, hasExamples: boolean) {
  const components: Record<string, object> = { NotModified: notModified }

  /** Returns the error responses of an operation. `instance` is the path of an example request. */
  function write(codes: Iterable<ErrorCode>, instance: string) {
    const byStatus = Map.groupBy(codes, code => errorCodes[code].status)
    let hasExample = !hasExamples
    const responses = [...byStatus].flatMap(([status, statusCodes]): [number, object][] => {
      const ownErrors = getOwnErrors(statusCodes)
      if (!ownErrors.length) return isDefaultStatus(status) ? [] : [[status, refer(status)]]
      // One example shows the form. The page of a code explains the others.
      const response = hasExample ? referToCodes(ownErrors, status) : buildResponse(ownErrors, status, instance)
      hasExample = true
      return [[status, response]]
    })
    return { ...Object.fromEntries(responses), default: refer() }
  }

  /** Refers to the component of a status, or without one to the component of the statuses that every operation has. */
  function refer(status?: number) {
    const name = status === undefined ? 'Error' : toPascalCase(STATUS_CODES[status] ?? '')
    const isCovered = (code: ErrorCode) =>
      status === undefined ? isDefaultStatus(errorCodes[code].status) : errorCodes[code].status === status
    const codes = (Object.keys(errorCodes) as ErrorCode[]).filter(code => sharedErrors.has(code) && isCovered(code))
    components[name] ??= { ...buildResponse(codes, status, '/customers/search'), 'x-error-codes': codes }
    return { $ref: `#/components/responses/${name}` }
  }

  /** Refers to the component of a code. Returns the response itself if there are several codes. */
  function referToCodes(codes: readonly ErrorCode[], status: number) {
    const [code = '', ...otherCodes] = codes
    if (otherCodes.length) return buildResponse(codes, status)
    const name = toPascalCase(code)
    components[name] ??= buildResponse(codes, status)
    return { $ref: `#/components/responses/${name}` }
  }

  function buildResponse(codes: readonly ErrorCode[], status?: number, instance?: string) {
    const [first] = codes
    const headers = headersByStatus[status ?? 'default'] ?? []
    return {
      description: describeCodes(codes),
      ...(headers.length && { headers: referToHeaders(...headers) }),
      content: {
        'application/problem+json': {
          schema: { $ref: '#/components/schemas/Problem' },
          ...(first && instance !== undefined && { example: buildExampleProblem(first, publicUrl, instance) }),
        },
      },
    }
  }

  return { write, components }
}

const toPascalCase = (words: string) =>
  words
    .split(/[^A-Za-z]+/)
    .map(word => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')

const headersByStatus: Record<number | 'default', readonly ResponseHeader[]> = {
  409: ['Retry-After.sometimes'],
  429: ['Retry-After'],
  default: ['Retry-After.sometimes', 'WWW-Authenticate'],
}

/** Returns a Markdown table of error codes. */
const describeCodes = (codes: readonly ErrorCode[]) =>
  ['| Code | Meaning |', '|---|---|', ...codes.map(code => `| \`${code}\` | ${errorCodes[code].title} |`)].join('\n')

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
  insufficient_scope: "This requires the scope `orders:write`. The API key `web-shop` doesn't have it.",
  capability_unavailable:
    'GET /customers?updated_after= needs back-office version 2022.1 or later. Version 2021.3 is installed.',
}

/** Returns an error with a realistic detail. */
function buildExampleError(code: ErrorCode): ApiError {
  const query = exampleQueries[code]
  if (query !== undefined) {
    const schema = Type.Object({ updated_after: updatedAfterParameter, ...buildPagingParameters() })
    const [first, ...more] = parseQuery(schema, query, 'UTC').errors
    if (first) return toApiError([first, ...more])
  }
  if (code === 'not_found') return notFound('record')
  if (code === 'date_range_inverted') {
    const detail = '`updated_before` must be later than `updated_after`.'
    return toApiError([{ parameter: 'updated_before', code, detail }])
  }
  return new ApiError(code, details[code])
}

/** Returns an error as a request of `instance` gets it. */
export const buildExampleProblem = (code: ErrorCode, publicUrl: string, instance: string): Problem =>
  createProblem(buildExampleError(code), { publicUrl, instance, requestId: exampleRequestId })
