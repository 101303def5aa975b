import { useRef, useState } from 'preact/hooks'
import { SubmitButton } from '../../components/button.js'
import { Dialog } from '../../components/dialog.js'
import { ExportableTable } from '../../components/exportable-table.js'
import { Field, onSubmit } from '../../components/field.js'
import { State } from '../../components/format.js'
import { useAction } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'

/** @type {Record<string, 'good' | 'warn' | 'bad'>} */
export const emailTones = { queued: 'warn', sent: 'good', failed: 'bad' }

/** @type {import('../../components/table.js').Column[]} */
const columns = [
  { title: 'Queued', value: email => email.queuedAt, isTime: true, shrink: true },
  {
    title: 'State',
    value: email => html`<${State} state=${email.status} tone=${emailTones[email.status]} />`,
    text: email => email.status,
  },
  { title: 'Sent', value: email => email.sentAt, isTime: true, shrink: true },
  { title: 'Next attempt', value: email => email.dueAt, isTime: true, shrink: true },
  { title: 'Attempts', right: true, value: email => email.attempts },
  { title: 'Error', value: email => email.lastError, wide: true },
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
export function Resend({ path, to, last, done }) {
  const [isOpen, setOpen] = useState(false)
  return html`<button onClick=${() => setOpen(true)}>Resend</button>
    ${
      isOpen &&
      html`<${Dialog} title="Resend" close=${() => setOpen(false)}>
        <${ResendForm} path=${path} to=${to} last=${last} done=${() => {
          setOpen(false)
          done()
        }} />
      <//>`
    }`
}

/** @param {{ path: string, to: string, last: any, done: () => void }} props */
function ResendForm({ path, to, last, done }) {
  const [receiverEmail, setReceiverEmail] = useState(to)
  // One key per opening of the form, so that repeated clicks send one email.
  const key = useRef(crypto.randomUUID())
  const { busy, error, run } = useAction()
  const send = onSubmit(() =>
    run(async () => {
      const body = receiverEmail === to ? {} : { receiverEmail }
      await callApi(`${path}/resend`, { method: 'POST', body, headers: { 'idempotency-key': key.current } })
      done()
    }),
  )
  const isRenewed = !last?.isContentStored || receiverEmail !== to
  const isForgotten = last?.status === 'failed' && !last.isContentStored
  return html`<form onSubmit=${send}>
    <p>${isForgotten && 'The content of the unsent email is no longer stored. '}${isRenewed ? 'The email contains a new PIN. The PIN in any earlier email stops working.' : 'The unsent email is sent unchanged.'}</p>
    <${Field} label="To" type="email" required maxlength="250" autocomplete="off" value=${receiverEmail} change=${setReceiverEmail} />
    <${SubmitButton} label="Send" busyLabel="Sending…" busy=${busy} error=${error} />
  </form>`
}
