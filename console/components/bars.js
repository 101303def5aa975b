import { useState } from 'preact/hooks'
import { html } from '../lib/html.js'
import { useQueryValue } from '../lib/route.js'
import { formatNumber, t } from '../lib/text.js'
import { formatTick, formatTime } from '../lib/time.js'

/**
 * `title`: in the legend; `values`: one per bar.
 * @typedef {{ title: string, colour: 'accent' | 'muted' | 'good' | 'warn' | 'bad', values: number[] }} BarSeries
 */

/**
 * `times`: the starts of the intervals, RFC 3339. `isGrouped`: the bars of an interval are next to each other instead of stacked. `note`: more
 * about an interval. `empty`: instead of bars without values.
 * @typedef {{ title: unknown, name: string, summary: string, times: string[], series: BarSeries[], isGrouped?: boolean, tools?: unknown }} BarsData
 * @typedef {{ format?: (value: number) => string, note?: (index: number) => string | undefined, link?: (index: number) => string, empty?: unknown }} BarsBehaviour
 */

/**
 * Bars by interval. The line below the title has the values of the bar under the pointer, or of the one that the arrow keys have chosen. Each bar
 * can be a link.
 * @param {BarsData & BarsBehaviour} props
 */
export function Bars({
  title,
  name,
  summary,
  times,
  series,
  isGrouped = false,
  tools,
  format = value => formatNumber(value),
  note,
  link,
  empty,
}) {
  const [chosen, setHovered] = useState(/** @type {number | undefined} */ (undefined))
  // Another range can have fewer bars.
  const hovered = chosen !== undefined && chosen < times.length ? chosen : undefined
  const totals = times.map((_, i) => {
    const values = series.map(part => part.values[i] ?? 0)
    return isGrouped ? Math.max(...values) : values.reduce((sum, value) => sum + value, 0)
  })
  const highest = Math.max(1, ...totals)
  const isShort = Date.parse(times.at(-1) ?? '') - Date.parse(times[0] ?? '') < 86_400_000
  const ticks = Math.max(1, Math.ceil(times.length / 4))
  const at = hovered ?? -1
  const text =
    hovered === undefined
      ? summary
      : [
          formatTime(times[at] ?? ''),
          ...series.map(part => `${part.title} ${format(part.values[at] ?? 0)}`),
          note?.(at),
        ]
          .filter(Boolean)
          .join(' · ')
  const open = (/** @type {number} */ i) => {
    if (link) location.hash = link(i)
  }
  const chooseBar = (/** @type {KeyboardEvent} */ { key }) => {
    if (key === 'ArrowLeft') setHovered(Math.max(0, (hovered ?? times.length) - 1))
    if (key === 'ArrowRight') setHovered(Math.min(times.length - 1, at + 1))
    if (key === 'Enter' && hovered !== undefined) open(hovered)
  }
  return html`<figure class="card intervals">
    <figcaption>${title}${tools && html`<span class="aside">${tools}</span>`}</figcaption>
    <p class="values" aria-live=${hovered === undefined ? 'off' : 'polite'}><small>${text}</small></p>
    ${
      totals.every(total => total === 0)
        ? html`<div class="empty">${empty ?? t('Nothing in this range')}</div>`
        : html`<ul class="legend">${series.map(part => html`<li key=${part.title} class=${part.colour}>${part.title}</li>`)}<li class="time">${t('highest {value}', { value: format(highest) })}</li></ul>
    <div class=${isGrouped ? 'bars' : 'bars stacked'} style=${{ gridTemplateColumns: `repeat(${times.length}, minmax(0, 1fr))` }} role=${link ? 'group' : 'img'} tabindex=${link && 0} aria-label=${`${name}: ${summary}`} onKeyDown=${link && chooseBar} onBlur=${() => setHovered(undefined)} onPointerLeave=${() => setHovered(undefined)}>
      ${times.map(
        (time, i) => html`<div
          key=${time} class=${[i === hovered && 'hovered', link && 'opens'].filter(Boolean).join(' ') || undefined}
          onPointerEnter=${() => setHovered(i)}
          onClick=${link && (() => open(i))}
        >
          ${series.map(({ values, colour }) =>
            isGrouped || values[i]
              ? html`<span class=${`column ${colour}`} style=${{ height: `${Math.max(0, (100 * (values[i] ?? 0)) / highest)}%` }}></span>`
              : '',
          )}
          ${i % ticks === 0 && html`<small>${formatTick(time, isShort)}</small>`}
        </div>`,
      )}
    </div>`
    }
  </figure>`
}

/** @type {[string, string][]} */
const rangeTitles = [
  ['1h', '1 h'],
  ['24h', '24 h'],
  ['7d', '7 d'],
  ['30d', '30 d'],
]

const defaultRange = '24h'

/** @param {{ range: string, change: (range: string) => void }} props */
const Ranges = ({ range, change }) => html`<span class="chips" role="group" aria-label="Range">
  ${rangeTitles.map(([name, title]) => html`<button key=${name} aria-pressed=${range === name} onClick=${() => change(name)}>${title}</button>`)}
</span>`

/** The range of the charts of a screen, which is in the address. `keepRange` adds it to a link. @returns {{ range: string, tools: unknown, keepRange: (link: string) => string }} */
export function useRange() {
  const [value, change] = useQueryValue('range', defaultRange)
  const range = rangeTitles.some(([name]) => name === value) ? value : defaultRange
  return {
    range,
    tools: html`<${Ranges} range=${range} change=${change} />`,
    keepRange: link => (range === defaultRange ? link : `${link}?range=${range}`),
  }
}
