import { formatDuration } from 'tillbridge/health'
import { Bars } from '../../components/bars.js'
import { html } from '../../lib/html.js'

/**
 * The deliveries of a webhook: `GET /console/webhooks/:id`.
 * @typedef {{
 *   backlog: number, isBacklogComplete: boolean, failures: number, nextAttemptAt: string | null, delivered: number, failed: number,
 *   intervals: { at: string, delivered: number, failed: number, p95: number | null }[],
 * }} Deliveries
 */

/** Formats the undelivered changes. @param {Deliveries} deliveries */
export const formatBacklog = ({ backlog, isBacklogComplete }) =>
  backlog === 0
    ? 'nothing waits'
    : `${isBacklogComplete ? '' : 'more than '}${backlog.toLocaleString('en')} ${backlog === 1 ? 'change waits' : 'changes wait'}`

/** Formats the time until the next attempt. @param {Deliveries} deliveries */
export function formatNextAttempt({ nextAttemptAt, failures }) {
  if (nextAttemptAt === null) return null
  const seconds = (Date.parse(nextAttemptAt) - Date.now()) / 1_000
  const due = seconds > 1 ? `in ${formatDuration(seconds)}` : 'now'
  return failures ? `${due}, after ${failures === 1 ? '1 failure' : `${failures} failures`} in a row` : due
}

/** Formats the share of successful attempts: `98 %`. @param {{ delivered: number, failed: number }} counts */
export const formatSuccess = ({ delivered, failed }) =>
  delivered + failed === 0 ? null : `${Math.floor((100 * delivered) / (delivered + failed))} %`

/** The attempts of a webhook by time. @param {{ deliveries: Deliveries, tools: unknown }} props */
export function DeliveryChart({ deliveries, tools }) {
  const { intervals } = deliveries
  const { delivered, failed } = intervals.reduce(
    (sum, interval) => ({ delivered: sum.delivered + interval.delivered, failed: sum.failed + interval.failed }),
    { delivered: 0, failed: 0 },
  )
  const success = formatSuccess({ delivered, failed })
  const summary = success
    ? `${success} delivered · ${delivered.toLocaleString('en')} delivered, ${failed.toLocaleString('en')} failed`
    : 'no attempts'
  return html`<${Bars}
    title="Attempts"
    name="Attempts"
    summary=${summary}
    times=${intervals.map(({ at }) => at)}
    series=${[
      { title: 'delivered', colour: 'good', values: intervals.map(interval => interval.delivered) },
      { title: 'failed', colour: 'bad', values: intervals.map(interval => interval.failed) },
    ]}
    note=${(/** @type {number} */ i) => {
      const p95 = intervals[i]?.p95
      return typeof p95 === 'number' ? `95 % within ${p95.toLocaleString('en')} ms` : undefined
    }}
    tools=${tools}
  />`
}
