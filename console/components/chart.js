import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { html } from '../lib/html.js'

/** The styles of uPlot, which only those get who look at a chart. */
const styles = new URL('../packages/uplot.css', import.meta.url).href

/** Times of an axis: of one day by the clock, of several by the day. @param {number[]} times seconds since 1970 */
function formatTimes(times) {
  const isOneDay = (times.at(-1) ?? 0) - (times[0] ?? 0) < 86_400
  const format = new Intl.DateTimeFormat(
    'en-GB',
    isOneDay ? { timeStyle: 'short' } : { day: 'numeric', month: 'short' },
  )
  return times.map(time => format.format(time * 1_000))
}

/**
 * Lines over time. What they show is also said in words or in a table beside it: a canvas is nothing to who hears the page.
 * @param {{
 *   title: unknown, name?: string, unit?: string, times: number[],
 *   lines: { title: string, colour: 'accent' | 'muted' | 'warn' | 'bad', values: (number | null)[] }[],
 * }} props `times`: seconds since 1970; `name`: the title as text; null: there is nothing at that time
 */
export function Chart({ title, name = String(title), unit = '', times, lines }) {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null))
  useEffect(() => {
    const inside = place.current
    if (!inside) return
    if (!document.querySelector(`link[href="${styles}"]`))
      document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: styles }))
    /** @param {string} ink */
    const colour = ink => {
      const probe = Object.assign(document.createElement('span'), { className: `ink ${ink}` })
      inside.append(probe)
      const found = getComputedStyle(probe).color
      probe.remove()
      return found
    }
    // All of it in the size of the words around it.
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
    const axis = {
      stroke: colour('muted'),
      font: `${0.8 * rem}px ${getComputedStyle(inside).fontFamily}`,
      ticks: { show: false },
    }
    const size = () => ({ width: inside.clientWidth, height: inside.clientHeight })
    const chart = new uPlot(
      {
        ...size(),
        // The last time stands in the middle under its line.
        padding: [0.6 * rem, 1.4 * rem, 0, 0],
        legend: { show: false },
        series: [
          {},
          ...lines.map(line => ({
            stroke: colour(line.colour),
            width: (lines.length > 1 ? 0.07 : 0.13) * rem,
            points: { size: 0.35 * rem },
          })),
        ],
        // From nothing on, also where there is nothing; counts have no halves.
        scales: { y: { range: (_, __, most) => [0, Math.max(most, unit ? 1 : 4) * 1.05] } },
        axes: [
          { ...axis, grid: { show: false }, size: 1.9 * rem, space: 5 * rem, values: (_, times) => formatTimes(times) },
          {
            ...axis,
            grid: { stroke: colour('line'), width: 1 },
            size: (unit ? 4.8 : 3) * rem,
            space: 2.2 * rem,
            values: (_, values) => values.map(value => `${value.toLocaleString('en')} ${unit}`.trim()),
          },
        ],
      },
      [times, ...lines.map(({ values }) => values)],
      inside,
    )
    const watch = new ResizeObserver(() => chart.setSize(size()))
    watch.observe(inside)
    return () => {
      watch.disconnect()
      chart.destroy()
    }
  }, [times, lines])
  return html`<figure class="card">
    <figcaption>${title}</figcaption>
    ${lines.length > 1 && html`<ul class="legend">${lines.map(line => html`<li key=${line.title} class=${line.colour}>${line.title}</li>`)}</ul>`}
    <div class="chart" role="img" aria-label=${`${name}, ${times.length} points`} ref=${place}></div>
  </figure>`
}
