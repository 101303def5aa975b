import { forgetAlerts } from '../store/running/alerts.ts'
import { forgetAnswers } from '../store/running/idempotency.ts'
import { forgetHolds } from '../store/running/intents.ts'
import { forgetFailedMails } from '../store/running/mails.ts'
import { forgetRuns } from '../store/sync/runs.ts'
import { forgetWrongPins } from '../store/vouchers/pin.ts'
import { forgetAttempts } from '../store/webhooks/attempts.ts'
import type { Work } from './job.ts'

/** Deletes what is kept for a time only: answers to writes and wrong PINs, the words of mails that failed, old alerts, attempts at webhooks, runs of feeds. */
export async function forgetExpired({ db }: Work): Promise<void> {
  for (const each of [
    forgetAnswers,
    forgetHolds,
    forgetWrongPins,
    forgetFailedMails,
    forgetAlerts,
    forgetAttempts,
    forgetRuns,
  ])
    await each(db)
}
