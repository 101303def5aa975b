import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { plural, t } from '../lib/text.js'
import { Bars } from './bars.js'
import { Problem } from './problem.js'
import { useLoad } from './use-load.js'

/** @param {number | null} milliseconds */
const formatP95 = milliseconds =>
  milliseconds === null ? undefined : t('95 % within {milliseconds} ms', { milliseconds })

/**
 * API requests by time and result, without those of the console.
 * @param {{ title: unknown, range: string, tools: unknown, minute?: number, link?: (from: string, until: string) => string }} props `minute`: loads again if it changes; `link`: opens the requests of an interval
 */
export function RequestChart({ title, range, tools, minute = 0, link }) {
  const { data, error } = useLoad(
    signal => callApi(`/console/requests/intervals?range=${range}`, { signal }).then(response => response.data),
    [range, minute],
  )
  if (error) return html`<${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Loading…</p>`
  /** @type {{ at: string, answered: number, rejected: number, failed: number, p95: number | null }[]} */
  const intervals = data.intervals
  const sum = (/** @type {'answered' | 'rejected' | 'failed'} */ name) =>
    intervals.reduce((total, interval) => total + interval[name], 0)
  const counts = [
    plural(sum('answered'), '{count} request', '{count} requests'),
    plural(sum('rejected'), '{count} client error (4xx)', '{count} client errors (4xx)'),
    plural(sum('failed'), '{count} server error (5xx)', '{count} server errors (5xx)'),
    formatP95(data.p95),
  ]
  const times = intervals.map(({ at }) => at)
  const intervalMs = Date.parse(times[1] ?? '') - Date.parse(times[0] ?? '')
  const linkInterval = (/** @type {number} */ i) => {
    const from = times[i] ?? ''
    return link?.(from, new Date(Date.parse(from) + intervalMs).toISOString()) ?? ''
  }
  return html`<${Bars}
    title=${title}
    name=${t('API requests')}
    summary=${counts.filter(Boolean).join(' · ')}
    times=${times}
    series=${[
      {
        title: t('successful'),
        colour: 'muted',
        values: intervals.map(interval => interval.answered - interval.rejected - interval.failed),
      },
      { title: t('client errors (4xx)'), colour: 'warn', values: intervals.map(interval => interval.rejected) },
      { title: t('server errors (5xx)'), colour: 'bad', values: intervals.map(interval => interval.failed) },
    ]}
    note=${(/** @type {number} */ i) => formatP95(intervals[i]?.p95 ?? null)}
    link=${link && linkInterval}
    tools=${tools}
    empty=${t("No API requests in this range. Requests of the console aren't counted.")}
  />`
}
