import type { BackOffices } from '../backoffice/back-offices.ts'
import { alertPlatformFailure } from '../ecommerce/platform-alerts.ts'
import { reconcileStock } from '../ecommerce/reconciliation/reconcile.ts'
import { forService, type Job, type ServiceJobRun } from './job.ts'

const [minute, hour, day] = [60, 3_600, 86_400]

/** Compares our record of the platform's stock with the platform: nightly, and on request. */
export const runReconciliation = (offices: Pick<BackOffices, 'getDriver'>): Job => ({
  run: forService(work => run(offices, work)),
  concurrency: 2,
  jitter: 0.2,
  retryDelaysSeconds: [minute, 10 * minute, hour],
})

async function run(offices: Pick<BackOffices, 'getDriver'>, work: ServiceJobRun): Promise<void> {
  const { db, keys, log, service, signal, reschedule } = work
  const { isEmbedded } = offices.getDriver(service)
  const result = await alertPlatformFailure(db, service, 'stock', () =>
    reconcileStock(db, keys, service, log, { signal, isEmbedded }),
  )
  if (!result) return
  const { counts } = result
  log.info({ service: service.name, ...counts }, 'stock reconciliation completed')
  if (counts.drifted)
    log.error({ alert: 'stock_drift', service: service.name, drifted: counts.drifted }, 'stock drifted')
  reschedule(day)
}
