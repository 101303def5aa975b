import { formatDuration } from 'tillbridge/health'
import { Bars } from '../../components/bars.js'
import { html } from '../../lib/html.js'
import { plural, t } from '../../lib/text.js'

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
    ? t('nothing waits')
    : isBacklogComplete
      ? plural(backlog, '{count} change waits', '{count} changes wait')
      : plural(backlog, 'more than {count} change waits', 'more than {count} changes wait')

/** Formats the time until the next attempt. @param {Deliveries} deliveries */
export function formatNextAttempt({ nextAttemptAt, failures }) {
  if (nextAttemptAt === null) return null
  const seconds = (Date.parse(nextAttemptAt) - Date.now()) / 1_000
  const due = seconds > 1 ? t('in {duration}', { duration: formatDuration(seconds) }) : t('now')
  return failures
    ? plural(failures, '{due}, after {count} failure in a row', '{due}, after {count} failures in a row', { due })
    : due
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
    ? t('{success} delivered · {delivered} delivered, {failed} failed', { success, delivered, failed })
    : t('no attempts')
  return html`<${Bars}
    title="Attempts"
    name=${t('Attempts')}
    summary=${summary}
    times=${intervals.map(({ at }) => at)}
    series=${[
      { title: t('delivered'), colour: 'good', values: intervals.map(interval => interval.delivered) },
      { title: t('failed'), colour: 'bad', values: intervals.map(interval => interval.failed) },
    ]}
    note=${(/** @type {number} */ i) => {
      const p95 = intervals[i]?.p95
      return typeof p95 === 'number' ? t('95 % within {p95} ms', { p95 }) : undefined
    }}
    tools=${tools}
  />`
}
