import { State } from '../../components/format.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { formatMs } from './format.js'

/** @typedef {{ key: string, at: string | null, content: unknown }} Event */

/** @type {Record<string, 'good' | 'warn' | 'bad'>} */
const emailTones = { sent: 'good', queued: 'warn', failed: 'bad' }

/** @param {any} request @returns {Event[]} */
const buildEvents = ({ audit, emails, deliveries }) => [
  ...audit.map((/** @type {any} */ each) => ({
    key: `audit ${each.id}`,
    at: each.at,
    content: html`Wrote <code>${each.subject}</code> <small>${each.fields.join(', ')}</small>`,
  })),
  ...emails.map((/** @type {any} */ each) => ({
    key: `email ${each.id}`,
    at: each.sentAt,
    content: html`Email <${State} state=${each.status} tone=${emailTones[each.status]} /> <small>${each.attempts === 1 ? '1 attempt' : `${each.attempts} attempts`}</small>`,
  })),
  ...deliveries.map((/** @type {any} */ each) => ({
    key: `delivery ${each.webhookId}`,
    at: each.at,
    content: html`<a href=${linkTo('webhooks', each.webhookId)}>Webhook</a> delivery: <${State} state=${each.detail ?? `${each.status}`} tone=${each.detail ? 'bad' : 'good'} /> <small>${formatMs(each.milliseconds)}, delivery ${each.deliveryId}</small>`,
  })),
]

/** The effects of a request: audit entries, emails and webhook deliveries. @param {{ request: any }} props */
export function Effects({ request }) {
  const events = buildEvents(request)
  if (events.length === 0) return html`<div class="empty">No changes</div>`
  return html`<ol class="timeline">
    ${events.map(({ key, at, content }) => html`<li key=${key}><time>${at ?? 'not yet'}</time><div>${content}</div></li>`)}
  </ol>`
}
