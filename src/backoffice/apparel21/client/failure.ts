import { ApiError } from '../../../errors/api-error.ts'
import { XmlError } from '../xml/xml.ts'

/**
 * The reason for which a call failed.
 * - `closed`: the request was not sent.
 * - `unreachable`: no connection could be established.
 * - `lost`: the connection broke or the deadline passed after the request may have arrived.
 * - `busy`: status 429 or 503.
 * - `gateway`: status 502 or 504.
 * - `denied`: status 401.
 * - `crashed`: any other 5xx.
 * - `unreadable`: the response doesn't come from the Retail API.
 */
type FailureType = 'closed' | 'unreachable' | 'lost' | 'busy' | 'gateway' | 'denied' | 'crashed' | 'unreadable'

export class Failure extends Error {
  override name = 'Failure'
  readonly type: FailureType
  /** Milliseconds to wait before the next call, if known. */
  readonly waitMs: number | undefined
  /** The status of the response, if there was one. */
  readonly status: number | undefined

  constructor(
    type: FailureType,
    message: string,
    { waitMs, status, cause }: { waitMs?: number | undefined; status?: number; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.type = type
    this.waitMs = waitMs
    this.status = status
  }
}

/** Converts an `XmlError` into a `Failure`. Returns any other error unchanged. */
export const toFailure = (error: unknown) =>
  error instanceof XmlError ? new Failure('unreadable', error.message, { cause: error }) : error

/** True if the failure concerns the back office as a whole, not only this request. */
export const isOutage = ({ type }: Failure) =>
  type === 'unreachable' || type === 'lost' || type === 'busy' || type === 'gateway'

const notAppliedTypes: readonly FailureType[] = ['closed', 'unreachable', 'busy', 'denied']
const possiblyAppliedTypes: readonly FailureType[] = ['lost', 'gateway', 'crashed']

/** Converts a failure into the error that the caller gets: `outcome_unknown` if the failed call is a write that may have been applied. */
export function convertFailure(failure: Failure, isWrite: boolean): ApiError {
  const retryAfter = Math.max(1, Math.ceil((failure.waitMs ?? 2_000) / 1_000))
  const error = new ApiError(getErrorCode(failure, isWrite), undefined, { retryAfter })
  error.cause = failure
  return error
}

function getErrorCode({ type }: Failure, isWrite: boolean) {
  if (isWrite && possiblyAppliedTypes.includes(type)) return 'outcome_unknown'
  const isUnavailable = notAppliedTypes.includes(type) || type === 'lost' || type === 'gateway'
  return isUnavailable ? 'back_office_unavailable' : 'back_office_error'
}
