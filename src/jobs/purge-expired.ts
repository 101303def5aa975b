import { purgeAlerts } from '../store/alerts/alerts.ts'
import { forgetFailedMails } from '../store/mail/mails.ts'
import { purgeRuns } from '../store/sync/runs.ts'
import { purgeWrongPins } from '../store/vouchers/pin.ts'
import { purgeUpstreamVouchers } from '../store/vouchers/upstream.ts'
import { forgetAttempts } from '../store/webhooks/attempts.ts'
import { purgeResponses } from '../store/writes/idempotency.ts'
import { purgeReservations } from '../store/writes/intents.ts'
import { type JobRun, throwErrors } from './job.ts'

/**
 * Deletes what is kept for a time only: answers to writes, wrong PINs, holds of those who died, what is known of a back office's vouchers,
 * the words of mails that failed, old alerts, attempts at webhooks, runs of syncs. Done twice it finds nothing more. Throws in the end where
 * some of it could not be deleted; the others are.
 */
export async function purgeExpired({ db, signal }: JobRun): Promise<void> {
  const errors: unknown[] = []
  for (const each of [
    purgeReservations,
    purgeWrongPins,
    purgeUpstreamVouchers,
    forgetFailedMails,
    purgeAlerts,
    forgetAttempts,
    purgeRuns,
    purgeResponses,
  ])
    try {
      await each(db, () => signal.aborted)
    } catch (error) {
      signal.throwIfAborted()
      errors.push(error)
    }
  throwErrors(errors, 'expired rows could not be deleted')
}
