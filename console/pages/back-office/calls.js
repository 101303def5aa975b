import { useMemo } from 'preact/hooks'
import { formatDuration } from 'tillbridge/health'
import { Bars } from '../../components/bars.js'
import { html } from '../../lib/html.js'
import { formatNumber, plural, t } from '../../lib/text.js'
import { formatTime } from '../../lib/time.js'
import { formatMs } from '../requests/format.js'

/** Calls by minute: `GET /stats/back-office-calls`. @typedef {{ since: string, calls: number[], failed: number[], average: number[], slowest: number[] }} CallMinutes */

const minutesPerInterval = 15

/** @param {number[]} numbers */
const sum = numbers => numbers.reduce((total, number) => total + number, 0)

/** @typedef {'idle' | 'up' | 'degraded' | 'down'} IntervalState */
const tones = /** @type {const} */ ({ idle: 'idle', up: 'good', degraded: 'warn', down: 'bad' })
const labels = /** @type {const} */ ({
  idle: t('no calls'),
  up: t('up'),
  degraded: t('some calls failed'),
  down: t('down'),
})

/** Returns the state of each quarter of an hour: down if at least half of its calls failed. @param {CallMinutes} minutes */
function buildTimeline({ since, calls, failed, average, slowest }) {
  const start = Date.parse(since)
  return Array.from({ length: Math.ceil(calls.length / minutesPerInterval) }, (_, i) => {
    const [from, until] = [i * minutesPerInterval, (i + 1) * minutesPerInterval]
    const counts = { calls: sum(calls.slice(from, until)), failed: sum(failed.slice(from, until)) }
    /** @type {IntervalState} */
    const state =
      counts.calls === 0 ? 'idle' : counts.failed === 0 ? 'up' : counts.failed * 2 < counts.calls ? 'degraded' : 'down'
    const totalMs = sum(calls.slice(from, until).map((count, j) => count * (average[from + j] ?? 0)))
    const responses = {
      average: counts.calls ? Math.round(totalMs / counts.calls) : 0,
      slowest: Math.max(0, ...slowest.slice(from, until)),
    }
    return { ...counts, ...responses, state, at: new Date(start + from * 60_000).toISOString() }
  })
}

/** Joins neighbouring intervals with failed calls. @param {ReturnType<typeof buildTimeline>} timeline */
function listOutages(timeline) {
  /** @type {{ at: string, state: IntervalState, intervals: number, calls: number, failed: number }[]} */
  const outages = []
  let isContinued = false
  for (const { at, state, calls, failed } of timeline) {
    const last = outages.at(-1)
    if (failed === 0) isContinued = false
    else if (isContinued && last) {
      last.intervals += 1
      last.calls += calls
      last.failed += failed
      if (state === 'down') last.state = state
    } else {
      outages.push({ at, state, intervals: 1, calls, failed })
      isContinued = true
    }
  }
  return outages.reverse()
}

/** The state of the back office over the last 24 hours, with its response times. @param {{ calls: CallMinutes }} props */
export function Calls({ calls }) {
  const timeline = useMemo(() => buildTimeline(calls), [calls])
  const outages = listOutages(timeline)
  const [total, failed] = [sum(calls.calls), sum(calls.failed)]
  if (total === 0)
    return html`<div class="empty">No calls in the last 24 hours. Start a sync, or test the connection.</div>`
  const percent = formatNumber((100 * failed) / total, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  const summary = plural(
    total,
    '{count} call, {failed} failed ({percent} %)',
    '{count} calls, {failed} failed ({percent} %)',
    { failed, percent },
  )
  const slowest = Math.max(...timeline.map(interval => interval.slowest))
  return html`<figure class="card">
      <figcaption>State in the last 24 hours <small>· ${summary}</small></figcaption>
      <ul class="legend">${Object.entries(labels).map(([state, label]) => html`<li key=${state} class=${tones[/** @type {IntervalState} */ (state)]}>${label}</li>`)}</ul>
      <div class="state-strip" role="img" aria-label=${plural(outages.length, 'State by quarter of an hour: {summary}, {count} outage', 'State by quarter of an hour: {summary}, {count} outages', { summary })}>
        ${timeline.map(({ at, state, ...counts }) => html`<span key=${at} class=${`interval ${tones[state]}`} title=${plural(counts.calls, '{time}: {state}, {count} call, {failed} failed', '{time}: {state}, {count} calls, {failed} failed', { time: formatTime(at), state: labels[state], failed: counts.failed })}></span>`)}
      </div>
      ${
        outages.length > 0 &&
        html`<ol class="timeline">
        ${outages.map(
          outage =>
            html`<li key=${outage.at}><time datetime=${outage.at}>${formatTime(outage.at)}</time><div>${renderOutage(outage)}</div></li>`,
        )}
      </ol>`
      }
    </figure>
    <${Bars}
      title="Response time"
      name=${t('Response time')}
      summary=${t('slowest {slowest}, by quarter of an hour', { slowest: formatMs(slowest) })}
      times=${timeline.map(({ at }) => at)}
      series=${[
        { title: t('slowest'), colour: 'muted', values: timeline.map(interval => interval.slowest) },
        { title: t('average'), colour: 'accent', values: timeline.map(interval => interval.average) },
      ]}
      isGrouped
      format=${formatMs}
      note=${(/** @type {number} */ i) => describeCalls(timeline[i])}
    />`
}

/** @param {ReturnType<typeof buildTimeline>[number] | undefined} interval */
const describeCalls = interval =>
  interval &&
  plural(interval.calls, '{count} call, {failed} failed', '{count} calls, {failed} failed', { failed: interval.failed })

/** @param {ReturnType<typeof listOutages>[number]} outage */
function renderOutage({ state, intervals, failed, calls }) {
  const values = { duration: formatDuration(intervals * minutesPerInterval * 60), failed, calls }
  return state === 'down'
    ? t('Down for about {duration}: {failed} of {calls} calls failed', values)
    : t('Degraded for about {duration}: {failed} of {calls} calls failed', values)
}
