import type { ErrorCode, Fault, Problem } from '../shapes/general.ts'

/** What is known of an error beside its words. */
interface Facts {
  problem?: Problem | undefined
  retryAfter?: number | undefined
  idempotencyKey?: string | undefined
  cause?: unknown
}

/** What a call ends in instead of data. Told apart by `code`; the classes are for what is done about it. */
export class TillbridgeError extends Error {
  /** What went wrong: the catalogue's word, or `no_answer`, `certificate_refused`, `odd_answer`, `cut_off`. */
  readonly code: ErrorCode
  /** The HTTP status; absent where no answer came. */
  readonly status: number | undefined
  /** Every fault of the request: where it is, and what. */
  readonly faults: readonly Fault[]
  /** What to quote when asking for help. */
  readonly requestId: string | undefined
  /** Seconds after which trying again makes sense. */
  readonly retryAfter: number | undefined
  /** The key that the write was sent with. */
  readonly idempotencyKey: string | undefined
  /** All that the service said (RFC 9457): `lockedUntil` and `reason` of vouchers are there. */
  readonly problem: Problem | undefined

  constructor(code: ErrorCode, status: number | undefined, { problem, retryAfter, idempotencyKey, cause }: Facts = {}) {
    super(`${problem?.detail ?? problem?.title ?? words[code] ?? 'The call failed.'} (${code})`, { cause })
    this.name = new.target.name
    this.code = code
    this.status = status
    this.faults = problem?.errors ?? []
    this.requestId = problem?.requestId
    this.retryAfter = retryAfter
    this.idempotencyKey = idempotencyKey
    this.problem = problem
  }
}

const words: Readonly<Record<string, string>> = {
  no_answer: 'The service did not answer.',
  certificate_refused: 'The certificate of the service is not trusted here.',
  cut_off: 'The list was cut off: what has come of it is not the whole.',
  odd_answer: 'Something answered that is not the service.',
  outcome_unknown: 'It is not known whether this was done: repeat it with the same `idempotencyKey`.',
}

/** The request is wrong: `faults` says where. Repeating it does not help. */
export class InvalidRequestError extends TillbridgeError {}
/** The credentials, the role, or what a voucher is opened with. */
export class AccessError extends TillbridgeError {}
/** There is no such record. */
export class NotFoundError extends TillbridgeError {}
/** What is there does not allow it: taken, held, changed by somebody else. */
export class ConflictError extends TillbridgeError {}
/** Too many requests, or too many failed attempts: `retryAfter`. */
export class TooManyError extends TillbridgeError {}
/** The service, or the back office behind it, cannot; nothing was done. */
export class UnavailableError extends TillbridgeError {}
/** A write of which nobody knows whether it was done: repeat it with `idempotencyKey`, later if need be. */
export class OutcomeUnknownError extends TillbridgeError {}

/** The error of an answer that is none of success. */
export function errorOf(code: ErrorCode, status: number | undefined, facts: Facts): TillbridgeError {
  return new (classOf(code, status))(code, status, facts)
}

function classOf(code: ErrorCode, status = 503) {
  if (code === 'outcome_unknown') return OutcomeUnknownError
  if (status >= 500) return UnavailableError
  if (status === 401 || status === 403) return AccessError
  if (status === 404) return NotFoundError
  if (status === 409 || status === 412 || status === 428) return ConflictError
  return status === 429 ? TooManyError : InvalidRequestError
}
