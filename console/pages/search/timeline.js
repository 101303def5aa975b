import { formatMoney, State } from '../../components/format.js'
import { RequestLink } from '../../components/request-link.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { nameState } from '../../lib/states.js'
import { plural, rich, t } from '../../lib/text.js'
import { emailTones } from './emails.js'
import { compareNewestFirst } from './record.js'

/** @typedef {import('./record.js').Event} Event */

/** @type {Record<string, string>} */
const channelNames = { marketing: t('Marketing'), email: t('Email subscription'), sms: t('SMS subscription') }

/** @param {any} entry */
const renderAuthor = ({ username, requestId }) =>
  html`<small>${rich('by {username}, request {link}', { username, link: html`<${RequestLink} id=${requestId} short />` })}</small>`

/** @param {any[]} consent */
const describeConsent = consent =>
  consent
    .map(change => {
      const channel = channelNames[change.channel] ?? change.channel
      return change.newValue ? t('{channel} on', { channel }) : t('{channel} off', { channel })
    })
    .join(', ')

/** @param {any} entry of the audit log */
function describeProfileChange({ operation, fields }) {
  if (operation.startsWith('POST')) return t('Customer created')
  return fields.length ? t('Profile changed: {fields}', { fields: fields.join(', ') }) : t('Profile saved (no changes)')
}

/** Builds the timeline of a customer, newest first. Everything about a purchase is one event. @param {any} data @returns {Event[]} */
export function buildEvents({ audit = [], consent = [], vouchers = [], ...purchases }) {
  /** @type {Map<string, any[]>} */
  const consentByRequest = Map.groupBy(consent, (/** @type {any} */ change) => change.requestId)
  /** @type {Event[]} */
  const events = [
    ...audit.map((/** @type {any} */ entry) => {
      const changes = consentByRequest.get(entry.requestId) ?? []
      consentByRequest.delete(entry.requestId)
      return {
        key: `audit ${entry.id}`,
        kind: 'profile',
        at: entry.at,
        content: html`${describeProfileChange(entry)}${changes.length > 0 && html`<br />${describeConsent(changes)}`} ${renderAuthor(entry)}`,
      }
    }),
    ...[...consentByRequest].map(([request, changes]) => ({
      key: `consent ${request}`,
      kind: 'profile',
      at: changes[0].at,
      content: html`${describeConsent(changes)} ${renderAuthor(changes[0])}`,
    })),
    ...buildPurchases(purchases),
    ...vouchers.map((/** @type {any} */ voucher) => ({
      key: `voucher ${voucher.number}`,
      kind: 'voucher',
      at: voucher.createdAt,
      content: html`${rich('Voucher {link}', { link: html`<a href=${linkTo('search', 'voucher', voucher.number)}>${voucher.number}</a>` })}${voucher.receiverEmail && html` <small>${t('for {email}', { email: voucher.receiverEmail })}</small>`}`,
    })),
    ...vouchers.flatMap((/** @type {any} */ voucher) =>
      voucher.emails.map((/** @type {any} */ email) => toEmailEvent(voucher, email)),
    ),
  ]
  return events.sort(compareNewestFirst)
}

/**
 * Groups orders, sales, returns and points by purchase. The order is the event of its purchase, or else the sale.
 * @param {any} data @returns {Event[]}
 */
function buildPurchases({ orders = [], returns = [], transactions = [], rewardAccount }) {
  /** The order number of each return. @type {Map<string, string>} */
  const returnOrders = new Map(returns.map((/** @type {any} */ each) => [each.returnNumber, each.orderNumber]))
  /** @type {{ purchase: string, event: Event }[]} */
  const events = [
    ...orders.map((/** @type {any} */ order) => ({
      purchase: order.orderNumber,
      event: {
        key: `order ${order.id}`,
        at: order.placedAt,
        content: html`${rich('Order {link}', { link: html`<a href=${linkTo('search', 'order', order.id)}>${order.orderNumber}</a>` })} <small>${countUnits(order.lines)}</small>`,
        amount: formatMoney(order.total, order.currency),
      },
    })),
    ...transactions.map((/** @type {any} */ transaction) => ({
      purchase: transaction.orderNumber ?? `sale/${transaction.id}`,
      event: {
        key: `sale ${transaction.id}`,
        at: transaction.saleDate,
        content: html`${Number(transaction.total) < 0 ? t('Refund') : t('Sale')} <a href=${linkTo('search', 'sale', transaction.id)}>${transaction.number ?? transaction.id}</a> <small>${transaction.storeName ?? transaction.channel}</small>`,
        amount: formatMoney(transaction.total, transaction.currency),
      },
    })),
    ...returns.map((/** @type {any} */ orderReturn) => ({
      purchase: orderReturn.orderNumber,
      event: {
        key: `return ${orderReturn.id}`,
        at: orderReturn.createdAt,
        content: rich('Return {link} {status}', {
          link: html`<a href=${linkTo('search', 'return', orderReturn.id)}>${orderReturn.returnNumber}</a>`,
          status: nameState(orderReturn.status),
        }),
        amount: formatMoney(`-${orderReturn.total}`, orderReturn.currency),
      },
    })),
    ...(rewardAccount?.points ?? []).map((/** @type {any} */ entry) => {
      const [, kind, number = ''] = /^(Order|Return) (\S+)/.exec(entry.description ?? '') ?? []
      return {
        purchase: (kind === 'Order' ? number : returnOrders.get(number)) ?? `points/${entry.id}`,
        event: {
          key: `points ${entry.id}`,
          at: entry.createdAt,
          content: html`${t('Points')} ${entry.description && html`<small>${entry.description}</small>`}`,
          amount: plural(entry.total, '{count} point', '{count} points'),
        },
      }
    }),
  ]
  return [...Map.groupBy(events, ({ purchase }) => purchase).values()].flatMap(([first, ...others]) =>
    first
      ? {
          ...first.event,
          kind: 'purchase',
          related: others.map(({ event }) => event).sort((a, b) => compareNewestFirst(b, a)),
        }
      : [],
  )
}

/** @param {any[]} lines */
function countUnits(lines) {
  const units = lines.reduce((sum, { quantity }) => sum + quantity, 0)
  return plural(units, '{count} unit', '{count} units')
}

/** @param {any} voucher @param {any} email @returns {Event} */
function toEmailEvent({ number }, { id, status, queuedAt, sentAt, lastError }) {
  const link = html`<a href=${linkTo('search', 'voucher', number)}>${number}</a>`
  const state = html`<${State} state=${status} tone=${emailTones[status]} />`
  return {
    key: `email ${id}`,
    kind: 'voucher',
    at: sentAt ?? queuedAt,
    content: html`${rich('Email of voucher {link} {state}', { link, state })} ${lastError && html`<small>${lastError}</small>`}`,
  }
}
