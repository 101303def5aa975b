import type { Offices } from '../backoffice/back-offices.ts'
import type { WriteOperations } from '../http/routing/recover-writes.ts'
import { deliverJob, lookJob } from '../store/webhooks/schedule.ts'
import type { Sender } from '../webhooks/sender.ts'
import { judgeMappingsAgain } from './check-mappings.ts'
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
import { syncFeed } from './run-sync.ts'
import { lookForDeliveries } from './schedule-deliveries.ts'
import { planSyncs } from './schedule-syncs.ts'
import { sendAlert } from './send-alert.ts'
import { sendMail } from './send-email.ts'

const [minute, hour, day] = [60, 3_600, 86_400]
const mailWaits = [30, 2 * minute, 10 * minute, hour, 6 * hour, day]

/**
 * The jobs that need nothing but the database and the mail: what each does, when, and how long it waits where it fails. A job's name, here
 * and in the tables below, is also its file's.
 */
export const jobs: Readonly<Record<string, Job>> = {
  'send-mail': { run: ofService(sendMail), atOnce: 4, waitsSeconds: mailWaits },
  'send-alert': { run: ofService(sendAlert), atOnce: 2, waitsSeconds: mailWaits },
  'erase-customer': { run: ofService(eraseCustomer), atOnce: 1, waitsSeconds: [5, 30, 10 * minute] },
  'erase-mail': { run: ofService(eraseMail), atOnce: 1, waitsSeconds: [30, 10 * minute] },
  'end-loads': { run: endLoads, everySeconds: minute, atOnce: 1, waitsSeconds: [minute, 10 * minute] },
  'forget-expired': { run: forgetExpired, everySeconds: hour, atOnce: 1, waitsSeconds: [minute, 10 * minute] },
  'forget-removals': { run: forgetRemovals, everySeconds: day, atOnce: 1, waitsSeconds: [minute, 10 * minute, hour] },
  'forget-requests': { run: forgetRequests, everySeconds: hour, atOnce: 1, waitsSeconds: [minute, 10 * minute] },
  'render-stock': { run: renderStock, everySeconds: 5, atOnce: 1, waitsSeconds: [5, minute] },
  'judge-mappings': { run: ofService(judgeMappingsAgain), atOnce: 1, waitsSeconds: [minute, 10 * minute, hour] },
  'expire-vouchers': { run: expireVouchers, everySeconds: day, atOnce: 1, waitsSeconds: [minute, 10 * minute, hour] },
}

/** The jobs that back offices are asked in. */
export const officeJobs = (offices: Offices, writes: WriteOperations): Readonly<Record<string, Job>> => ({
  'plan-syncs': planSyncs(offices),
  'sync-feed': syncFeed(offices),
  'import-exports': importExports(offices),
  'settle-writes': settleWrites(offices, writes),
})

/** The jobs of a control database, about its data databases. */
export const databaseJobs = (open: Parameters<typeof handOnAudit>[0]): Readonly<Record<string, Job>> => ({
  'hand-on-audit': { run: handOnAudit(open), everySeconds: 5, atOnce: 1, waitsSeconds: [5, minute] },
  'end-moves': { run: endMoves(open), everySeconds: 2, atOnce: 1, waitsSeconds: [2, 10] },
})

/** The jobs that tell endpoints what has changed. */
export const webhookJobs = (sender: Sender): Readonly<Record<string, Job>> => ({
  [lookJob]: { run: lookForDeliveries, everySeconds: 1, atOnce: 1, waitsSeconds: [1, 5] },
  // An endpoint that hangs costs no more than its socket: many do not keep the others waiting.
  [deliverJob]: { run: ofService(deliverWebhook(sender)), atOnce: 256, waitsSeconds: [5, 30] },
})
