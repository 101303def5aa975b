import { useMemo } from 'preact/hooks'
import { Chart } from '../../components/chart.js'
import { Facts, State } from '../../components/format.js'
import { Problem } from '../../components/problem.js'
import { useLoad } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'

/** @param {number[]} minutes */
const sum = minutes => minutes.reduce((all, each) => all + each, 0)

/** The back office behind the syncs: what it is, whether calls go through, and how long they took. */
export function BackOffice() {
  const { data, error } = useLoad(async signal => {
    const calls = (await callApi('/stats/back-office-calls', { signal })).data
    if (calls.breaker === null) return { calls }
    // It tells its release itself: one that does not answer has none.
    const told = await callApi('/capabilities', { signal }).catch(() => undefined)
    return { calls, backOffice: told?.data.backOffice }
  }, [])
  const lines = useMemo(() => buildLines(data?.calls), [data])
  if (error) return html`<${Problem} error=${error} />`
  if (!data || data.calls.breaker === null) return null
  const { breaker, since, calls, failed } = data.calls
  const begun = Date.parse(since) / 1_000
  const count = `${sum(calls).toLocaleString('en')}, of which ${sum(failed).toLocaleString('en')} failed`
  return html`<h2>Back office</h2>
    <div class="card">
      <${Facts}
        facts=${[
          ['What it is', data.backOffice?.driver],
          ['Release', data.backOffice?.release],
          [
            'Calls',
            breaker === 'open'
              ? html`<${State} state="are kept back for a while: it does not answer" tone="bad" />`
              : html`<${State} state="go through" tone="good" />`,
          ],
          ['In 24 hours', count],
        ]}
      />
    </div>
    ${
      sum(calls) > 0
        ? html`<${Chart} title="How long its answers took" unit="ms" times=${calls.slice(1).map((/** @type {number} */ _, /** @type {number} */ i) => begun + 60 * i)} lines=${lines} />`
        : html`<div class="empty">It was not called in the last 24 hours. Pull a sync to see how it answers.</div>`
    }`
}

/** What is drawn of the minutes that have ended: those without calls have nothing. @param {any} [figures] */
function buildLines(figures) {
  if (!figures) return []
  /** @param {number[]} minutes */
  const called = minutes => minutes.slice(0, -1).map((each, i) => (figures.calls[i] ? each : null))
  return [
    { title: 'slowest', colour: /** @type {const} */ ('muted'), values: called(figures.slowest) },
    { title: 'average', colour: /** @type {const} */ ('accent'), values: called(figures.average) },
  ]
}
