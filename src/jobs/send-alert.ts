import { alertMail } from '../mail/alert-email.ts'
import { compose } from '../mail/message.ts'
import { type Alert, readAlert } from '../store/alerts/alerts.ts'
import { senderOf } from '../store/mail/mails.ts'
import type { ServiceJobRun } from './job.ts'

/** The job that tells the service's `alertEmail` of an alert; its subject says of which. */
export const sendAlertJob = 'send-alert'
export const subjectOf = ({ kind, subject }: Pick<Alert, 'kind' | 'subject'>) => `${kind} ${subject}`

/** Sends an alert by e-mail, unless it is settled by now. Whoever is killed before the end sends it again, under the same Message-ID. */
export async function sendAlert({
  db,
  post,
  service,
  subject: about,
  last,
  signal,
  renewLease,
  log,
}: ServiceJobRun): Promise<void> {
  const address = service.settings.alertEmail
  const [kind = '', ...rest] = about.split(' ')
  const alert = await readAlert(db, service.id, { kind, subject: rest.join(' ') })
  if (!alert || !address) return
  const from = senderOf(service)
  const message = await compose({
    ...alertMail(service.name, alert),
    from: { name: 'Tillbridge', address: from },
    to: { name: '', address },
    messageId: `<${kind}.${rest.join('.')}.${alert.raisedAt.getTime()}@${from.split('@').at(-1)}>`,
    date: alert.raisedAt,
  })
  if (!(await renewLease())) return
  try {
    await post.send(message, signal)
  } catch (error) {
    if (!last || signal.aborted) throw error
    log.error({ err: error, service: service.name, alert: kind }, 'An e-mail about an alert was given up.')
  }
}
