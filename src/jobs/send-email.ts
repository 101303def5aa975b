import { DatabaseUnavailable } from '../database/errors.ts'
import { compose, DeliveryFailed, InvalidAddress } from '../mail/message.ts'
import { buildVoucherEmail } from '../mail/voucher-email.ts'
import { type Alert, raiseAlert } from '../store/alerts/alerts.ts'
import { findQueuedEmail, recordFailedAttempt, recordSent } from '../store/mail/emails.ts'
import { runInSpan } from '../telemetry/current-context.ts'
import { failpoint } from '../testing/failpoints.ts'
import type { ServiceJobRun } from './job.ts'
import { retryUntilRecorded } from './retry-until-recorded.ts'

/**
 * Sends one email and marks it as sent. If the process is killed in between, the next attempt sends the email again with the same
 * Message-ID. After the last attempt, or if the server rejects it permanently, the email has failed and an alert is raised.
 */
export async function sendEmail(work: ServiceJobRun): Promise<void> {
  const { db, keys, mailTransport, service, subject: id, attempt, signal, renewLease } = work
  try {
    const waiting = await findQueuedEmail(db, keys, service, id)
    if (!waiting) return
    const message = await compose(buildVoucherEmail(waiting, service))
    failpoint('before_smtp')
    // If this process was halted for longer than its lease, another one has taken over.
    if (!(await renewLease())) return
    await runInSpan('send mail', 'client', {}, () => mailTransport.send(message, signal))
  } catch (error) {
    // A database failure or a shutdown doesn't count as an attempt.
    if (signal.aborted || error instanceof DatabaseUnavailable) throw error
    return giveUpOrThrow(work, error as Error)
  }
  failpoint('after_smtp')
  failpoint('before_mark_sent')
  await retryUntilRecorded(() => recordSent(db, service, id, attempt))
}

async function giveUpOrThrow({ db, service, subject: id, attempt, isLastAttempt, log }: ServiceJobRun, error: Error) {
  const isDeliveryError = error instanceof DeliveryFailed || error instanceof InvalidAddress
  const fault = isDeliveryError ? error.message : 'The email could not be composed or stored. See the log.'
  const failed =
    isLastAttempt || error instanceof InvalidAddress || (error instanceof DeliveryFailed && error.isPermanent)
  const alert: Alert | undefined = failed
    ? { kind: 'email_failed', subject: id, detail: fault }
    : error instanceof DeliveryFailed && error.affectsAllEmails
      ? { kind: 'email_server_rejecting', subject: '', detail: fault }
      : undefined
  // In one transaction, so that each failed email has an alert, and an email that was replaced has none.
  const isRecorded = await db.transaction(async tx => {
    const isMarked = (await recordFailedAttempt(tx, service, id, { attempts: attempt, fault, failed })) > 0
    if (isMarked && alert) await raiseAlert(tx, service.id, alert)
    return isMarked
  })
  if (isRecorded && failed)
    log.error({ alert: alert?.kind, service: service.name, mail: id, fault }, 'email failed, will not retry')
  else if (isRecorded && alert)
    log.error({ alert: alert.kind, service: service.name, fault }, 'mail server is rejecting emails, will retry')
  if (!failed) throw error
}
