import { fairQueue, type Release } from '../concurrency/fair-queue.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'

/** Milliseconds that a transaction waits for its turn: as long as for a connection. */
const timeoutMs = 5_000

/** Shares the connections of writes between services. A transaction that gets none in time is rejected with 503. */
export interface WriteQueue {
  /** Resolves with a function that releases the connection. */
  acquire(service: Service): Promise<Release>
  /** Transactions that wait for a connection. */
  readonly waiting: number
}

/**
 * Returns how many connections of a pool requests can use at a time. One stays free for work that no request waits for, such as the end of
 * reservations: a crowd of requests that wait for the same rows would delay it.
 */
export const countRequestConnections = ({ options }: { options: { max: number } }) => Math.max(1, options.max - 1)

/** Creates the queue of writes: services that wait take turns, so that one service's crowd doesn't delay the others. */
export function writeQueue(connections: number): WriteQueue {
  const queue = fairQueue<number>({
    permits: connections,
    timeoutMs,
    toError: () => new ApiError('service_unavailable', undefined, { retryAfter: 2 }),
  })
  return {
    acquire: ({ id }) => queue.acquire(id),
    get waiting() {
      return queue.waiting
    },
  }
}
