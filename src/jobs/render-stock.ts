import type { Database } from '../database/db.ts'
import { retryOnContention } from '../database/pg/contention.ts'
import { listServicesWithStaleStock, renderStaleBatch } from '../store/inventory/stale-stock.ts'
import { readServiceOfJob } from '../store/tenancy/services.ts'
import { failpoint } from '../testing/failpoints.ts'
import type { JobRun } from './job.ts'

/**
 * Renders stock levels after changes of stores and SKUs that many of them show, in batches and service by service. Each batch records
 * its progress in its transaction, so a killed run is resumed, and rendering twice changes nothing.
 */
export const renderStock = ({ db, signal }: JobRun): Promise<void> => renderStaleStock(db, signal)

/** The same without a worker. If stock of a service can't be rendered, it renders the others and then throws. */
export async function renderStaleStock(db: Database, signal: AbortSignal): Promise<void> {
  const faults = new Map<number, unknown>()
  for (let found = true; found; ) {
    found = false
    for (const { id } of await listServicesWithStaleStock(db)) {
      if (faults.has(id)) continue
      try {
        const service = await readServiceOfJob(db, id)
        if (service && (await retryOnContention(() => renderStaleBatch(db, service)))) found = true
      } catch (error) {
        faults.set(id, error)
      }
      signal.throwIfAborted()
      failpoint('after_stale_stock')
    }
  }
  for (const fault of faults.values()) throw fault
}
