import { html } from '../../ground/html.js'
import { linkTo } from '../../ground/route.js'
import { money } from '../../parts/format.js'
import { RequestLink } from '../../parts/request-link.js'

/** @typedef {{ key: string, at: string, what: unknown }} Event */

/** Who is told of what. @type {Record<string, string>} */
const channels = { marketing: 'Privacy', email: 'E-mail subscription', sms: 'SMS subscription' }

/** What there was with a customer, the newest first. @param {any} data @returns {Event[]} */
export function eventsOf({ consent = [], orders = [], returns = [], transactions = [], rewardAccount, vouchers = [] }) {
  /** @type {Event[]} */
  const events = [
    ...consent.map((/** @type {any} */ each, /** @type {number} */ i) => ({
      key: `consent ${i}`,
      at: each.at,
      what: html`${channels[each.channel] ?? each.channel} ${each.new ? 'on' : 'off'} <small>by ${each.username}, request <${RequestLink} id=${each.requestId} short /></small>`,
    })),
    ...orders.map((/** @type {any} */ each) => ({
      key: `order ${each.id}`,
      at: each.placedAt,
      what: html`Order <a href=${linkTo('look-up', 'order', each.id)}>${each.orderNumber}</a> ${money(each.total, each.currency)}`,
    })),
    ...returns.map((/** @type {any} */ each) => ({
      key: `return ${each.id}`,
      at: each.createdAt,
      what: html`Return <a href=${linkTo('look-up', 'return', each.id)}>${each.returnNumber}</a> ${each.status}, ${money(each.total, each.currency)}`,
    })),
    ...transactions.map((/** @type {any} */ each) => ({
      key: `sale ${each.id}`,
      at: each.saleDate,
      what: html`Sale <a href=${linkTo('look-up', 'sale', each.id)}>${each.number ?? each.id}</a> ${money(each.total, each.currency)} <small>${each.storeName ?? each.channel}</small>`,
    })),
    ...(rewardAccount?.points ?? []).map((/** @type {any} */ each) => ({
      key: `points ${each.id}`,
      at: each.createdAt,
      what: html`${each.total} points ${each.description && html`<small>${each.description}</small>`}`,
    })),
    ...vouchers.map((/** @type {any} */ each) => ({
      key: `voucher ${each.number}`,
      at: each.createdAt,
      what: html`Voucher <a href=${linkTo('look-up', 'voucher', each.number)}>${each.number}</a>${each.receiverEmail && html` <small>for ${each.receiverEmail}</small>`}`,
    })),
  ]
  return events.sort((a, b) => (a.at < b.at ? 1 : -1))
}
