import { openPlatform } from '../ecommerce/connections.ts'
import { alertPlatformFailure } from '../ecommerce/platform-alerts.ts'
import { confirmOrders } from '../ecommerce/stock-push/confirm.ts'
import type { ServiceJobRun } from './job.ts'

/** A merchant fulfils and cancels orders on the platform, which on-hand doesn't show. */
const intervalSeconds = 900

/** Reads the committed units of a platform order by its ID, and again until none is open. */
export async function refreshCommitments({ db, keys, log, service, subject, signal, reschedule }: ServiceJobRun) {
  const opened = await openPlatform(db, keys, service, log)
  if (!opened || opened.settings.stockPush === 'off') return
  const { inventory } = opened.platform
  const open = await alertPlatformFailure(db, service, 'stock', () =>
    confirmOrders(db, service, inventory, [subject], signal),
  )
  if (open) reschedule(intervalSeconds)
}
