import { DatabaseAway } from '../database/errors.ts'
import { compose, Unsendable } from '../mail/message.ts'
import { Undelivered } from '../mail/undelivered.ts'
import { voucherLetter } from '../mail/voucher-email.ts'
import { type Alert, raiseAlert } from '../store/alerts/alerts.ts'
import { markFault, markSent, readWaiting } from '../store/mail/mails.ts'
import { traced } from '../telemetry/current-context.ts'
import { failpoint } from '../testing/failpoints.ts'
import type { ServiceJobRun } from './job.ts'
import { retryUntilRecorded } from './retry-until-recorded.ts'

/**
 * Sends one mail and marks it. Whoever is killed in between leaves it unmarked: it is sent a second time, under the same
 * Message-ID. After the last attempt, or when the server refuses it for good, it has failed, with an alert.
 */
export async function sendMail(work: ServiceJobRun): Promise<void> {
  const { db, keys, post, service, subject: id, attempt, signal, renewLease } = work
  try {
    const waiting = await readWaiting(db, keys, service, id)
    if (!waiting) return
    const message = await compose(voucherLetter(waiting, service))
    failpoint('before_smtp')
    // A process that was halted for longer than its lease finds that another one has taken over.
    if (!(await renewLease())) return
    await traced('send mail', 'client', {}, () => post.send(message, signal))
  } catch (error) {
    // What happens to the database or to us is not the mail's fault.
    if (signal.aborted || error instanceof DatabaseAway) throw error
    return giveUpOrThrow(work, error as Error)
  }
  failpoint('after_smtp')
  failpoint('before_mark_sent')
  await retryUntilRecorded(() => markSent(db, service, id, attempt))
}

async function giveUpOrThrow({ db, service, subject: id, attempt, last, log }: ServiceJobRun, error: Error) {
  const known = error instanceof Undelivered || error instanceof Unsendable
  const fault = known ? error.message : 'It could not be put together, or not left in its place; the log says why.'
  const failed = last || error instanceof Unsendable || (error instanceof Undelivered && error.final)
  const alert: Alert | undefined = failed
    ? { kind: 'mail_failed', subject: id, detail: fault }
    : error instanceof Undelivered && error.everyMail
      ? { kind: 'mail_server_refuses', subject: '', detail: fault }
      : undefined
  // Together: somebody is told of each mail that has failed, and nobody of one that another has taken the place of meanwhile.
  const isOurs = await db.transaction(async tx => {
    const isMarked = (await markFault(tx, service, id, { attempts: attempt, fault, failed })) > 0
    if (isMarked && alert) await raiseAlert(tx, service.id, alert)
    return isMarked
  })
  if (isOurs && failed)
    log.error({ alert: alert?.kind, service: service.name, mail: id, fault }, 'An e-mail was given up.')
  else if (isOurs && alert)
    log.error({ alert: alert.kind, service: service.name, fault }, 'E-mails wait: the mail server refuses them.')
  if (!failed) throw error
}
