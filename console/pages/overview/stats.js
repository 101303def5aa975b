import { useEffect, useState } from 'preact/hooks'
import { formatMoney } from '../../components/format.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useHasRole } from '../../lib/role.js'
import { linkTo } from '../../lib/route.js'
import { useSection } from './sections.js'
import { StatCard } from './stat-card.js'

/**
 * The day in numbers: orders, sales, vouchers, and the requests of 24 hours by the minute.
 * @param {{ overview: import('./sections.js').Overview }} props
 */
export function Stats({ overview }) {
  const { data, isLacking } = useSection('stats', overview, signal =>
    callApi('/stats', { signal }).then(answer => answer.data),
  )
  if (isLacking) return html`<div class="empty">The day's figures are not known.</div>`
  if (!data)
    return html`<div class="figures"><div class="figure card"><span class="opening" role="status">Loading…</span></div></div>`
  return html`<div class="figures">
      <${MoneyCard} title="Orders today" sums=${data.orders} what=${['order', 'orders']} place=${['search']} />
      <${MoneyCard} title="Sales today" sums=${data.sales} what=${['sale', 'sales']} place=${['syncs', 'transactions']} />
      ${data.vouchers && html`<${MoneyCard} title="Owed for vouchers" sums=${data.vouchers} what=${['voucher', 'vouchers']} place=${['search', 'voucher']} />`}
    </div>
    <${Requests} requests=${data.requests} />`
}

/**
 * A sum of each currency.
 * @param {{ title: string, sums: { currency: string, count: number, total: string }[], what: [one: string, many: string], place: string[] }} props
 */
function MoneyCard({ title, sums, what: [one, many], place }) {
  const [first, ...others] = sums.map(({ currency, total }) => formatMoney(total, currency))
  const count = sums.reduce((all, each) => all + each.count, 0)
  const counted = count === 0 ? 'none yet' : `${count.toLocaleString('en')} ${count === 1 ? one : many}`
  const words = [counted, ...others].join(', ')
  return html`<${StatCard} title=${title} place=${place} number=${first ?? '0'} words=${words} tone="idle" />`
}

/** @param {{ requests: { since: string, answered: number[], rejected: number[], failed: number[] } }} props */
function Requests({ requests: { since, answered, rejected, failed } }) {
  const mayLook = useHasRole('admin')
  const [Chart, setChart] = useState(/** @type {any} */ (undefined))
  // It comes once the first figures are there.
  useEffect(() => {
    import('../../components/chart.js').then(({ Chart }) => setChart(() => Chart))
  }, [])
  const begun = Date.parse(since) / 1_000
  // The minute that is under way would look like a fall.
  const ended = (/** @type {number[]} */ minutes) => minutes.slice(0, -1)
  const sum = (/** @type {number[]} */ minutes) => minutes.reduce((all, each) => all + each, 0).toLocaleString('en')
  const [what, told] = [
    'Requests by the minute',
    answered.some(Boolean)
      ? `, 24 hours: ${sum(answered)}, of which ${sum(rejected)} were rejected and ${sum(failed)} failed`
      : ', 24 hours: none',
  ]
  return html`<div class="chart-place">
    ${
      Chart
        ? html`<${Chart}
            title=${html`${mayLook ? html`<a href=${linkTo('requests')}>${what}</a>` : what}<small>${told}</small>`}
            name=${what + told}
            times=${ended(answered).map((_, i) => begun + 60 * i)}
            lines=${[
              { title: 'all', colour: 'muted', values: ended(answered) },
              { title: 'rejected (4xx)', colour: 'warn', values: ended(rejected) },
              { title: 'failed (5xx)', colour: 'bad', values: ended(failed) },
            ]}
          />`
        : html`<p class="opening" role="status">Drawing…</p>`
    }
  </div>`
}
