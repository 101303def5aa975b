import { useState } from 'preact/hooks'
import { html } from '../../lib/html.js'
import { t } from '../../lib/text.js'

/** Amounts. @typedef {{ today: string[], lastWeek: string[] }} HourSums */

/** @param {number[]} amounts */
const sum = amounts => amounts.reduce((total, amount) => total + amount, 0)
/** @param {number} hour */
const formatHour = hour => `${String(hour).padStart(2, '0')}:00`

/** Sales or orders by hour, next to the same day last week. @param {{ hours: { sales: HourSums, orders: HourSums }, currency: string }} props */
export function Hours({ hours, currency }) {
  const format = (/** @type {number} */ amount) => `${currency} ${Math.round(amount).toLocaleString('en')}`.trim()
  const [shown, setShown] = useState(/** @type {'sales' | 'orders'} */ ('sales'))
  const [hovered, setHovered] = useState(/** @type {number | undefined} */ (undefined))
  const [today, lastWeek] = [hours[shown].today.map(Number), hours[shown].lastWeek.map(Number)]
  const highest = Math.max(1, ...today, ...lastWeek)
  const [total, before] = [sum(today), sum(lastWeek.slice(0, today.length))]
  const change = before > 0 ? Math.round((100 * (total - before)) / before) : undefined
  const comparison =
    change === undefined
      ? t('nothing to compare last week')
      : `${change >= 0 ? '▲' : '▼'} ${Math.abs(change)} % against last week until now`
  const text =
    hovered === undefined
      ? `${format(total)} so far · ${comparison}`
      : `${formatHour(hovered)} · today ${hovered < today.length ? format(today[hovered] ?? 0) : '–'} · last week ${format(lastWeek[hovered] ?? 0)}`
  const height = (/** @type {number} */ amount) => ({ height: `${Math.max(0, (100 * amount) / highest)}%` })
  const titles = /** @type {const} */ ({ sales: t('Sales'), orders: t('Orders') })
  return html`<figure class="card hours">
    <figcaption>${titles[shown]} by hour<small> · ${text}</small>
      <span class="chips" role="group" aria-label="Chart">
        ${/** @type {const} */ (['sales', 'orders']).map(name => html`<button key=${name} aria-pressed=${shown === name} onClick=${() => setShown(name)}>${titles[name]}</button>`)}
      </span>
    </figcaption>
    <ul class="legend"><li class="accent">today</li><li>same day last week</li></ul>
    <div class="bars" role="img" aria-label=${`${titles[shown]} by hour: ${format(total)} today, ${comparison}`} onPointerLeave=${() => setHovered(undefined)}>
      ${lastWeek.map(
        (
          amount,
          hour,
        ) => html`<div key=${hour} class=${hour === hovered ? 'hovered' : undefined} onPointerEnter=${() => setHovered(hour)}>
          <span class="column week" style=${height(amount)}></span>
          <span class="column today" style=${height(today[hour] ?? 0)}></span>
          ${hour % 6 === 0 && html`<small>${formatHour(hour)}</small>`}
        </div>`,
      )}
    </div>
  </figure>`
}
