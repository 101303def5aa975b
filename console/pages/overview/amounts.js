import { Bars } from '../../components/bars.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo, linkToList, useQueryValue } from '../../lib/route.js'
import { formatNumber, plural, rich, t } from '../../lib/text.js'
import { useSection } from './sections.js'

/**
 * Amounts by interval, with those before: `GET /console/sales/intervals`.
 * @typedef {{ from: string, until: string, count: number, total: string, previous: string }} Interval
 * @typedef {{ intervals: Interval[], count: number, total: string, previous: string }} Sums
 */

/** The names of a range, and of the one that it is compared with. @type {Record<string, [current: string, previous: string]>} */
const names = {
  '1h': [t('last hour'), t('a week before')],
  '24h': [t('last 24 hours'), t('a week before')],
  '7d': [t('last 7 days'), t('the week before')],
  '30d': [t('last 30 days'), t('the 30 days before')],
}

/** @type {Record<string, { title: string, format: (count: number) => string }>} */
const lists = {
  sales: { title: t('Sales'), format: count => plural(count, '{count} sale', '{count} sales') },
  orders: { title: t('Orders'), format: count => plural(count, '{count} order', '{count} orders') },
}

/**
 * Sales or orders by time, next to those before. Each bar opens its records.
 * @param {{ overview: import('./sections.js').Overview, range: string, tools: unknown }} props
 */
export function Amounts({ overview, range, tools }) {
  const [chart, show] = useQueryValue('chart', 'sales')
  const shown = chart === 'orders' ? 'orders' : 'sales'
  // Long ranges change slowly, and the sums of many records take longer.
  const turn = range === '1h' || range === '24h' ? overview.minute : Math.floor(overview.minute / 10)
  const { data, isFailed } = useSection(
    'amounts',
    { ...overview, minute: turn },
    async signal => ({
      range,
      ...(await callApi(`/console/sales/intervals?range=${range}`, { signal })).data,
    }),
    [range],
  )
  if (isFailed) return html`<div class="empty">Sales and orders couldn't be loaded.</div>`
  if (!data) return html`<p class="opening" role="status">Loading…</p>`
  const { title, format: formatCount } = /** @type {typeof lists[string]} */ (lists[shown])
  /** @type {Sums} */
  const { intervals, count, total, previous } = data[shown]
  const format = (/** @type {number} */ amount) => `${data.currency} ${formatNumber(Math.round(amount))}`
  const [current = '', before = ''] = names[data.range] ?? []
  const change =
    Number(previous) > 0 ? Math.round((100 * (Number(total) - Number(previous))) / Number(previous)) : undefined
  const comparison =
    change === undefined
      ? t('nothing to compare with {before}', { before })
      : t('{change} % against {before}', {
          change: `${change >= 0 ? '▲' : '▼'} ${formatNumber(Math.abs(change))}`,
          before,
        })
  return html`<${Bars}
    title=${html`<span class="chips" role="group" aria-label="Chart">
      ${Object.entries(lists).map(([name, list]) => html`<button key=${name} aria-pressed=${shown === name} onClick=${() => show(name)}>${list.title}</button>`)}
    </span>`}
    name=${title}
    summary=${`${format(Number(total))} · ${formatCount(count)} · ${comparison}`}
    times=${intervals.map(({ from }) => from)}
    series=${[
      { title: before, colour: 'muted', values: intervals.map(interval => Number(interval.previous)) },
      { title: current, colour: 'accent', values: intervals.map(interval => Number(interval.total)) },
    ]}
    isGrouped
    format=${format}
    note=${(/** @type {number} */ i) => formatCount(intervals[i]?.count ?? 0)}
    link=${(/** @type {number} */ i) => linkToList(shown, { from: intervals[i]?.from ?? '', until: intervals[i]?.until ?? '' })}
    tools=${tools}
    empty=${rich('Nothing in this range or the one before. <link>Show all</link>', { link: content => html`<a href=${linkTo(shown)}>${content}</a>` })}
  />`
}
