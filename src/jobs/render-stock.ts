import type { Database } from '../database/db.ts'
import { retryOnContention } from '../database/pg/contention.ts'
import { listServicesWithStaleStock, renderStaleBatch } from '../store/inventory/stale-stock.ts'
import { readServiceOfJob } from '../store/tenancy/services.ts'
import { failpoint } from '../testing/failpoints.ts'
import { type JobRun, throwErrors } from './job.ts'

/**
 * Renders stock levels after changes of stores and SKUs that many of them show, in batches and service by service. Each batch records
 * its progress in its transaction, so a killed run is resumed, and rendering twice changes nothing.
 */
export const renderStock = ({ db, signal }: JobRun): Promise<void> => renderStaleStock(db, signal)

/** Renders stale stock levels without a worker. If a service fails, it renders the other services and then throws. */
export async function renderStaleStock(db: Database, signal: AbortSignal): Promise<void> {
  const errors = new Map<number, unknown>()
  for (let isStale = true; isStale; ) {
    isStale = false
    for (const { id } of await listServicesWithStaleStock(db)) {
      if (errors.has(id)) continue
      try {
        const service = await readServiceOfJob(db, id)
        if (service && (await retryOnContention(() => renderStaleBatch(db, service)))) isStale = true
      } catch (error) {
        errors.set(id, error)
      }
      signal.throwIfAborted()
      failpoint('after_stale_stock')
    }
  }
  throwErrors([...errors.values()], 'stock of several services could not be rendered')
}
