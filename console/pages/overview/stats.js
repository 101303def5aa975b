import { useRange } from '../../components/bars.js'
import { formatMoney } from '../../components/format.js'
import { RequestChart } from '../../components/request-chart.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useHasRole } from '../../lib/role.js'
import { linkTo, linkToList } from '../../lib/route.js'
import { plural, t } from '../../lib/text.js'
import { linkToInterval } from '../requests/search.js'
import { Amounts } from './amounts.js'
import { useSection } from './sections.js'
import { StatCard } from './stat-card.js'

/**
 * Orders and sales of the day, the outstanding voucher balance, and the requests by time.
 * @param {{ overview: import('./sections.js').Overview }} props
 */
export function Stats({ overview }) {
  const { data, isFailed } = useSection('stats', overview, signal =>
    callApi('/stats', { signal }).then(response => response.data),
  )
  const isAdmin = useHasRole('admin')
  const { range, tools } = useRange()
  if (isFailed) return html`<div class="empty">Today's numbers couldn't be loaded.</div>`
  if (!data)
    return html`<div class="stats"><div class="stat card"><span class="opening" role="status">Loading…</span></div></div>`
  return html`<div class="stats">
      <${MoneyCard} title="Orders today" sums=${data.orders} formatCount=${(/** @type {number} */ count) => plural(count, '{count} order', '{count} orders')} route=${linkToList('orders', { filter: 'today' })} />
      <${MoneyCard} title="Sales today" sums=${data.sales} formatCount=${(/** @type {number} */ count) => plural(count, '{count} sale', '{count} sales')} route=${linkToList('sales', { filter: 'today' })} />
      ${data.vouchers && html`<${MoneyCard} title="Outstanding voucher balance" sums=${data.vouchers} formatCount=${(/** @type {number} */ count) => plural(count, '{count} voucher', '{count} vouchers')} route=${isAdmin ? linkToList('vouchers', { filter: 'active' }) : linkTo('search')} />`}
    </div>
    <${Amounts} overview=${overview} range=${range} tools=${tools} />
    <${RequestChart} range=${range} tools=${tools} title=${isAdmin ? html`<a href=${linkTo('requests')}>API requests</a>` : t('API requests')} minute=${overview.minute} link=${isAdmin ? linkToInterval : undefined} />`
}

/**
 * A total, with those of further currencies below it.
 * @param {{ title: string, sums: { currency: string, count: number, total: string }[], formatCount: (count: number) => string, route: string }} props
 */
function MoneyCard({ title, sums, formatCount, route }) {
  const [first, ...further] = sums.map(({ currency, total }) => formatMoney(total, currency))
  const count = sums.reduce((total, entry) => total + entry.count, 0)
  const countText = count === 0 ? t('none yet') : formatCount(count)
  const text = [countText, ...further].join(', ')
  return html`<${StatCard} title=${title} route=${route} number=${first ?? '0'} text=${text} tone="idle" />`
}
