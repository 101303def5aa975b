import type { BackOffices } from '../backoffice/back-offices.ts'
import { raiseAlert } from '../store/alerts/alerts.ts'
import { listPlatformSyncs } from '../store/ecommerce/connections.ts'
import { listStockComparisons } from '../store/ecommerce/push-state.ts'
import { reconcileStockJob } from '../store/ecommerce/reconciliations.ts'
import { advanceSyncs, ensureJobs, findNewlyOverdue, stalledAlert } from '../store/sync/schedule.ts'
import { syncJob } from '../store/sync/status.ts'
import { listServices } from '../store/tenancy/services.ts'
import type { Job, JobRun } from './job.ts'

/**
 * Ensures that each service has its recurring jobs: syncs, imports of export files, stock reconciliation and connection checks. Deletes
 * those that are no longer needed. Raises an alert for a newly overdue sync. Idempotent: existing jobs and alerts stay.
 */
export const scheduleSyncs = (offices: BackOffices): Job => ({
  run: work => run(offices, work),
  intervalSeconds: 60,
  concurrency: 1,
  retryDelaysSeconds: [10, 60],
})

async function run(offices: BackOffices, { db, log }: JobRun): Promise<void> {
  const services = await listServices(db)
  const platformSyncs = await listPlatformSyncs(db)
  const planned = [
    ...services.flatMap(service =>
      offices
        .getDriver(service)
        .syncs.map(({ name, intervalSeconds }) => ({ serviceId: service.id, sync: name, intervalSeconds })),
    ),
    ...platformSyncs.map(({ serviceId, name, intervalSeconds }) => ({ serviceId, sync: name, intervalSeconds })),
  ]
  await ensureJobs(
    db,
    syncJob,
    planned.map(({ serviceId, sync }) => ({ serviceId, subject: sync })),
  )
  const withExportFolder = services.filter(service => offices.getSettings(service).exportFolder !== undefined)
  await ensureJobs(
    db,
    'import-exports',
    withExportFolder.map(({ id }) => ({ serviceId: id, subject: '' })),
  )
  await ensureJobs(
    db,
    reconcileStockJob,
    (await listStockComparisons(db)).map(({ serviceId }) => ({ serviceId, subject: '' })),
  )
  await ensureJobs(
    db,
    'check-ecommerce-connection',
    [...new Set(platformSyncs.map(({ serviceId }) => serviceId))].map(serviceId => ({ serviceId, subject: '' })),
  )
  const advanced = await advanceSyncs(db, syncJob, planned)
  // These syncs run earlier now, because their interval was shortened. They are not overdue yet.
  const isAdvanced = (schedule: { serviceId: number; sync: string }) =>
    advanced.some(({ serviceId, sync }) => serviceId === schedule.serviceId && sync === schedule.sync)
  const overdue = await findNewlyOverdue(
    db,
    planned.filter(schedule => !isAdvanced(schedule)),
  )
  for (const { serviceId, sync, intervalSeconds, lagSeconds } of overdue) {
    const detail = `The last sync ended ${lagSeconds} s ago. The interval is ${intervalSeconds} s.`
    await raiseAlert(db, serviceId, { kind: stalledAlert, subject: sync, detail })
    const service = services.find(({ id }) => id === serviceId)?.name
    log.error({ alert: stalledAlert, service, sync, lagSeconds }, 'sync is overdue')
  }
}
