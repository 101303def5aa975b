import { sleep } from '../concurrency/backoff.ts'
import { semaphore } from '../concurrency/semaphore.ts'
import type { Database, Db } from '../database/db.ts'
import { retryOnContention } from '../database/pg/contention.ts'
import { deleteEmptyReservations, findExpiredLevels, findExpiredReservations } from '../store/inventory/reservations.ts'
import { lockStockFirst, moveStock } from '../store/inventory/stock.ts'
import { beginChange } from '../store/lists/change-timestamp.ts'
import { readServiceOfJob } from '../store/tenancy/services.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'

/** Milliseconds between two polls. A reservation that was made after a poll can end up to this much too late. */
const pollIntervalMs = 250
/** Milliseconds before the next poll if a poll found expired reservations: other workers may have locked them. */
const busyIntervalMs = 50

/** Maximum number of services whose reservations end at a time, so that connections remain for other work. */
const maxConcurrentServices = 3

/**
 * Ends expired reservations until the signal, and publishes the stock that becomes sellable, within 1 s unless other transactions lock that
 * stock for longer. Orders, reservations and `GET /inventory` ignore expired reservations even before that. It is no job: a job of a dead
 * worker waits until its lease expires. Each worker ends them. While other writes queue for the stock, those writes end them too
 * (`moveStock`).
 */
export async function watchReservations(db: Database, signal: AbortSignal): Promise<void> {
  const inFlight = new Map<number, Promise<void>>()
  const limit = semaphore({ permits: maxConcurrentServices })
  async function end(serviceId: number) {
    await ignoreError(
      limit.run(() => endReservations(db, serviceId)),
      'reservations are ended with the next poll',
    )
    inFlight.delete(serviceId)
  }
  while (!signal.aborted) {
    const { serviceIds = [], nextMs = pollIntervalMs } =
      (await ignoreError(findExpiredReservations(db), 'reservations are ended with the next poll')) ?? {}
    // Not awaited: a service whose stock is locked must not delay the others.
    for (const id of serviceIds) if (!inFlight.has(id)) inFlight.set(id, end(id))
    await sleep(serviceIds.length ? busyIntervalMs : Math.min(nextMs, pollIntervalMs), { signal })
  }
  await Promise.all(inFlight.values())
}

/** Ends the expired reservations of a service at a batch of stock levels. */
export const endReservations = (db: Database, serviceId: number): Promise<void> =>
  retryOnContention(() => db.transaction(tx => endBatch(tx, serviceId)))

/** Makes few round trips: in a busy process, each takes long. */
async function endBatch(tx: Db, serviceId: number) {
  const [service, levels] = await Promise.all([readServiceOfJob(tx, serviceId), findExpiredLevels(tx, serviceId)])
  if (!service) return
  const locking = levels.length
    ? ([lockStockFirst(tx, service, levels), beginChange(tx, service, ['stock'])] as const)
    : []
  const [, , change] = await Promise.all([deleteEmptyReservations(tx, service), ...locking])
  if (change) await moveStock(tx, service, change, levels)
}
