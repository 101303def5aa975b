import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { html } from '../ground/html.js'

/** The styles of uPlot, which only those get who look at a chart. */
const styles = new URL('../packages/uplot.css', import.meta.url).href

/** Times of an axis: of one day by the clock, of several by the day. @param {number[]} times seconds since 1970 */
function clock(times) {
  const isOneDay = (times.at(-1) ?? 0) - (times[0] ?? 0) < 86_400
  const format = new Intl.DateTimeFormat(
    'en-GB',
    isOneDay ? { timeStyle: 'short' } : { day: 'numeric', month: 'short' },
  )
  return times.map(time => format.format(time * 1_000))
}

/**
 * A line over time. What it shows is also in a table beside it: a canvas is nothing to who hears the page.
 * @param {{ title: string, unit: string, points: [seconds: number, value: number][] }} props seconds since 1970
 */
export function Chart({ title, unit, points }) {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null))
  useEffect(() => {
    const inside = place.current
    if (!inside) return
    if (!document.querySelector(`link[href="${styles}"]`))
      document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: styles }))
    /** @param {string} name */
    const colour = name => {
      const probe = Object.assign(document.createElement('span'), { className: `ink ${name}` })
      inside.append(probe)
      const found = getComputedStyle(probe).color
      probe.remove()
      return found
    }
    const axis = { stroke: colour('muted'), grid: { stroke: colour('line'), width: 1 }, ticks: { show: false } }
    const chart = new uPlot(
      {
        width: inside.clientWidth,
        height: 180,
        legend: { show: false },
        series: [{}, { stroke: colour('accent'), width: 2, points: { size: 5 } }],
        axes: [
          { ...axis, size: 28, values: (_, times) => clock(times) },
          { ...axis, size: 60, values: (_, values) => values.map(value => `${value} ${unit}`) },
        ],
      },
      [points.map(([at]) => at), points.map(([, value]) => value)],
      inside,
    )
    const watch = new ResizeObserver(() => chart.setSize({ width: inside.clientWidth, height: 180 }))
    watch.observe(inside)
    return () => {
      watch.disconnect()
      chart.destroy()
    }
  }, [points])
  return html`<figure class="card">
    <figcaption>${title}</figcaption>
    <div class="chart" role="img" aria-label=${`${title}, ${points.length} points`} ref=${place}></div>
  </figure>`
}
