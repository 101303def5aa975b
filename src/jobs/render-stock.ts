import type { Database } from '../database/db.ts'
import { retryOnContention } from '../database/pg/contention.ts'
import { listServicesWithStaleStock, renderStaleBatch } from '../store/inventory/stale-stock.ts'
import { readServiceOfJob } from '../store/tenancy/services.ts'
import { failpoint } from '../testing/failpoints.ts'
import type { JobRun } from './job.ts'

/**
 * Has stock show what has become of stores and SKUs that much of it shows, some at a time and of each service in turn. What is rendered
 * is written down with it: who is killed is gone on with by the next one, and rendering twice changes nothing.
 */
export const renderStock = ({ db, signal }: JobRun): Promise<void> => renderStaleStock(db, signal)

/** The same, for whoever has no worker. Throws in the end where stock of a service could not be rendered; that of the others is. */
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
