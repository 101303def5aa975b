import { setTimeout } from 'node:timers/promises'
import { singleFlight } from '../../../concurrency/single-flight.ts'
import { ApiError, asApiError } from '../../../errors/api-error.ts'

/** Milliseconds that a caller waits for the back office. A later response is still stored. */
const timeoutMs = 3_000

/** Asks for something, and stores it. Answers what is wrong with what could be stored in part alone. */
type Refresh = () => Promise<ApiError | undefined>

/** Brings what a caller waits for; answers why it may not be as it stands at the back office. */
export type ReadThrough = (key: string, bring: Refresh) => Promise<ApiError | undefined>

/** What is asked for by several callers at once, by its key, is asked for once. */
export function createReadThrough(): ReadThrough {
  const share = singleFlight()
  return (key, bring) => withTimeout(timeoutMs, share(key, bring)).catch(asApiError)
}

/** Resolves with the result of `work`, or with an error after `ms`. */
async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T | ApiError> {
  const over = new AbortController()
  const late = setTimeout(ms, undefined, { signal: over.signal }).then(
    () => new ApiError('back_office_unavailable', 'The back office did not respond in time.'),
    // It did.
    () => new ApiError('back_office_unavailable'),
  )
  try {
    return await Promise.race([work, late])
  } finally {
    over.abort()
  }
}
