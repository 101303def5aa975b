import { forgetAlerts } from '../store/running/alerts.ts'
import { forgetAnswers } from '../store/running/idempotency.ts'
import { forgetHolds } from '../store/running/intents.ts'
import { forgetFailedMails } from '../store/running/mails.ts'
import { forgetRuns } from '../store/sync/runs.ts'
import { forgetWrongPins } from '../store/vouchers/pin.ts'
import { forgetAttempts } from '../store/webhooks/attempts.ts'
import type { Work } from './job.ts'

/**
 * Deletes what is kept for a time only: answers to writes and wrong PINs, the words of mails that failed, old alerts, attempts at webhooks,
 * runs of feeds. Throws in the end where some of it could not be deleted; the others are.
 */
export async function forgetExpired({ db, signal }: Work): Promise<void> {
  let fault: unknown
  for (const each of [
    forgetHolds,
    forgetWrongPins,
    forgetFailedMails,
    forgetAlerts,
    forgetAttempts,
    forgetRuns,
    forgetAnswers,
  ])
    try {
      await each(db, () => signal.aborted)
    } catch (error) {
      signal.throwIfAborted()
      fault = error
    }
  if (fault) throw fault
}
