import { State } from '../../components/format.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { formatMs } from './format.js'

/** @typedef {{ key: string, at: string | null, what: unknown }} Event */

/** @type {Record<string, 'good' | 'warn' | 'bad'>} */
const emailTones = { sent: 'good', queued: 'warn', failed: 'bad' }

/** @param {any} request @returns {Event[]} */
const buildEvents = ({ audit, emails, deliveries }) => [
  ...audit.map((/** @type {any} */ each) => ({
    key: `audit ${each.id}`,
    at: each.at,
    what: html`Wrote <code>${each.subject}</code> <small>${each.fields.join(', ')}</small>`,
  })),
  ...emails.map((/** @type {any} */ each) => ({
    key: `mail ${each.id}`,
    at: each.sentAt,
    what: html`E-mail <${State} state=${each.status} tone=${emailTones[each.status]} /> <small>${each.attempts === 1 ? '1 attempt' : `${each.attempts} attempts`}</small>`,
  })),
  ...deliveries.map((/** @type {any} */ each) => ({
    key: `delivery ${each.webhookId}`,
    at: each.at,
    what: html`<a href=${linkTo('webhooks', each.webhookId)}>Webhook</a> told: <${State} state=${each.detail ?? `${each.status}`} tone=${each.detail ? 'bad' : 'good'} /> <small>${formatMs(each.milliseconds)}, delivery ${each.deliveryId}</small>`,
  })),
]

/** What a request wrote, and what followed: e-mails, deliveries. @param {{ request: any }} props */
export function Effects({ request }) {
  const events = buildEvents(request)
  if (events.length === 0)
    return html`<div class="empty">${request.operation.startsWith('GET ') ? 'It read, and left nothing behind.' : 'It wrote nothing.'}</div>`
  return html`<ol class="timeline">
    ${events.map(({ key, at, what }) => html`<li key=${key}><time>${at ?? 'not yet'}</time><div>${what}</div></li>`)}
  </ol>`
}
