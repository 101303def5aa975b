import { Action } from '../../components/action.js'
import { Dialog } from '../../components/dialog.js'
import { Facts, State, Timestamp } from '../../components/format.js'
import { Problem } from '../../components/problem.js'
import { useLoad } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { plural, t } from '../../lib/text.js'
import { formatMs } from '../requests/format.js'

/** @param {any} attempt */
export const isDelivered = ({ status, detail }) => status !== null && !detail

/** @param {any} attempt */
export const formatOutcome = ({ status, detail }) =>
  detail && detail !== `The endpoint returned ${status}.` ? [status, detail].filter(Boolean).join(' ') : String(status)

/** The record page of each kind of change that has one. @type {Record<string, string>} */
const recordKinds = { customer: 'customer', order: 'order', return: 'return', transaction: 'sale', product: 'product' }

/**
 * An attempt with what was sent: its changes, headers and payload.
 * @param {{ webhookId: string, id: string, close: () => void, resent: (attempt: any) => void }} props
 */
export function Attempt({ webhookId, id, close, resent }) {
  const path = `/console/webhooks/${encodeURIComponent(webhookId)}/attempts/${encodeURIComponent(id)}`
  const { data, error } = useLoad(signal => callApi(path, { signal }).then(response => response.data), [path])
  const resend = () => callApi(`${path}/resend`, { method: 'POST', body: {} }).then(response => resent(response.data))
  return html`<${Dialog} title="Attempt" isPanel close=${close}>
    ${error && html`<${Problem} error=${error} />`}
    ${!data && !error && html`<p role="status">Loading…</p>`}
    ${data && html`<${Details} attempt=${data} resend=${resend} />`}
  <//>`
}

/** @param {{ attempt: any, resend: () => Promise<unknown> }} props */
function Details({ attempt, resend }) {
  const { body, headers } = attempt
  const changes = body ? (JSON.parse(body).data.changes ?? []) : []
  return html`<${Facts}
      facts=${[
        [
          t('Outcome'),
          html`<${State} state=${formatOutcome(attempt)} tone=${isDelivered(attempt) ? 'good' : 'bad'} />`,
        ],
        [t('Time'), html`<${Timestamp} time=${attempt.at} />`],
        [t('Duration'), formatMs(attempt.milliseconds)],
        [t('Delivery'), html`<code>${attempt.deliveryId}</code>`, 'wide'],
      ]}
    />
    ${
      body &&
      html`<p class="choices"><${Action} label="Resend" role="admin" work=${resend} confirm="Sends the same content with the same ID again. A receiver that has processed it must ignore the repetition." /></p>`
    }
    ${changes.length > 0 && html`<h3>${plural(changes.length, '{count} change', '{count} changes')}</h3><ul class="changes">${changes.map(renderChange)}</ul>`}
    <h3>Response</h3>
    <pre tabindex="0">${attempt.response || t('The response has no body.')}</pre>
    <h3>Headers</h3>
    ${headers ? html`<pre tabindex="0">${Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`)}</pre>` : html`<p>Nothing was sent.</p>`}
    <h3>Payload</h3>
    ${body ? html`<pre tabindex="0">${JSON.stringify(JSON.parse(body), null, 2)}</pre>` : html`<p>Payloads are deleted after 3 days.</p>`}`
}

/** @param {{ kind: string, id: string, action: string }} change */
function renderChange({ kind, id, action }) {
  const recordKind = Object.hasOwn(recordKinds, kind) && action === 'changed' && recordKinds[kind]
  return html`<li>${kind} ${recordKind ? html`<a href=${linkTo('search', recordKind, id)}>${id}</a>` : html`<code>${id}</code>`} ${action}</li>`
}
