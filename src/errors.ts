/** Every error a caller can meet: status, title, and what to do about it (contract 1.1). The OpenAPI document and the error pages are made from this. */
export const catalogue = {
  malformed_request: [400, 'This is not well-formed HTTP.', 'Send a request as RFC 9112 has it.'],
  invalid_parameter: [
    400,
    'A parameter is unknown, repeated or has a value that it cannot have.',
    'Look at `errors`: each entry names the parameter and what it accepts.',
  ],
  invalid_cursor: [
    400,
    'The cursor does not belong to this list.',
    'Send `after_cursor` exactly as `meta.endCursor` gave it, with the same filters, to the same list and service. To start anew, leave it out.',
  ],
  invalid_timestamp: [
    400,
    'A time cannot be read.',
    'Use `YYYY-MM-DDTHH:MM:SS`, the same with a space, `YYYY-MM-DDTHH:MM` or `YYYY-MM-DD` in the time zone of the service, or RFC 3339 with `Z` or an offset (`+` is `%2B` in a URL).',
  ],
  duplicate_header: [
    400,
    'A header that may be sent once was sent twice.',
    'Send one `Authorization` and one `X-Service-Name` header.',
  ],
  service_name_required: [
    400,
    'The X-Service-Name header is missing.',
    'Send `X-Service-Name` with the name of the service that your account was given.',
  ],
  invalid_credentials: [
    401,
    'The username or the password is wrong or missing.',
    'Send `Authorization: Basic` with the base64 of `username:password`. A lost password cannot be shown again: have it rotated.',
  ],
  https_required: [
    403,
    'Only HTTPS is accepted.',
    'Use `https://`. A password that was sent in the clear should be rotated.',
  ],
  service_not_assigned: [
    403,
    'The account may not use this service.',
    'Check the value of `X-Service-Name`, letter by letter; or have the service assigned to the account.',
  ],
  insufficient_role: [403, 'The role of the account is too low.', 'Use an account with the role that `detail` names.'],
  voucher_not_accepted: [
    403,
    'The number and the PIN do not open a voucher.',
    'Check both with the shopper. After several wrong PINs a voucher refuses for a while, the right one too; which of these it is, is not told.',
  ],
  not_found: [404, 'There is no such record.', 'Check the path and the identifier; identifiers belong to one service.'],
  method_not_allowed: [
    405,
    'The path does not know this method.',
    'The `Allow` header lists the methods that it knows.',
  ],
  not_acceptable: [406, 'Answers are JSON.', 'Send `Accept: application/json`, or no `Accept` header.'],
  request_timeout: [
    408,
    'The request took too long to arrive.',
    'Send the headers within 15 seconds and all of the request within 30.',
  ],
  capability_unavailable: [
    409,
    'The back office cannot do this.',
    'See `GET /capabilities`; without `Prefer: handling=strict` the answer is empty, with a warning.',
  ],
  uri_too_long: [414, 'The URL is too long.', 'A URL has at most 8 KiB.'],
  expectation_failed: [
    417,
    'An `Expect` header asks for something unknown.',
    'Leave the header out, or send `Expect: 100-continue`.',
  ],
  date_range_inverted: [
    422,
    'The range of time ends before it begins.',
    'Send an `updated_after` that is earlier than `updated_before`.',
  ],
  rate_limited: [
    429,
    'There were too many requests.',
    'Wait for the seconds that `Retry-After` says. `RateLimit` tells what is left.',
  ],
  too_many_failures: [429, 'There were too many failed attempts.', 'Wait for the seconds that `Retry-After` says.'],
  headers_too_large: [431, 'The headers are too large.', 'At most 100 headers, 16 KiB in all.'],
  internal_error: [500, 'Something unexpected went wrong.', 'Try again; if it stays, report the `requestId`.'],
  back_office_unavailable: [
    503,
    'The back office cannot be reached.',
    'Wait for the seconds that `Retry-After` says, then try again.',
  ],
} as const satisfies Record<string, readonly [status: number, title: string, remedy: string]>

export type ErrorCode = keyof typeof catalogue

/** One fault of a request: where it is (`parameter` in the query, `pointer` in the body), and what. */
export interface Fault {
  parameter?: string
  pointer?: string
  code: ErrorCode
  detail: string
}

interface Extras {
  faults?: Fault[]
  /** Seconds, for `Retry-After`. */
  retryAfter?: number
  headers?: Record<string, string>
}

/** What a caller is answered with instead of data. `detail` is read by strangers: nothing of the inside belongs there. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly faults: Fault[]
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, detail?: string, { faults = [], retryAfter, headers = {} }: Extras = {}) {
    super(detail ?? catalogue[code][1])
    this.code = code
    this.status = catalogue[code][0]
    this.faults = faults
    this.headers = retryAfter === undefined ? headers : { ...headers, 'retry-after': String(retryAfter) }
  }
}

/** All faults of a request as one error; its code is that of the first. */
export function faulty(faults: [Fault, ...Fault[]]) {
  return new ApiError(faults[0].code, faults.map(fault => fault.detail).join(' '), { faults })
}

export const notFound = (kind: string) => new ApiError('not_found', `There is no such ${kind}.`)
