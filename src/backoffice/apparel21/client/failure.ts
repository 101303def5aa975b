import { ApiError } from '../../../errors/api-error.ts'
import { XmlFault } from '../xml/xml.ts'

/**
 * Why a call came to nothing. `closed`: not tried, or not let in. `unreachable`: no connection. `lost`: it broke, or took too long,
 * when the request may have arrived. `busy`: 429 or 503. `gateway`: 502 or 504. `denied`: 401. `crashed`: another 5xx.
 * `unreadable`: something was answered that is not an answer of this system.
 */
type FailureKind = 'closed' | 'unreachable' | 'lost' | 'busy' | 'gateway' | 'denied' | 'crashed' | 'unreadable'

export class Failure extends Error {
  override name = 'Failure'
  readonly kind: FailureKind
  /** Milliseconds to wait before asking again, where that is known. */
  readonly waitMs: number | undefined
  /** That of the answer, where there was one. */
  readonly status: number | undefined

  constructor(
    kind: FailureKind,
    message: string,
    { waitMs, status, cause }: { waitMs?: number | undefined; status?: number; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.kind = kind
    this.waitMs = waitMs
    this.status = status
  }
}

/** What was not the XML that was asked for is a failure of the call. */
export const asFailure = (error: unknown) =>
  error instanceof XmlFault ? new Failure('unreadable', error.message, { cause: error }) : error

/** Whether the back office is in trouble, rather than this one answer. */
export const isOutage = ({ kind }: Failure) =>
  kind === 'unreachable' || kind === 'lost' || kind === 'busy' || kind === 'gateway'

const neverDone: readonly FailureKind[] = ['closed', 'unreachable', 'busy', 'denied']
const perhapsDone: readonly FailureKind[] = ['lost', 'gateway', 'crashed']

/** What a caller is told. Of a write that may have been carried out nobody knows: that is `outcome_unknown`. */
export function apiErrorOf(failure: Failure, isWrite: boolean): ApiError {
  const retryAfter = Math.max(1, Math.ceil((failure.waitMs ?? 2_000) / 1_000))
  const error = new ApiError(codeOf(failure, isWrite), undefined, { retryAfter })
  error.cause = failure
  return error
}

function codeOf({ kind }: Failure, isWrite: boolean) {
  if (isWrite && perhapsDone.includes(kind)) return 'outcome_unknown'
  const isAway = neverDone.includes(kind) || kind === 'lost' || kind === 'gateway'
  return isAway ? 'back_office_unavailable' : 'back_office_error'
}
