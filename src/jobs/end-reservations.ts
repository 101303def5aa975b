import { sleep } from '../concurrency/backoff.ts'
import type { Database, Db } from '../database/db.ts'
import { retryOnContention } from '../database/pg/contention.ts'
import { releaseMoves } from '../domain/inventory/reservations.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import {
  endReservationsById,
  findExpiredReservations,
  lockExpiredReservations,
} from '../store/inventory/reservations.ts'
import { lockStock, moveStock } from '../store/inventory/stock.ts'
import { beginChange } from '../store/lists/change-timestamp.ts'
import { readServiceOfJob } from '../store/tenancy/services.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import { throwErrors } from './job.ts'

/** Milliseconds between two polls. A reservation that another process made since then expires within this time after it at the latest. */
const pollIntervalMs = 250
/** Milliseconds before the next poll if a poll found expired reservations: other workers may have locked them. */
const busyIntervalMs = 50

/**
 * Ends expired reservations until the signal, and publishes the stock that becomes sellable, within 1 s. Orders and reservations ignore
 * expired reservations even before that. It is no job: a job of a dead worker waits until its lease expires. Each worker ends them, and
 * skips those that another worker has locked.
 */
export async function watchReservations(db: Database, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const nextMs = await ignoreError(endReservations(db), 'reservations are ended with the next poll')
    await sleep(Math.min(nextMs ?? pollIntervalMs, pollIntervalMs), { signal })
  }
}

/**
 * Ends the expired reservations of all services, each batch in one transaction. Returns the milliseconds until the next poll. Throws after
 * the other services if those of a service could not be ended.
 */
export async function endReservations(db: Database): Promise<number> {
  const { serviceIds, nextMs = pollIntervalMs } = await findExpiredReservations(db)
  const errors: unknown[] = []
  for (const id of serviceIds)
    try {
      const service = await readServiceOfJob(db, id)
      if (service) while (await retryOnContention(() => db.transaction(tx => endBatch(tx, service))));
    } catch (error) {
      errors.push(error)
    }
  throwErrors(errors, 'reservations of several services could not be ended')
  return serviceIds.length ? busyIntervalMs : nextMs
}

/** Ends a batch of expired reservations. Returns their number. */
async function endBatch(tx: Db, service: Service): Promise<number> {
  const { ids, lines } = await lockExpiredReservations(tx, service)
  if (!ids.length) return 0
  const moves = releaseMoves(lines)
  await lockStock(tx, service, moves)
  const change = await beginChange(tx, service, ['stock'])
  await Promise.all([moveStock(tx, service, change, moves), endReservationsById(tx, service, ids)])
  return ids.length
}
