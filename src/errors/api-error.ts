import { type ErrorCode, errorCodes } from './error-codes.ts'

export { type ErrorCode, errorCodes }

/** One validation error of a request: at `parameter` of the query, or at `pointer` in the body (RFC 6901). */
export interface FieldError {
  parameter?: string
  pointer?: string
  code: ErrorCode
  detail: string
  /** The units that can be sold (`insufficient_stock`). */
  available?: number
  /** The ordered units (`insufficient_stock`). */
  requested?: number
}

/** Members that some problems have in addition to the members of RFC 9457. */
export interface ProblemMembers {
  /** When the lock of a voucher expires, in the service's time zone. */
  lockedUntil?: string
  /** The reason why a voucher can't be used. */
  reason?: 'redeemed' | 'expired' | 'suspended' | 'not issued'
}

interface ApiErrorOptions {
  errors?: FieldError[]
  members?: ProblemMembers
  /** Seconds for `Retry-After`. A 503 adds a random part. */
  retryAfter?: number
  headers?: Record<string, string>
}

/** An error that the API returns to the caller. `detail` is public, so it must not contain internals. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly errors: FieldError[]
  readonly members: ProblemMembers
  readonly headers: Record<string, string>

  constructor(
    code: ErrorCode,
    detail?: string,
    { errors = [], members = {}, retryAfter, headers = {} }: ApiErrorOptions = {},
  ) {
    super(detail ?? errorCodes[code].title)
    this.code = code
    this.status = errorCodes[code].status
    this.errors = errors
    this.members = members
    this.headers =
      retryAfter === undefined ? headers : { ...headers, 'retry-after': String(addJitter(this.status, retryAfter)) }
  }
}

/** 503s with at most this `Retry-After` are spread. */
const maxSpreadSeconds = 5

/** Adds up to the same time again, so that clients that were rejected together don't all retry together. */
const addJitter = (status: number, seconds: number) =>
  status === 503 && seconds <= maxSpreadSeconds ? seconds + Math.floor(Math.random() * (seconds + 1)) : seconds

/** Combines all errors of a request into one ApiError with the code of the first. Fields with the same error share its sentence. */
export function toApiError(errors: [FieldError, ...FieldError[]]) {
  const details = new Set(errors.map(({ detail }) => detail))
  return new ApiError(errors[0].code, [...details].join(' '), { errors })
}

/** Returns an ApiError; rethrows any other error. */
export function ensureApiError(error: unknown): ApiError {
  if (!(error instanceof ApiError)) throw error
  return error
}

/** `kind` is the kind of record, such as `customer`. */
export const notFound = (kind: string) =>
  new ApiError('not_found', `${kind[0]?.toUpperCase()}${kind.slice(1)} not found.`)
