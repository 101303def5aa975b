import type { BackOffices } from '../backoffice/back-offices.ts'
import { alertPlatformFailure } from '../ecommerce/platform-alerts.ts'
import { pushStock } from '../ecommerce/stock-push/push.ts'
import { forService, type Job, type ServiceJobRun } from './job.ts'

/** Pushes the stock of a service to its platform. The lease of the job ensures that one push runs at a time. */
export const runStockPush = (offices: Pick<BackOffices, 'getDriver'>): Job => ({
  run: forService(work => run(offices, work)),
  concurrency: 4,
  jitter: 0.2,
  retryDelaysSeconds: [2, 10, 30, 60, 300],
})

async function run(offices: Pick<BackOffices, 'getDriver'>, work: ServiceJobRun): Promise<void> {
  const { db, keys, log, service, signal, renewLease, reschedule } = work
  const { isEmbedded } = offices.getDriver(service)
  const { state } = await alertPlatformFailure(db, service, 'stock', () =>
    pushStock(db, keys, service, log, { signal, isEmbedded, renewLease }),
  )
  if (state === 'stopped') log.error({ alert: 'stock_push_stopped', service: service.name }, 'stock push is stopped')
  if (state === 'unfinished') reschedule(0)
}
