import { formatMoney, State } from '../../components/format.js'
import { RequestLink } from '../../components/request-link.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { emailTones } from './emails.js'

/** @typedef {{ key: string, at: string, what: unknown, amount?: unknown }} Event */

/** What somebody agrees to. @type {Record<string, string>} */
const channels = { marketing: 'Marketing', email: 'E-mail subscription', sms: 'SMS subscription' }

/** Something in the words of whoever did it. @param {any} by */
const renderAuthor = ({ username, requestId }) =>
  html`<small>by ${username}, request <${RequestLink} id=${requestId} short /></small>`

/** What was agreed to, in words. @param {any[]} consent */
const describeConsent = consent =>
  consent.map(each => `${channels[each.channel] ?? each.channel} ${each.newValue ? 'on' : 'off'}`).join(', ')

/** A write of a customer's profile, in words. @param {any} line of the audit */
function describeProfileChange({ operation, fields }) {
  if (operation.startsWith('POST')) return 'Customer made'
  return fields.length ? html`Profile changed: ${fields.join(', ')}` : 'Profile written'
}

/** What there was with a customer, the newest first. @param {any} data @returns {Event[]} */
export function buildEvents({
  audit = [],
  consent = [],
  orders = [],
  returns = [],
  transactions = [],
  rewardAccount,
  vouchers = [],
}) {
  /** What was agreed to, by the write that said so. @type {Map<string, any[]>} */
  const ofWrite = Map.groupBy(consent, (/** @type {any} */ each) => each.requestId)
  /** @type {Event[]} */
  const events = [
    ...audit.map((/** @type {any} */ line) => {
      const consented = ofWrite.get(line.requestId) ?? []
      ofWrite.delete(line.requestId)
      return {
        key: `audit ${line.id}`,
        at: line.at,
        what: html`${describeProfileChange(line)}${consented.length > 0 && html`<br />${describeConsent(consented)}`} ${renderAuthor(line)}`,
      }
    }),
    ...[...ofWrite].map(([request, of]) => ({
      key: `consent ${request}`,
      at: of[0].at,
      what: html`${describeConsent(of)} ${renderAuthor(of[0])}`,
    })),
    ...orders.map((/** @type {any} */ each) => ({
      key: `order ${each.id}`,
      at: each.placedAt,
      what: html`Order <a href=${linkTo('search', 'order', each.id)}>${each.orderNumber}</a>`,
      amount: formatMoney(each.total, each.currency),
    })),
    ...returns.map((/** @type {any} */ each) => ({
      key: `return ${each.id}`,
      at: each.createdAt,
      what: html`Return <a href=${linkTo('search', 'return', each.id)}>${each.returnNumber}</a> ${each.status}`,
      amount: formatMoney(each.total, each.currency),
    })),
    ...transactions.map((/** @type {any} */ each) => ({
      key: `sale ${each.id}`,
      at: each.saleDate,
      what: html`Sale <a href=${linkTo('search', 'sale', each.id)}>${each.number ?? each.id}</a> <small>${each.storeName ?? each.channel}</small>`,
      amount: formatMoney(each.total, each.currency),
    })),
    ...(rewardAccount?.points ?? []).map((/** @type {any} */ each) => ({
      key: `points ${each.id}`,
      at: each.createdAt,
      what: html`Points ${each.description && html`<small>${each.description}</small>`}`,
      amount: `${each.total.toLocaleString('en')} ${each.total === 1 ? 'point' : 'points'}`,
    })),
    ...vouchers.map((/** @type {any} */ each) => ({
      key: `voucher ${each.number}`,
      at: each.createdAt,
      what: html`Voucher <a href=${linkTo('search', 'voucher', each.number)}>${each.number}</a>${each.receiverEmail && html` <small>for ${each.receiverEmail}</small>`}`,
    })),
    ...vouchers.flatMap((/** @type {any} */ voucher) =>
      voucher.emails.map((/** @type {any} */ email) => toEmailEvent(voucher, email)),
    ),
  ]
  return events.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
}

/** What became of an e-mail to the receiver of a voucher. @param {any} voucher @param {any} email @returns {Event} */
function toEmailEvent({ number }, { id, status, queuedAt, sentAt, fault }) {
  const link = html`<a href=${linkTo('search', 'voucher', number)}>${number}</a>`
  const state = html`<${State} state=${status} tone=${emailTones[status]} />`
  return {
    key: `e-mail ${id}`,
    at: sentAt ?? queuedAt,
    what: html`E-mail of voucher ${link} ${state} ${fault && html`<small>${fault}</small>`}`,
  }
}
