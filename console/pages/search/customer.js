import { useState } from 'preact/hooks'
import { SubmitButton } from '../../components/button.js'
import { Checkbox, onSubmit } from '../../components/field.js'
import { Facts, formatMoney, renderLocalTime, State } from '../../components/format.js'
import { Problem } from '../../components/problem.js'
import { RecordEdit } from '../../components/record-edit.js'
import { useAction, useLoad } from '../../components/use-load.js'
import { callApi, findRecord, loadAll } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useHasRole } from '../../lib/role.js'
import { formatNumber, t } from '../../lib/text.js'
import { formatDate, formatLocalTime, formatZone } from '../../lib/time.js'
import { Figures, formatAddress, Timeline } from './record.js'
import { buildEvents } from './timeline.js'

/** @type {[filter: string, label: string][]} */
const filters = [
  ['', t('All')],
  ['purchase', t('Purchases')],
  ['profile', t('Profile')],
  ['voucher', t('Vouchers')],
]

/** A customer with their figures and timeline, newest first. @param {{ id: string }} props */
export function Customer({ id }) {
  const isAdmin = useHasRole('admin')
  const [filter, setFilter] = useState('')
  const { data, error, reload } = useLoad(
    signal => (isAdmin ? loadAsAdmin(id, signal) : loadAsVisitor(id, signal)),
    [id],
  )
  if (error) return html`<${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Loading…</p>`
  const { customer, rewardAccount } = data
  const events = buildEvents(data)
  const kinds = new Set(events.map(({ kind }) => kind))
  const shown = events.filter(({ kind }) => !filter || kind === filter)
  return html`<section aria-label="Customer">
    <h2>${customer ? [customer.title, customer.firstname, customer.surname].filter(Boolean).join(' ') || t('No name') : t('Deleted customer')}</h2>
    <${Figures} figures=${summarize(data)} />
    ${
      customer &&
      html`<div class="card"><${Facts}
        facts=${[
          [t('Email'), breakBeforeAt(customer.contact.email), 'wide'],
          [
            t('Phones'),
            [customer.contact.phones.mobile, customer.contact.phones.home, customer.contact.phones.work]
              .filter(Boolean)
              .join(', '),
          ],
          [t('Address'), formatAddress(customer.address), 'wide'],
          [t('Date of birth'), formatDate(customer.dateOfBirth)],
          [
            t('Marketing'),
            html`<span class="choices">${renderConsent(customer.emailSubscription, t('email'))} ${renderConsent(customer.smsSubscription, t('SMS'))} ${customer.privacy ? html`<${State} state="no marketing" tone="warn" />` : ''}</span>`,
          ],
          [t('Loyalty'), [customer.loyaltyName, customer.loyaltyCode].filter(Boolean).join(' ')],
          [
            t('Points'),
            rewardAccount &&
              t('{points} in {program}', {
                points: rewardAccount.availablePoints,
                program: [rewardAccount.programName, rewardAccount.tierName].filter(Boolean).join(', '),
              }),
          ],
          [
            t('E-commerce ID'),
            [customer.ecommerceAdminId, customer.ecommerceLegacyId].filter(Boolean).join(', '),
            'wide',
          ],
          [t('Last updated'), renderLocalTime(customer.updateTimeStamp)],
          [t('Customer ID'), html`<code>${customer.id}</code>`],
        ]}
      />
      <p class="choices"><${RecordEdit} label="Edit consent" role="maintainer" path=${`/customers/${encodeURIComponent(id)}`} done=${reload} form=${ConsentForm} /></p>
      </div>`
    }
    <div class="tools">
      <h3>Timeline <small>${formatZone()}</small></h3>
      ${kinds.size > 1 && html`<span class="chips" role="group" aria-label="Filter the timeline">${filters.filter(([kind]) => !kind || kinds.has(kind)).map(([kind, label]) => html`<button key=${kind} aria-pressed=${filter === kind} onClick=${() => setFilter(kind)}>${label}</button>`)}</span>`}
    </div>
    ${data.warnings.map((/** @type {any} */ { code, detail }) => html`<p key=${code} class="note">${detail}</p>`)}
    ${!isAdmin && html`<p class="note">Only admins see profile changes, consent, vouchers, emails and cancelled returns.</p>`}
    ${events.length ? html`<${Timeline} events=${shown} />` : html`<div class="empty">No events yet</div>`}
  </section>`
}

const renderConsent = (/** @type {boolean} */ isGiven, /** @type {string} */ channel) =>
  html`<${State} state=${isGiven ? t('{channel} yes', { channel }) : t('{channel} no', { channel })} tone=${isGiven ? 'good' : 'idle'} />`

