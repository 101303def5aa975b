import { setTimeout as delay } from 'node:timers/promises'
import type { Keys } from '../crypto/keys.ts'
import type { Database, Db } from '../database/db.ts'
import { CommitUnknown } from '../database/errors.ts'
import { isContention } from '../database/pg/contention.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'
import { LockNotAvailable, waitUntilReleased } from './reservations.ts'

/** The database of a write, and what its transactions need. */
export interface TransactionContext {
  db: Database
  keys: Keys
  /** Waits until a transaction of the service can have a connection. Resolves with a function that releases the permit. */
  acquirePermit?: (service: Service) => Promise<() => void>
}

/** Attempts at a transaction that meets contention, or whose commit is unknown. */
const maxAttempts = 4
/** Milliseconds to wait for reservations of other writes. */
const reservationTimeoutMs = 5_000

/**
 * Runs a short transaction of a service with a permit. Repeats it after contention, and after a reservation of another write was
 * released. If `isResumable`, also repeats it after an unknown commit: the work must then find out whether it was committed.
 * `previousError` is the error of the attempt before. Throws `concurrent_update` if contention or a reservation lasts too long.
 */
export async function transact<T>(
  context: Pick<TransactionContext, 'db' | 'acquirePermit'>,
  service: Service,
  work: (tx: Db, previousError: unknown) => Promise<T>,
  { isResumable = false }: { isResumable?: boolean } = {},
): Promise<T> {
  let previousError: unknown
  const deadline = performance.now() + reservationTimeoutMs
  const runOnce = async () => {
    const release = await context.acquirePermit?.(service)
    return context.db.transaction(tx => work(tx, previousError)).finally(release)
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce()
    } catch (error) {
      previousError = error
      if (error instanceof LockNotAvailable) {
        if (performance.now() > deadline) throw concurrentUpdate()
        await waitUntilReleased(service, error.names)
        // The transaction itself met no contention, so this attempt doesn't count.
        attempt--
        continue
      }
      const isContended = isContention(error)
      if (!isContended && !(isResumable && error instanceof CommitUnknown)) throw error
      if (attempt === maxAttempts) throw isContended ? concurrentUpdate() : error
      await delay(attempt * (isContended ? 10 + Math.random() * 40 : 500))
    }
  }
}

export const concurrentUpdate = () => new ApiError('concurrent_update', undefined, { retryAfter: 1 })
