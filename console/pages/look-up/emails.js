import { useRef, useState } from 'preact/hooks'
import { Send } from '../../components/button.js'
import { Dialog } from '../../components/dialog.js'
import { Field, submitted } from '../../components/field.js'
import { State } from '../../components/format.js'
import { useAction } from '../../components/use-load.js'
import { WholeTable } from '../../components/whole-table.js'
import { ask } from '../../lib/api.js'
import { html } from '../../lib/html.js'

/** @type {Record<string, 'good' | 'warn' | 'bad'>} */
export const emailTones = { queued: 'warn', sent: 'good', failed: 'bad' }

/** @type {import('../../components/table.js').Column[]} */
const columns = [
  { title: 'Asked for', value: email => email.queuedAt, shrink: true },
  {
    title: 'State',
    value: email => html`<${State} state=${email.status} tone=${emailTones[email.status]} />`,
    text: email => email.status,
  },
  { title: 'Sent', value: email => email.sentAt, shrink: true },
  { title: 'Next attempt', value: email => email.dueAt, shrink: true },
  { title: 'Attempts', right: true, value: email => email.attempts },
  { title: 'Why not', value: email => email.fault, wide: true },
]

/** The e-mails to the receiver of a voucher. @param {{ number: string, emails: any[] }} props */
export const Emails = ({ number, emails }) =>
  emails.length
    ? html`<${WholeTable} title=${html`<h3>E-mails</h3>`} caption="E-mails to the receiver" columns=${columns} rows=${emails} file=${`voucher-${number}-e-mails`} />`
    : html`<h3>E-mails</h3><div class="empty">None was asked for: the voucher was not issued here.</div>`

/**
 * Sends number and PIN to the receiver again, or to another address.
 * @param {{ path: string, to: string, last: any, done: () => void }} props `last`: the newest e-mail, if there is one
 */
export function SendAgain({ path, to, last, done }) {
  const [isOpen, setOpen] = useState(false)
  return html`<button onClick=${() => setOpen(true)}>Send again</button>
    ${
      isOpen &&
      html`<${Dialog} title="Send again" close=${() => setOpen(false)}>
        <${Sending} path=${path} to=${to} last=${last} done=${() => {
          setOpen(false)
          done()
        }} />
      <//>`
    }`
}

/** @param {{ path: string, to: string, last: any, done: () => void }} props */
function Sending({ path, to, last, done }) {
  const [receiverEmail, setReceiverEmail] = useState(to)
  // However often it is pressed, and whatever becomes of the answers: one opening of the form sends once.
  const key = useRef(crypto.randomUUID())
  const { busy, error, run } = useAction()
  const send = submitted(() =>
    run(async () => {
      const body = receiverEmail === to ? {} : { receiverEmail }
      await ask(`${path}/send-again`, { method: 'POST', body, headers: { 'idempotency-key': key.current } })
      done()
    }),
  )
  const isRenewed = !last?.wordsKept || receiverEmail !== to
  const isForgotten = last?.status === 'failed' && !last.wordsKept
  return html`<form onSubmit=${send}>
    <p>${isForgotten && 'What the e-mail said that never left is not kept any more. '}${isRenewed ? 'It goes out with a new PIN: that of the e-mail before opens the voucher no more.' : 'The e-mail that has not left yet goes out as it is.'}</p>
    <${Field} label="To" type="email" required maxlength="250" autocomplete="off" value=${receiverEmail} change=${setReceiverEmail} />
    <${Send} label="Send" doing="Sending…" busy=${busy} error=${error} />
  </form>`
}
