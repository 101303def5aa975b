import { finishesWithin } from '../../../concurrency/backoff.ts'
import type { singleFlight } from '../../../concurrency/single-flight.ts'
import { ApiError, ensureApiError } from '../../../errors/api-error.ts'

/** Milliseconds that a caller waits for the back office. A later response is still stored. */
const timeoutMs = 3_000

/** Refreshes stored data from the back office. Returns an error if a part could not be stored. */
type Refresh = () => Promise<ApiError | undefined>

/** Refreshes data for a waiting caller. Returns the reason if the stored data may be out of date. */
export type ReadThrough = (key: string, refresh: Refresh) => Promise<ApiError | undefined>

/** Creates a read-through. Concurrent callers with the same key share a refresh. */
export function createReadThrough(share: ReturnType<typeof singleFlight>): ReadThrough {
  return async (key, refresh) => {
    const result = share(key, refresh)
    if (await finishesWithin(result, timeoutMs)) return result.catch(ensureApiError)
    return new ApiError('back_office_unavailable', 'The back office did not respond in time.')
  }
}
