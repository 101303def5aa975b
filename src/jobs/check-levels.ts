import { alertPlatformFailure } from '../ecommerce/platform-alerts.ts'
import { checkLevels as checkReportedLevels } from '../ecommerce/reconciliation/check-levels.ts'
import type { ServiceJobRun } from './job.ts'

/** Compares the levels of stock that events of the platform named. */
export async function checkLevels({ db, keys, log, service, signal }: ServiceJobRun): Promise<void> {
  const drifts = await alertPlatformFailure(db, service, 'stock', () =>
    checkReportedLevels(db, keys, service, log, signal),
  )
  if (drifts) log.error({ alert: 'stock_drift', service: service.name }, 'stock drifted')
}
