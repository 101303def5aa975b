import { useMemo } from 'preact/hooks'
import { Chart } from '../../components/chart.js'
import { Facts, State } from '../../components/format.js'
import { Problem } from '../../components/problem.js'
import { useLoad } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'

/** @param {number[]} minutes */
const sum = minutes => minutes.reduce((all, count) => all + count, 0)

/** The back office of the syncs: its state, version and response times. Renders nothing for the embedded one. */
export function BackOffice() {
  const { data, error } = useLoad(async signal => {
    const calls = (await callApi('/stats/back-office-calls', { signal })).data
    if (calls.breaker === null) return { calls }
    // The version comes from the back office, so it is missing while the back office is down.
    const capabilities = await callApi('/capabilities', { signal }).catch(() => undefined)
    return { calls, backOffice: capabilities?.data.backOffice }
  }, [])
  const lines = useMemo(() => buildLines(data?.calls), [data])
  if (error) return html`<${Problem} error=${error} />`
  if (!data || data.calls.breaker === null) return null
  const { breaker, since, calls, failed } = data.calls
  const startSeconds = Date.parse(since) / 1_000
  const count = `${sum(calls).toLocaleString('en')}, ${sum(failed).toLocaleString('en')} failed`
  return html`<h2>Back office</h2>
    <div class="card">
      <${Facts}
        facts=${[
          ['System', data.backOffice?.driver],
          ['Version', data.backOffice?.release],
          [
            'Connection',
            breaker === 'open'
              ? html`<${State} state="paused: not responding" tone="bad" />`
              : html`<${State} state="healthy" tone="good" />`,
          ],
          ['Calls in 24 hours', count],
        ]}
      />
    </div>
    ${
      sum(calls) > 0
        ? html`<${Chart} title="Response time" unit="ms" times=${calls.slice(1).map((/** @type {number} */ _, /** @type {number} */ i) => startSeconds + 60 * i)} lines=${lines} />`
        : html`<div class="empty">No calls in the last 24 hours. Start a sync to test the connection.</div>`
    }`
}

/** Builds the lines of the completed minutes, with gaps for minutes without calls. @param {any} [stats] */
function buildLines(stats) {
  if (!stats) return []
  /** @param {number[]} minutes */
  const toPoints = minutes => minutes.slice(0, -1).map((ms, i) => (stats.calls[i] ? ms : null))
  return [
    { title: 'slowest', colour: /** @type {const} */ ('muted'), values: toPoints(stats.slowest) },
    { title: 'average', colour: /** @type {const} */ ('accent'), values: toPoints(stats.average) },
  ]
}
