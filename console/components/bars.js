import { useState } from 'preact/hooks'
import { html } from '../lib/html.js'
import { formatTick, formatTime } from '../lib/time.js'

/**
 * `title`: in the legend; `values`: one per bar.
 * @typedef {{ title: string, colour: 'accent' | 'muted' | 'good' | 'warn' | 'bad', values: number[] }} BarSeries
 */

/**
 * `times`: the starts of the intervals, RFC 3339. `note`: more about an interval.
 * @typedef {{ title: unknown, name: string, summary: string, times: string[], series: BarSeries[], tools?: unknown }} BarsData
 * @typedef {{ note?: (index: number) => string | undefined, link?: (index: number) => string }} BarsBehaviour
 */

/**
 * Stacked bars, one per interval. The line below the title has the values under the pointer. Each bar can be a link.
 * @param {BarsData & BarsBehaviour} props
 */
export function Bars({ title, name, summary, times, series, tools, note, link }) {
  const [hovered, setHovered] = useState(/** @type {number | undefined} */ (undefined))
  const totals = times.map((_, i) => series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0))
  const highest = Math.max(1, ...totals)
  const isShort = Date.parse(times.at(-1) ?? '') - Date.parse(times[0] ?? '') < 86_400_000
  const ticks = Math.max(1, Math.ceil(times.length / 4))
  const at = hovered ?? -1
  const text =
    hovered === undefined
      ? summary
      : [
          formatTime(times[at] ?? ''),
          ...series.map(each => `${each.title} ${(each.values[at] ?? 0).toLocaleString('en')}`),
          note?.(at),
        ]
          .filter(Boolean)
          .join(' · ')
  return html`<figure class="card intervals">
    <figcaption>${title}${tools && html`<span class="aside">${tools}</span>`}</figcaption>
    <p class="values"><small>${text}</small></p>
    <ul class="legend">${series.map(each => html`<li key=${each.title} class=${each.colour}>${each.title}</li>`)}<li class="time">highest ${highest.toLocaleString('en')}</li></ul>
    <div class="bars stacked" style=${{ gridTemplateColumns: `repeat(${times.length}, minmax(0, 1fr))` }} role="img" aria-label=${`${name}: ${summary}`} onPointerLeave=${() => setHovered(undefined)}>
      ${times.map(
        (time, i) => html`<div
          key=${time} class=${[i === hovered && 'hovered', link && 'opens'].filter(Boolean).join(' ') || undefined}
          onPointerEnter=${() => setHovered(i)}
          onClick=${
            link &&
            (() => {
              location.hash = link(i)
            })
          }
        >
          ${series.map(({ values, colour }) =>
            values[i]
              ? html`<span class=${`column ${colour}`} style=${{ height: `${(100 * (values[i] ?? 0)) / highest}%` }}></span>`
              : '',
          )}
          ${i % ticks === 0 && html`<small>${formatTick(time, isShort)}</small>`}
        </div>`,
      )}
    </div>
  </figure>`
}

/** @type {[string, string][]} */
const rangeTitles = [
  ['1h', '1 h'],
  ['24h', '24 h'],
  ['7d', '7 d'],
  ['30d', '30 d'],
]

/** The range of charts. @param {{ range: string, change: (range: string) => void }} props */
export const Ranges = ({ range, change }) => html`<span class="chips" role="group" aria-label="Range">
  ${rangeTitles.map(([name, title]) => html`<button key=${name} aria-pressed=${range === name} onClick=${() => change(name)}>${title}</button>`)}
</span>`
