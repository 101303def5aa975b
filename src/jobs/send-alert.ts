import { renderAlertEmail } from '../mail/alert-email.ts'
import { compose } from '../mail/message.ts'
import { readAlert } from '../store/alerts/alerts.ts'
import { getSender } from '../store/mail/emails.ts'
import type { ServiceJobRun } from './job.ts'

/** Sends an alert email, unless the alert has been resolved. If the process is killed, the next attempt sends the email again with the same Message-ID. */
export async function sendAlert({
  db,
  mailTransport,
  publicUrl,
  service,
  subject: alertName,
  isLastAttempt,
  signal,
  renewLease,
  log,
}: ServiceJobRun): Promise<void> {
  const address = service.settings.alertEmail
  const [kind = '', ...subjectWords] = alertName.split(' ')
  const alert = await readAlert(db, service.id, { kind, subject: subjectWords.join(' ') })
  if (!alert || !address) return
  const from = getSender(service)
  const message = await compose({
    ...renderAlertEmail(service.name, alert, publicUrl),
    from: { name: 'Tillbridge', address: from },
    to: { name: '', address },
    messageId: `<${kind}.${subjectWords.join('.')}.${alert.raisedAt.getTime()}@${from.split('@').at(-1)}>`,
    date: alert.raisedAt,
  })
  if (!(await renewLease())) return
  try {
    await mailTransport.send(message, signal)
  } catch (error) {
    if (!isLastAttempt || signal.aborted) throw error
    log.error({ err: error, service: service.name, alert: kind }, 'alert email failed, will not retry')
  }
}
