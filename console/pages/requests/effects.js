import { State } from '../../components/format.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { t } from '../../lib/text.js'
import { formatTime, formatZonedTime } from '../../lib/time.js'
import { formatMs } from './format.js'

/** @typedef {{ key: string, at: string | null, content: unknown }} Event */

/** @type {Record<string, 'good' | 'warn' | 'bad'>} */
const emailTones = { sent: 'good', queued: 'warn', failed: 'bad' }

/** @param {any} request @returns {Event[]} */
const buildEvents = ({ audit, emails, deliveries }) => [
  ...audit.map((/** @type {any} */ entry) => ({
    key: `audit ${entry.id}`,
    at: formatZonedTime(entry.at),
    content: html`Wrote <code>${entry.subject}</code> <small>${entry.fields.join(', ')}</small>`,
  })),
  ...emails.map((/** @type {any} */ email) => ({
    key: `email ${email.id}`,
    at: email.sentAt && formatTime(email.sentAt),
    content: html`Email <${State} state=${email.status} tone=${emailTones[email.status]} /> <small>${email.attempts === 1 ? t('1 attempt') : t('{attempts} attempts', { attempts: email.attempts })}</small>`,
  })),
  ...deliveries.map((/** @type {any} */ delivery) => ({
    key: `delivery ${delivery.webhookId}`,
    at: formatTime(delivery.at),
    content: html`<a href=${linkTo('webhooks', delivery.webhookId)}>Webhook</a> delivery: <${State} state=${delivery.detail ?? `${delivery.status}`} tone=${delivery.detail ? 'bad' : 'good'} /> <small>${formatMs(delivery.milliseconds)}, delivery ${delivery.deliveryId}</small>`,
  })),
]

/** The effects of a request: audit entries, emails and webhook deliveries. @param {{ request: any }} props */
export function Effects({ request }) {
  const events = buildEvents(request)
  if (events.length === 0) return html`<div class="empty">No changes</div>`
  return html`<ol class="timeline">
    ${events.map(({ key, at, content }) => html`<li key=${key}><time>${at ?? t('not yet')}</time><div>${content}</div></li>`)}
  </ol>`
}
