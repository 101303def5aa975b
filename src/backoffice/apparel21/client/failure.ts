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

/** The consequences of each failure. `code`: the error code of a call that has certainly not been applied, or of a read. */
const consequences: Record<
  FailureType,
  { isOutage: boolean; mayBeApplied: boolean; code: 'back_office_unavailable' | 'back_office_error' }
> = {
  closed: { isOutage: false, mayBeApplied: false, code: 'back_office_unavailable' },
  unreachable: { isOutage: true, mayBeApplied: false, code: 'back_office_unavailable' },
  lost: { isOutage: true, mayBeApplied: true, code: 'back_office_unavailable' },
  busy: { isOutage: true, mayBeApplied: false, code: 'back_office_unavailable' },
  gateway: { isOutage: true, mayBeApplied: true, code: 'back_office_unavailable' },
  denied: { isOutage: false, mayBeApplied: false, code: 'back_office_unavailable' },
  crashed: { isOutage: false, mayBeApplied: true, code: 'back_office_error' },
  unreadable: { isOutage: false, mayBeApplied: false, code: 'back_office_error' },
}

/** True if the failure concerns the back office as a whole, not only this request. */
export const isOutage = ({ type }: Failure) => consequences[type].isOutage

/** Converts an `XmlError` into a `Failure`. Returns any other error unchanged. */
export const convertXmlError = (error: unknown) =>
  error instanceof XmlError ? new Failure('unreadable', error.message, { cause: error }) : error

/** Converts a failure into the error that the caller gets: `outcome_unknown` if the failed call is a write that may have been applied. */
export function convertFailure(failure: Failure, isWrite: boolean): ApiError {
  const retryAfter = Math.max(1, Math.ceil((failure.waitMs ?? 2_000) / 1_000))
  const { mayBeApplied, code } = consequences[failure.type]
  const error = new ApiError(isWrite && mayBeApplied ? 'outcome_unknown' : code, undefined, { retryAfter })
  error.cause = failure
  return error
}
