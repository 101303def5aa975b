import type { BackOffices } from '../backoffice/back-offices.ts'
import type { RouteDefinition } from '../http/routing/route-definitions.ts'
import { deliverJob, lookJob } from '../store/webhooks/schedule.ts'
import type { Sender } from '../webhooks/sender.ts'
import { checkMappingsRegularly } from './check-mappings.ts'
import { deliverWebhook } from './deliver-webhook.ts'
import { eraseCustomer } from './erase-customer.ts'
import { eraseMail } from './erase-email-file.ts'
import { expireVouchers } from './expire-vouchers.ts'
import { handOnAudit } from './forward-audit.ts'
import { importExports } from './import-exports.ts'
import { type Job, ofService } from './job.ts'
import { forgetExpired } from './purge-expired.ts'
import { forgetRequests } from './purge-requests.ts'
import { forgetRemovals } from './purge-tombstones.ts'
import { endLoads } from './reap-stale-loads.ts'
import { settleWrites } from './reconcile-writes.ts'
import { endMoves } from './recover-moves.ts'
import { renderStock } from './render-stock.ts'
import { runSync } from './run-sync.ts'
import { lookForDeliveries } from './schedule-deliveries.ts'
import { scheduleSyncs } from './schedule-syncs.ts'
import { sendAlert } from './send-alert.ts'
import { sendMail } from './send-email.ts'

const [minute, hour, day] = [60, 3_600, 86_400]
const mailWaits = [30, 2 * minute, 10 * minute, hour, 6 * hour, day]

/**
 * The jobs that need nothing but the database and the mail: what each does, when, and how long it waits where it fails. A job's name, here
 * and in the tables below, is also its file's.
 */
export const jobs: Readonly<Record<string, Job>> = {
  'send-mail': { run: ofService(sendMail), concurrency: 4, retryDelaysSeconds: mailWaits },
  'send-alert': { run: ofService(sendAlert), concurrency: 2, retryDelaysSeconds: mailWaits },
  'erase-customer': { run: ofService(eraseCustomer), concurrency: 1, retryDelaysSeconds: [5, 30, 10 * minute] },
  'erase-mail': { run: ofService(eraseMail), concurrency: 1, retryDelaysSeconds: [30, 10 * minute] },
  'end-loads': { run: endLoads, intervalSeconds: minute, concurrency: 1, retryDelaysSeconds: [minute, 10 * minute] },
  'forget-expired': {
    run: forgetExpired,
    intervalSeconds: hour,
    concurrency: 1,
    retryDelaysSeconds: [minute, 10 * minute],
  },
  'forget-removals': {
    run: forgetRemovals,
    intervalSeconds: day,
    concurrency: 1,
    retryDelaysSeconds: [minute, 10 * minute, hour],
  },
  'forget-requests': {
    run: forgetRequests,
    intervalSeconds: hour,
    concurrency: 1,
    retryDelaysSeconds: [minute, 10 * minute],
  },
  'render-stock': { run: renderStock, intervalSeconds: 5, concurrency: 1, retryDelaysSeconds: [5, minute] },
  'check-mappings': {
    run: ofService(checkMappingsRegularly),
    concurrency: 1,
    retryDelaysSeconds: [minute, 10 * minute, hour],
  },
  'expire-vouchers': {
    run: expireVouchers,
    intervalSeconds: day,
    concurrency: 1,
    retryDelaysSeconds: [minute, 10 * minute, hour],
  },
}

/** The jobs that back offices are asked in. */
export const backOfficeJobs = (
  offices: BackOffices,
  routes: readonly RouteDefinition[],
): Readonly<Record<string, Job>> => ({
  'schedule-syncs': scheduleSyncs(offices),
  'run-sync': runSync(offices),
  'import-exports': importExports(offices),
  'settle-writes': settleWrites(offices, routes),
})

/** The jobs of a control database, about its data databases. */
export const shardJobs = (open: Parameters<typeof handOnAudit>[0]): Readonly<Record<string, Job>> => ({
  'hand-on-audit': { run: handOnAudit(open), intervalSeconds: 5, concurrency: 1, retryDelaysSeconds: [5, minute] },
  'end-moves': { run: endMoves(open), intervalSeconds: 2, concurrency: 1, retryDelaysSeconds: [2, 10] },
})

/** The jobs that tell endpoints what has changed. */
export const webhookJobs = (sender: Sender): Readonly<Record<string, Job>> => ({
  [lookJob]: { run: lookForDeliveries, intervalSeconds: 1, concurrency: 1, retryDelaysSeconds: [1, 5] },
  // An endpoint that hangs costs no more than its socket: many do not keep the others waiting.
  [deliverJob]: { run: ofService(deliverWebhook(sender)), concurrency: 256, retryDelaysSeconds: [5, 30] },
})
