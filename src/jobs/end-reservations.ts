import { sleep } from '../concurrency/backoff.ts'
import type { Db } from '../database/db.ts'
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
import { type JobRun, throwErrors } from './job.ts'

/** A run waits for reservations that expire within this time. The next run can begin 2 s later. */
const maxWaitMs = 2_500

/**
 * Ends expired reservations and publishes the stock that becomes sellable, within 1 s. Orders and reservations ignore expired reservations
 * even before that. Each batch is one transaction, so a killed run is resumed by the next one.
 */
export async function endReservations({ db, signal }: JobRun): Promise<void> {
  const endMs = performance.now() + maxWaitMs
  const errors = new Map<number, unknown>()
  for (;;) {
    const { serviceIds, nextMs } = await findExpiredReservations(db)
    const failed = errors.size
    const ids = serviceIds.filter(id => !errors.has(id))
    let ended = 0
    for (const id of ids)
      try {
        const service = await readServiceOfJob(db, id)
        if (service) ended += await retryOnContention(() => db.transaction(tx => endBatch(tx, service)))
      } catch (error) {
        errors.set(id, error)
      }
    signal.throwIfAborted()
    if (ended || errors.size > failed) continue
    if (nextMs === undefined || performance.now() + nextMs > endMs) break
    await sleep(nextMs, { signal })
    signal.throwIfAborted()
  }
  throwErrors([...errors.values()], 'reservations of several services could not be ended')
}

async function endBatch(tx: Db, service: Service): Promise<number> {
  const { ids, lines } = await lockExpiredReservations(tx, service)
  if (!ids.length) return 0
  const moves = releaseMoves(lines)
  await lockStock(tx, service, moves)
  const change = await beginChange(tx, service, ['stock'])
  await Promise.all([moveStock(tx, service, change, moves), endReservationsById(tx, service, ids)])
  return ids.length
}