/** @param {{ record: any, save: (body: object) => Promise<void> }} props */
function ConsentForm({ record, save }) {
  const [consent, setConsent] = useState({
    emailSubscription: record.emailSubscription,
    smsSubscription: record.smsSubscription,
    privacy: record.privacy,
  })
  const { busy, error, run } = useAction()
  // The API applies the same rule: `privacy` and the subscriptions exclude each other.
  const subscribe = (/** @type {Partial<typeof consent>} */ changes) =>
    setConsent({ ...consent, ...changes, privacy: false })
  return html`<form onSubmit=${onSubmit(() => run(() => save(consent)))}>
    <p>Record only what the customer has agreed to. The change is kept with your username.</p>
    <${Checkbox} label="Emails" checked=${consent.emailSubscription} change=${(/** @type {boolean} */ emailSubscription) => subscribe({ emailSubscription })} />
    <${Checkbox} label="Text messages" checked=${consent.smsSubscription} change=${(/** @type {boolean} */ smsSubscription) => subscribe({ smsSubscription })} />
    <${Checkbox} label="No marketing at all" checked=${consent.privacy} change=${(/** @type {boolean} */ privacy) => setConsent(privacy ? { emailSubscription: false, smsSubscription: false, privacy } : { ...consent, privacy })} />
    <${SubmitButton} label="Save consent" busyLabel="Saving…" busy=${busy} error=${error} />
  </form>`
}

/** Returns summary figures: purchases, their value, the average and the last one. @param {any} data @returns {[title: string, value: string][]} */
function summarize({ transactions, orders }) {
  const sales = transactions.filter((/** @type {any} */ sale) => Number(sale.total) > 0)
  const currency = transactions[0]?.currency ?? orders[0]?.currency
  const inCurrency = transactions.filter((/** @type {any} */ sale) => sale.currency === currency)
  const spent = inCurrency.reduce(
    (/** @type {number} */ total, /** @type {any} */ sale) => total + Number(sale.total),
    0,
  )
  const dates = [
    ...sales.map((/** @type {any} */ sale) => sale.saleDate),
    ...orders.map((/** @type {any} */ order) => order.placedAt),
  ].sort()
  const average = sales.length ? spent / sales.length : 0
  return [
    [t('Lifetime spend'), currency ? (formatMoney(spent.toFixed(2), currency) ?? '') : '–'],
    [t('Purchases'), formatNumber(sales.length)],
    [t('Average purchase'), currency && sales.length ? (formatMoney(average.toFixed(2), currency) ?? '') : '–'],
    [t('Last purchase'), dates.length ? formatLocalTime(dates.at(-1)) : t('none')],
  ]
}

/** Renders an email address that can wrap before its @. @param {string | null} address */
const breakBeforeAt = address => address?.split('@').map((part, i) => (i ? html`<wbr />@${part}` : part))

/** Loads the customer's export and audit entries. @param {string} id @param {AbortSignal} signal */
async function loadAsAdmin(id, signal) {
  const path = `/customers/${encodeURIComponent(id)}`
  // The export has only stored sales. This request first fetches those of the back office. A deleted customer has none.
  const sales = await callApi(`${path}/transactions?limit=1`, { signal }).catch(error => {
    if (error.problem?.code === 'not_found') return { meta: {} }
    throw error
  })
  const [{ data }, audit] = await Promise.all([
    callApi(`${path}/export`, { signal }),
    loadAll(`/audit?record=${encodeURIComponent(path)}`, signal),
  ])
  return Object.assign(data, { audit: audit.data, warnings: sales.meta.warnings ?? [] })
}

/** Loads the parts of a customer that a visitor can read. @param {string} id @param {AbortSignal} signal */
async function loadAsVisitor(id, signal) {
  const path = `/customers/${encodeURIComponent(id)}`
  const [customer, orders, sales, rewardAccount] = await Promise.all([
    callApi(path, { signal }).then(({ data }) => data),
    loadAll(`${path}/orders`, signal),
    loadAll(`${path}/transactions`, signal),
    findRecord(`${path}/rewards`, { signal }).catch(() => undefined),
  ])
  const returnedOrders = orders.data.filter(({ lines }) => lines.some((/** @type {any} */ line) => line.returned > 0))
  const returns = await Promise.all(
    returnedOrders.map(order => loadAll(`/orders/${encodeURIComponent(order.id)}/returns`, signal)),
  )
  return {
    customer,
    orders: orders.data,
    returns: returns.flatMap(({ data }) => data),
    transactions: sales.data,
    rewardAccount,
    warnings: sales.warnings,
  }
}
