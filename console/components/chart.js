import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { html } from '../lib/html.js'
import { formatNumber, plural } from '../lib/text.js'
import { formatTick, formatTime } from '../lib/time.js'

/** uPlot's stylesheet, which is loaded with the first chart. */
const stylesheet = new URL('../packages/uplot.css', import.meta.url).href

/** @param {number} seconds since 1970 */
const toTimestamp = seconds => new Date(seconds * 1_000).toISOString()

/** Formats the times of an axis: as times if they span less than a day, otherwise as dates. @param {number[]} times seconds since 1970 */
function formatTimes(times) {
  const isShort = (times.at(-1) ?? 0) - (times[0] ?? 0) < 86_400
  return times.map(time => formatTick(toTimestamp(time), isShort))
}

/** @param {number | null | undefined} value @param {string} unit */
const formatValue = (value, unit) => (value == null ? '–' : `${formatNumber(value)} ${unit}`.trim())

/**
 * A line chart. The legend has the values under the pointer. Screen readers can't read a canvas, so a page must also show the data as text or a table.
 * @param {{
 *   title: unknown, name?: string, unit?: string, times: number[],
 *   lines: { title: string, colour: 'accent' | 'muted' | 'warn' | 'bad', values: (number | null)[], style?: 'dashed' | 'points' }[],
 * }} props `times`: seconds since 1970; `name`: the title as text; `values`: null draws no point
 */
export function Chart({ title, name = String(title), unit = '', times, lines }) {
  const [hovered, setHovered] = useState(/** @type {number | null} */ (null))
  const container = useRef(/** @type {HTMLDivElement | null} */ (null))
  useEffect(() => {
    const element = container.current
    if (!element) return
    if (!document.querySelector(`link[href="${stylesheet}"]`))
      document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: stylesheet }))
    /** Returns a colour of the theme. @param {string} property */
    const getColour = property => {
      const probe = Object.assign(document.createElement('span'), { className: `ink ${property}` })
      element.append(probe)
      const { color } = getComputedStyle(probe)
      probe.remove()
      return color
    }
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
    const axis = {
      stroke: getColour('muted'),
      // An integer, because uPlot scales only the digits after a decimal point on screens with a high pixel density.
      font: `${Math.round(0.8 * rem)}px ${getComputedStyle(element).fontFamily}`,
      ticks: { show: false },
    }
    const getSize = () => ({ width: element.clientWidth, height: element.clientHeight })
    const chart = new uPlot(
      {
        ...getSize(),
        // Leaves room for the right half of the last time label.
        padding: [0.6 * rem, 1.4 * rem, 0, 0],
        legend: { show: false },
        hooks: { setCursor: [plot => setHovered(plot.cursor.idx ?? null)] },
        series: [
          {},
          ...lines.map(line => ({
            stroke: getColour(line.colour),
            width: line.style === 'points' ? 0 : 0.13 * rem,
            ...(line.style === 'dashed' && { dash: [0.4 * rem, 0.4 * rem], width: 0.07 * rem }),
            points: line.style
              ? { show: line.style === 'points', size: 0.6 * rem, fill: getColour(line.colour) }
              : { size: 0.35 * rem },
          })),
        ],
        // Starts at 0. A count needs a range of at least 4, otherwise the axis would show fractions.
        scales: { y: { range: (_, __, max) => [0, Math.max(max, unit ? 1 : 4) * 1.05] } },
        axes: [
          {
            ...axis,
            grid: { show: false },
            size: 1.9 * rem,
            space: 5 * rem,
            values: (_, splits) => formatTimes(splits),
          },
          {
            ...axis,
            grid: { stroke: getColour('line'), width: 1 },
            size: (unit ? 4.8 : 3) * rem,
            space: 2.2 * rem,
            values: (_, values) => values.map(value => (value ? `${formatNumber(value)} ${unit}`.trim() : '0')),
          },
        ],
      },
      [times, ...lines.map(({ values }) => values)],
      element,
    )
    const observer = new ResizeObserver(() => chart.setSize(getSize()))
    observer.observe(element)
    return () => {
      observer.disconnect()
      chart.destroy()
    }
  }, [times, lines])
  return html`<figure class="card">
    <figcaption>${title}</figcaption>
    <ul class="legend">
      ${lines.map(line => html`<li key=${line.title} class=${line.colour}>${line.title}${hovered !== null && html` <b>${formatValue(line.values[hovered], unit)}</b>`}</li>`)}
      <li class="time">${hovered === null ? '' : formatTime(toTimestamp(times[hovered] ?? 0))}</li>
    </ul>
    <div class="chart" role="img" aria-label=${plural(times.length, '{name}, {count} point', '{name}, {count} points', { name })} ref=${container}></div>
  </figure>`
}
