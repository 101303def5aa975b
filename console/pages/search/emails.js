import { ExportableTable } from '../../components/exportable-table.js'
import { Field } from '../../components/field.js'
import { State } from '../../components/format.js'
import { RecordAction } from '../../components/record-action.js'
import { showToast } from '../../components/toast.js'
import { html } from '../../lib/html.js'
import { t } from '../../lib/text.js'

/** @type {Record<string, 'good' | 'warn' | 'bad'>} */
export const emailTones = { queued: 'warn', sent: 'good', failed: 'bad' }

/** @type {import('../../components/table.js').Column[]} */
const columns = [
  { title: t('Queued'), value: email => email.queuedAt, isTime: true, shrink: true },
  {
    title: t('State'),
    value: email => html`<${State} state=${email.status} tone=${emailTones[email.status]} />`,
    text: email => email.status,
  },
  { title: t('Sent'), value: email => email.sentAt, isTime: true, shrink: true },
  { title: t('Next attempt'), value: email => email.dueAt, isTime: true, shrink: true },
  { title: t('Attempts'), right: true, value: email => email.attempts },
  { title: t('Error'), value: email => email.lastError, wide: true },
]

/** The emails to the receiver of a voucher. @param {{ number: string, emails: any[] }} props */
export const Emails = ({ number, emails }) =>
  emails.length
    ? html`<${ExportableTable} title=${html`<h3>Emails</h3>`} caption="Emails to the receiver" columns=${columns} rows=${emails} file=${`voucher-${number}-emails`} />`
    : html`<h3>Emails</h3><div class="empty">No emails. This voucher wasn't issued by Tillbridge.</div>`

/**
 * Resends the voucher email, optionally to another address.
 * @param {{ path: string, to: string, last: any, done: () => void }} props `last`: the newest email, if any
 */
export const Resend = ({ path, to, last, done }) => html`<${RecordAction}
  label=${renewsPin(last, false) ? t('Send new PIN') : t('Resend')} title="Resend the email" role="admin" path=${`${path}/resend`} initial=${{ receiverEmail: to }}
  toBody=${(/** @type {any} */ { receiverEmail }) => (receiverEmail === to ? {} : { receiverEmail })}
  form=${(/** @type {any} */ { values: { receiverEmail }, change, getError }) => html`
    <p>${describeResend(last, receiverEmail !== to)}</p>
    <${Field} label="To" type="email" required maxlength="250" autocomplete="off" value=${receiverEmail} change=${(/** @type {string} */ value) => change({ receiverEmail: value })} error=${getError('/receiverEmail')} />
  `}
  done=${() => {
    done()
    showToast(t('Email queued'))
  }}
/>`

/** True if the email gets a new PIN: the stored voucher has none that can be sent again. @param {any} last @param {boolean} isRedirected */
const renewsPin = (last, isRedirected) => !last?.isContentStored || isRedirected

/** @param {any} last @param {boolean} isRedirected */
function describeResend(last, isRedirected) {
  const isForgotten = last?.status === 'failed' && !last.isContentStored
  return [
    isForgotten && t('The content of the unsent email is no longer stored.'),
    renewsPin(last, isRedirected)
      ? t('The email contains a new PIN. The PIN in any earlier email stops working.')
      : t('The unsent email is sent unchanged.'),
  ]
    .filter(Boolean)
    .join(' ')
}
