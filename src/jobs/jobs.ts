import type { BackOffices } from '../backoffice/back-offices.ts'
import type { RouteDefinition } from '../http/routing/route-definitions.ts'
import { deliverWebhookJob, scheduleDeliveriesJob } from '../store/webhooks/schedule.ts'
import type { Sender } from '../webhooks/sender.ts'
import { checkEcommerceConnection } from './check-ecommerce-connection.ts'
import { checkLevels } from './check-levels.ts'
import { checkMappingsRegularly } from './check-mappings.ts'
import { deliverWebhook } from './deliver-webhook.ts'
import { endRedemptions } from './end-redemptions.ts'
import { eraseCustomer } from './erase-customer.ts'
import { eraseEmailFile } from './erase-email-file.ts'
import { markExpiredVouchers } from './expire-vouchers.ts'
import { forwardAudit } from './forward-audit.ts'
import { importExports } from './import-exports.ts'
import { forService, type Job } from './job.ts'
import { purgeExpired } from './purge-expired.ts'
import { purgeRequests } from './purge-requests.ts'
import { purgeTombstones } from './purge-tombstones.ts'
import { runStockPush } from './push-stock.ts'
import { reapStaleInitialLoads } from './reap-stale-loads.ts'
import { runReconciliation } from './reconcile-stock.ts'
import { reconcileWrites } from './reconcile-writes.ts'
import { recoverMoves } from './recover-moves.ts'
import { refreshCommitments } from './refresh-commitments.ts'
import { refreshStock } from './refresh-stock.ts'
import { renderStock } from './render-stock.ts'
import { runSync } from './run-sync.ts'
import { scheduleDeliveries } from './schedule-deliveries.ts'
import { scheduleStockPush } from './schedule-stock-push.ts'
import { scheduleSyncs } from './schedule-syncs.ts'
import { sendAlert } from './send-alert.ts'
import { sendEmail } from './send-email.ts'

const [minute, hour, day] = [60, 3_600, 86_400]
const emailRetryDelays = [30, 2 * minute, 10 * minute, hour, 6 * hour, day]

/** Jobs that need only the database and email. In this table and those below, the name of a job is the name of its file. */
export const jobs: Readonly<Record<string, Job>> = {
  'send-email': { run: forService(sendEmail), concurrency: 4, retryDelaysSeconds: emailRetryDelays },
  'send-alert': { run: forService(sendAlert), concurrency: 2, retryDelaysSeconds: emailRetryDelays },
  'erase-customer': { run: forService(eraseCustomer), concurrency: 1, retryDelaysSeconds: [5, 30, 10 * minute] },
  'erase-email-file': { run: forService(eraseEmailFile), concurrency: 1, retryDelaysSeconds: [30, 10 * minute] },
  'reap-stale-loads': {
    run: reapStaleInitialLoads,
    intervalSeconds: minute,
    concurrency: 1,
    retryDelaysSeconds: [minute, 10 * minute],
  },
  'purge-expired': {
    run: purgeExpired,
    intervalSeconds: hour,
    concurrency: 1,
    retryDelaysSeconds: [minute, 10 * minute],
  },
  'purge-tombstones': {
    run: purgeTombstones,
    intervalSeconds: day,
    concurrency: 1,
    retryDelaysSeconds: [minute, 10 * minute, hour],
  },
  'purge-requests': {
    run: purgeRequests,
    intervalSeconds: hour,
    concurrency: 1,
    retryDelaysSeconds: [minute, 10 * minute],
  },
  'render-stock': { run: renderStock, intervalSeconds: 5, concurrency: 1, retryDelaysSeconds: [5, minute] },
  'check-mappings': {
    run: forService(checkMappingsRegularly),
    concurrency: 1,
    retryDelaysSeconds: [minute, 10 * minute, hour],
  },
  'check-ecommerce-connection': {
    run: forService(checkEcommerceConnection),
    concurrency: 2,
    retryDelaysSeconds: [minute, 10 * minute, hour],
  },
  'check-levels': {
    run: forService(checkLevels),
    concurrency: 2,
    concurrencyPerService: 1,
    retryDelaysSeconds: [5, 30, minute, 10 * minute],
  },
  'schedule-stock-push': {
    run: scheduleStockPush,
    intervalSeconds: 1,
    concurrency: 1,
    retryDelaysSeconds: [1, 5],
  },
  'refresh-commitments': {
    run: forService(refreshCommitments),
    concurrency: 4,
    concurrencyPerService: 2,
    retryDelaysSeconds: [5, 30, 2 * minute, 10 * minute],
  },
  'expire-vouchers': {
    run: markExpiredVouchers,
    intervalSeconds: day,
    concurrency: 1,
    retryDelaysSeconds: [minute, 10 * minute, hour],
  },
}

/** Jobs that call back offices. */
export const buildBackOfficeJobs = (offices: BackOffices): Readonly<Record<string, Job>> => ({
  'schedule-syncs': scheduleSyncs(offices),
  'run-sync': runSync(offices),
  'refresh-stock': refreshStock(offices),
  'push-stock': runStockPush(offices),
  'reconcile-stock': runReconciliation(offices),
  'end-redemptions': endRedemptions(offices),
  'import-exports': importExports(offices),
})

/** Jobs that finish writes of the API. */
export const buildRecoveryJobs = (
  offices: BackOffices,
  routes: readonly RouteDefinition[],
  sender: Sender,
): Readonly<Record<string, Job>> => ({ 'reconcile-writes': reconcileWrites(offices, routes, sender) })

/** Jobs of the control database for its shards. */
export const buildShardJobs = (open: Parameters<typeof forwardAudit>[0]): Readonly<Record<string, Job>> => ({
  'forward-audit': { run: forwardAudit(open), intervalSeconds: 5, concurrency: 1, retryDelaysSeconds: [5, minute] },
  'recover-moves': { run: recoverMoves(open), intervalSeconds: 2, concurrency: 1, retryDelaysSeconds: [2, 10] },
})

/** Jobs that deliver changes to webhook endpoints. */
export const buildWebhookJobs = (sender: Sender): Readonly<Record<string, Job>> => ({
  [scheduleDeliveriesJob]: { run: scheduleDeliveries, intervalSeconds: 1, concurrency: 1, retryDelaysSeconds: [1, 5] },
  // An endpoint that hangs costs only a socket, so many of them don't delay the others.
  [deliverWebhookJob]: { run: forService(deliverWebhook(sender)), concurrency: 256, retryDelaysSeconds: [5, 30] },
})
