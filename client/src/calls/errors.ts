import type { ErrorCode, FieldError, Problem } from '../shapes/general.ts'

/** Details of an error. */
interface ErrorDetails {
  problem?: Problem | undefined
  retryAfter?: number | undefined
  idempotencyKey?: string | undefined
  cause?: unknown
}

/** The error of a failed call. `code` is the cause; the subclasses group causes by what to do. */
export class TillbridgeError extends Error {
  /** A code of the API's catalogue, or `no_response`, `certificate_rejected`, `unexpected_response` or `truncated`. */
  readonly code: ErrorCode
  /** The HTTP status, or undefined if no response arrived. */
  readonly status: number | undefined
  /** Every validation error of the request, with its place. */
  readonly errors: readonly FieldError[]
  /** The request ID, for support. */
  readonly requestId: string | undefined
  /** Seconds to wait before a retry. */
  readonly retryAfter: number | undefined
  /** The idempotency key of the write. */
  readonly idempotencyKey: string | undefined
  /** The complete error body (RFC 9457), with `lockedUntil` and `reason` of vouchers. */
  readonly problem: Problem | undefined

  constructor(
    code: ErrorCode,
    status: number | undefined,
    { problem, retryAfter, idempotencyKey, cause }: ErrorDetails = {},
  ) {
    super(`${problem?.detail ?? problem?.title ?? messages[code] ?? 'The call failed.'} (${code})`, { cause })
    this.name = new.target.name
    this.code = code
    this.status = status
    this.errors = problem?.errors ?? []
    this.requestId = problem?.requestId
    this.retryAfter = retryAfter
    this.idempotencyKey = idempotencyKey
    this.problem = problem
  }
}

const messages: Readonly<Record<string, string>> = {
  no_response: 'No response from the service.',
  certificate_rejected:
    "The service's certificate is not trusted. Trust its authority, for example with NODE_EXTRA_CA_CERTS.",
  truncated: 'The export is incomplete. Start it again.',
  unexpected_response: 'The response is not from the service. Check the URL.',
  outcome_unknown: 'The outcome is unknown. Retry with the same `idempotencyKey`.',
}

/** The request is invalid, see `errors`. A retry doesn't help. */
export class InvalidRequestError extends TillbridgeError {}
/** The credentials, the role, or a voucher's PIN or validation are not accepted. */
export class AccessError extends TillbridgeError {}
/** The record doesn't exist. */
export class NotFoundError extends TillbridgeError {}
/** The record's state doesn't allow the write: taken, locked or changed. */
export class ConflictError extends TillbridgeError {}
/** Too many requests or failed attempts. Wait for `retryAfter` seconds. */
export class TooManyError extends TillbridgeError {}
/** The service or its back office is unavailable. Nothing was changed. */
export class UnavailableError extends TillbridgeError {}
/** The outcome of a write is unknown. Retry it with `idempotencyKey`. */
export class OutcomeUnknownError extends TillbridgeError {}

/** Creates the error of the class that fits a code and status. */
export function createError(code: ErrorCode, status: number | undefined, facts: ErrorDetails): TillbridgeError {
  return new (getErrorClass(code, status))(code, status, facts)
}

function getErrorClass(code: ErrorCode, status = 503) {
  if (code === 'outcome_unknown') return OutcomeUnknownError
  if (status >= 500) return UnavailableError
  if (status === 401 || status === 403) return AccessError
  if (status === 404) return NotFoundError
  if (status === 409 || status === 412 || status === 428) return ConflictError
  return status === 429 ? TooManyError : InvalidRequestError
}
