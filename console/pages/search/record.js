import { Problem } from '../../components/problem.js'
import { useLoad } from '../../components/use-load.js'
import { callApi, findRecord } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { dateLocale } from '../../lib/text.js'
import { formatLocalTime } from '../../lib/time.js'

/**
 * Loads a record and shows it.
 * @param {{ path: string, load?: (signal: AbortSignal) => Promise<any>, show: (record: any, reload: () => void) => unknown }} props `load`: loads
 *   more than the record at the path
 */
export function LoadedRecord({ path, load = async signal => (await callApi(path, { signal })).data, show }) {
  const { data, error, reload } = useLoad(load, [path])
  if (error) return html`<${Problem} error=${error} />`
  return data ? show(data, reload) : html`<p class="opening" role="status">Loading…</p>`
}

/** The figures that sum up a record. @param {{ figures: [title: string, value: unknown][] }} props */
export const Figures = ({ figures }) =>
  html`<dl class="figures">${figures.map(([title, value]) => html`<div key=${title}><dt>${title}</dt><dd>${value}</dd></div>`)}</dl>`

/**
 * `related`: later events of the same purchase.
 * @typedef {{ key: string, at: string, content: unknown, amount?: unknown, kind?: string, related?: Event[] }} Event
 */

/** @param {Event} a @param {Event} b */
export const compareNewestFirst = (a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)

/** @param {string} at local time: `2026-11-27 01:40:00` */
const formatMonth = at =>
  new Intl.DateTimeFormat(dateLocale, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(`${at.slice(0, 7)}-01T00:00:00Z`),
  )

/** The events of a record, newest first, by month. @param {{ events: Event[] }} props */
export const Timeline = ({ events }) =>
  [...Map.groupBy(events, ({ at }) => at.slice(0, 7))].map(
    ([month, ofMonth]) => html`<section key=${month} class="month" aria-label=${formatMonth(month)}>
      <h4>${formatMonth(month)}</h4>
      <ol class="timeline">${ofMonth.map(renderEvent)}</ol>
    </section>`,
  )

/** @param {Event} event @returns {unknown} */
const renderEvent = ({ key, at, content, amount, related = [] }) => html`<li key=${key}>
  <time datetime=${at}>${formatLocalTime(at)}</time><div>${content}</div>${amount && html`<span class="amount">${amount}</span>`}
  ${related.length > 0 && html`<ol class="related">${related.map(renderEvent)}</ol>`}
</li>`

/** Returns the name of a customer for a link. Falls back to the ID. @param {string} id @param {AbortSignal} signal @returns {Promise<string>} */
export const loadCustomerName = (id, signal) =>
  findRecord(`/customers/${encodeURIComponent(id)}`, { signal }).then(
    customer => (customer && [customer.firstname, customer.surname].filter(Boolean).join(' ')) || id,
    () => id,
  )

/** True if the back office has a capability. @param {string} name @param {AbortSignal} signal */
export const hasCapability = async (name, signal) =>
  (await callApi('/capabilities', { signal })).data.capabilities.some(
    (/** @type {any} */ capability) => capability.name === name && capability.available,
  )

/** Formats an address on one line. @param {any} address */
export const formatAddress = address =>
  address &&
  ['contactName', 'companyName', 'addressLine1', 'addressLine2', 'city', 'state', 'postcode', 'country']
    .map(name => address[name])
    .filter(Boolean)
    .join(', ')
