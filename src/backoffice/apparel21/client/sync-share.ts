import { semaphore } from '../../../concurrency/semaphore.ts'
import type { Client } from './client.ts'

/**
 * Returns a client for syncs, which has at most a share of the concurrent calls. The rest stays free for API requests, even if the back
 * office is slow. Complete lists don't count, because they have a call slot of their own.
 */
export function limitSyncShare(client: Client): Client {
  const { concurrency, syncShare } = client.limits
  const { acquire } = semaphore({ permits: Math.max(1, Math.floor((concurrency * syncShare) / 100)) })
  const limit = async <T>(signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> => {
    const release = await acquire(signal)
    try {
      return await call()
    } finally {
      release()
    }
  }
  return {
    ...client,
    document: request => limit(request.signal, () => client.document(request)),
    // A page is downloaded by the time it is returned.
    list: request =>
      request.size === 'bulk' ? client.list(request) : limit(request.signal, () => client.list(request)),
  }
}
