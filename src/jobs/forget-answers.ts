import { forgetAlerts } from '../store/alerts.ts'
import { forgetAnswers as forget } from '../store/idempotency.ts'
import { forgetFailedMails } from '../store/mails.ts'
import { forgetWrongPins } from '../store/voucher-pin.ts'
import type { Work } from './job.ts'

/** Deletes what is kept for a time only: answers to writes and wrong PINs, the words of mails that failed, old alerts. */
export async function forgetAnswers({ db }: Work): Promise<void> {
  for (const each of [forget, forgetWrongPins, forgetFailedMails, forgetAlerts]) await each(db)
}
