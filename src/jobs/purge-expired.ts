import { purgeAlerts } from '../store/alerts/alerts.ts'
import { purgeEvents } from '../store/ecommerce/events.ts'
import { purgeFailedEmails } from '../store/mail/emails.ts'
import { purgeRedemptions } from '../store/rewards/redemptions.ts'
import { purgeRuns } from '../store/sync/runs.ts'
import { purgeWrongPins } from '../store/vouchers/pin.ts'
import { purgeUpstreamVouchers } from '../store/vouchers/upstream.ts'
import { purgeAttempts, purgePayloads } from '../store/webhooks/attempts.ts'
import { purgeResponses } from '../store/writes/idempotency.ts'
import { purgeReservations } from '../store/writes/intents.ts'
import { type JobRun, throwErrors } from './job.ts'

/**
 * Deletes temporary data: stored responses, wrong PINs, reservations of dead processes, voucher data of back offices, contents of
 * failed emails, alerts, webhook attempts and payloads, sync runs, ended redemptions, events. Running it twice is harmless. If some
 * of it can't be deleted, it deletes the rest and then throws.
 */
export async function purgeExpired({ db, signal }: JobRun): Promise<void> {
  const errors: unknown[] = []
  for (const purge of [
    purgeReservations,
    purgeWrongPins,
    purgeUpstreamVouchers,
    purgeFailedEmails,
    purgeAlerts,
    purgeAttempts,
    purgePayloads,
    purgeRuns,
    purgeRedemptions,
    purgeResponses,
    purgeEvents,
  ])
    try {
      await purge(db, () => signal.aborted)
    } catch (error) {
      signal.throwIfAborted()
      errors.push(error)
    }
  throwErrors(errors, 'expired rows could not be deleted')
}
