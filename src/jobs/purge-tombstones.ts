import { purgeTombstones as forget } from '../store/change-feed/purge-tombstones.ts'
import { listServices } from '../store/tenancy/services.ts'
import type { JobRun } from './job.ts'

/** Forgets what has left the data long ago (setting `tombstoneRetentionDays`), in portions; done twice it finds nothing more. */
export async function purgeTombstones({ db, log, signal }: JobRun): Promise<void> {
  for (const service of await listServices(db)) {
    const forgotten = await forget(db, service, () => signal.aborted)
    if (forgotten) log.info({ service: service.name, forgotten }, 'tombstones purged')
  }
}
