import { State } from '../../components/format.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { plural, rich, t } from '../../lib/text.js'
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
    content: rich('Wrote <code>{subject}</code> <small>{fields}</small>', {
      subject: entry.subject,
      fields: entry.fields.join(', '),
    }),
  })),
  ...emails.map((/** @type {any} */ email) => ({
    key: `email ${email.id}`,
    at: email.sentAt && formatTime(email.sentAt),
    content: html`${rich('Email {state}', { state: html`<${State} state=${email.status} tone=${emailTones[email.status]} />` })} <small>${plural(email.attempts, '{count} attempt', '{count} attempts')}</small>`,
  })),
  ...deliveries.map((/** @type {any} */ delivery) => ({
    key: `delivery ${delivery.webhookId}`,
    at: formatTime(delivery.at),
    content: html`${rich('<link>Webhook</link> delivery: {state}', {
      link: content => html`<a href=${linkTo('webhooks', delivery.webhookId)}>${content}</a>`,
      state: html`<${State} state=${delivery.detail ?? String(delivery.status)} tone=${delivery.detail ? 'bad' : 'good'} />`,
    })} <small>${t('{duration}, delivery {deliveryId}', { duration: formatMs(delivery.milliseconds), deliveryId: delivery.deliveryId })}</small>`,
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
