import { purgeOldTombstones } from '../store/change-feed/purge-tombstones.ts'
import { purgeItemTombstones } from '../store/ecommerce/items.ts'
import { listServices } from '../store/tenancy/services.ts'
import type { JobRun } from './job.ts'

/** Deletes tombstones that are older than `tombstoneRetentionDays`, in batches. Running it twice is harmless. */
export async function purgeTombstones({ db, log, signal }: JobRun): Promise<void> {
  for (const service of await listServices(db)) {
    const purged =
      (await purgeOldTombstones(db, service, () => signal.aborted)) + (await purgeItemTombstones(db, service))
    if (purged) log.info({ service: service.name, purged }, 'tombstones purged')
  }
}
