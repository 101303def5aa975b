import { catalogue, type ErrorCode } from './catalogue.ts'

export { catalogue, type ErrorCode }

/** One fault of a request: where it is (`parameter` in the query, `pointer` in the body), and what. */
export interface Fault {
  parameter?: string
  pointer?: string
  code: ErrorCode
  detail: string
}

/** Members that some problems have on top of RFC 9457's (contract 1.1). */
export interface Members {
  /** Until when a voucher is held, on the clock of the service's time zone. */
  lockedUntil?: string
  /** Why a voucher cannot be used. */
  reason?: 'redeemed' | 'expired' | 'suspended' | 'not issued'
}

interface Extras {
  faults?: Fault[]
  members?: Members
  /** Seconds, for `Retry-After`; with a 503 at least so many. */
  retryAfter?: number
  headers?: Record<string, string>
}

/** What a caller is answered with instead of data. `detail` is read by strangers: nothing of the inside belongs there. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly faults: Fault[]
  readonly members: Members
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, detail?: string, { faults = [], members = {}, retryAfter, headers = {} }: Extras = {}) {
    super(detail ?? catalogue[code][1])
    this.code = code
    this.status = catalogue[code][0]
    this.faults = faults
    this.members = members
    this.headers =
      retryAfter === undefined ? headers : { ...headers, 'retry-after': String(spread(this.status, retryAfter)) }
  }
}

/** What a few seconds are. */
const few = 5

/** Whom a 503 sends away together, for a few seconds, must not all come back together: it is for once again as long at most. */
const spread = (status: number, seconds: number) =>
  status === 503 && seconds <= few ? seconds + Math.floor(Math.random() * (seconds + 1)) : seconds

/** All faults of a request as one error; its code is that of the first. */
export function faulty(faults: [Fault, ...Fault[]]) {
  return new ApiError(faults[0].code, faults.map(fault => fault.detail).join(' '), { faults })
}

/** An error that says what a caller is told, as a value; any other is thrown. */
export function orApiError(error: unknown): ApiError {
  if (!(error instanceof ApiError)) throw error
  return error
}

export const notFound = (kind: string) => new ApiError('not_found', `There is no such ${kind}.`)
