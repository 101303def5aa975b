import { useEffect, useState } from 'preact/hooks'
import { formatMoney } from '../../components/format.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useHasRole } from '../../lib/role.js'
import { linkTo } from '../../lib/route.js'
import { Hours } from './hours.js'
import { useSection } from './sections.js'
import { StatCard } from './stat-card.js'

/**
 * Orders and sales of the day, the outstanding voucher balance, and the requests per minute of 24 hours.
 * @param {{ overview: import('./sections.js').Overview }} props
 */
export function Stats({ overview }) {
  const { data, isFailed } = useSection('stats', overview, signal =>
    callApi('/stats', { signal }).then(response => response.data),
  )
  const isAdmin = useHasRole('admin')
  if (isFailed) return html`<div class="empty">Today's numbers couldn't be loaded.</div>`
  if (!data)
    return html`<div class="stats"><div class="stat card"><span class="opening" role="status">Loading…</span></div></div>`
  return html`<div class="stats">
      <${MoneyCard} title="Orders today" sums=${data.orders} nouns=${['order', 'orders']} route="#orders" />
      <${MoneyCard} title="Sales today" sums=${data.sales} nouns=${['sale', 'sales']} route="#sales?filter=today" />
      ${data.vouchers && html`<${MoneyCard} title="Outstanding voucher balance" sums=${data.vouchers} nouns=${['voucher', 'vouchers']} route=${isAdmin ? '#vouchers?filter=active' : '#search'} />`}
    </div>
    <${Hours} hours=${data.hours} currency=${data.sales[0]?.currency ?? data.orders[0]?.currency ?? ''} />
    <${Requests} requests=${data.requests} />`
}

/**
 * A total, with those of further currencies below it.
 * @param {{ title: string, sums: { currency: string, count: number, total: string }[], nouns: [singular: string, plural: string], route: string }} props
 */
function MoneyCard({ title, sums, nouns: [singular, plural], route }) {
  const [first, ...further] = sums.map(({ currency, total }) => formatMoney(total, currency))
  const count = sums.reduce((total, entry) => total + entry.count, 0)
  const countText = count === 0 ? 'none yet' : `${count.toLocaleString('en')} ${count === 1 ? singular : plural}`
  const text = [countText, ...further].join(', ')
  return html`<${StatCard} title=${title} route=${route} number=${first ?? '0'} text=${text} tone="idle" />`
}

/** @param {{ requests: { since: string, answered: number[], rejected: number[], failed: number[] } }} props */
function Requests({ requests: { since, answered, rejected, failed } }) {
  const isAdmin = useHasRole('admin')
  const [Chart, setChart] = useState(/** @type {any} */ (undefined))
  // Loads the chart library after the first numbers are shown.
  useEffect(() => {
    import('../../components/chart.js').then(({ Chart: Component }) => setChart(() => Component))
  }, [])
  const startSeconds = Date.parse(since) / 1_000
  // The current minute is incomplete and would look like a drop.
  const toCompleted = (/** @type {number[]} */ minutes) => minutes.slice(0, -1)
  const sum = (/** @type {number[]} */ minutes) =>
    minutes.reduce((total, count) => total + count, 0).toLocaleString('en')
  const name = 'Requests per minute'
  const summary = answered.some(Boolean)
    ? ` · 24 h · ${sum(answered)} total · ${sum(rejected)} client errors (4xx) · ${sum(failed)} server errors (5xx)`
    : ' · 24 h · none'
  return html`<div class="chart-place">
    ${
      Chart
        ? html`<${Chart}
            title=${html`${isAdmin ? html`<a href=${linkTo('requests')}>${name}</a>` : name}<small>${summary}</small>`}
            name=${name + summary}
            times=${toCompleted(answered).map((_, i) => startSeconds + 60 * i)}
            lines=${[
              { title: 'all', colour: 'muted', values: toCompleted(answered) },
              { title: 'client errors (4xx)', colour: 'warn', values: toCompleted(rejected) },
              { title: 'server errors (5xx)', colour: 'bad', values: toCompleted(failed) },
            ]}
          />`
        : html`<p class="opening" role="status">Drawing…</p>`
    }
  </div>`
}
