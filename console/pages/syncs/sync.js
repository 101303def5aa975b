import { useMemo, useState } from 'preact/hooks'
import { importTypes } from 'tillbridge/import-types'
import { Action } from '../../components/action.js'
import { Chart } from '../../components/chart.js'
import { countColumn, Facts, formatDuration, State, Timestamp } from '../../components/format.js'
import { List } from '../../components/list.js'
import { Problem } from '../../components/problem.js'
import { useLoad, useVersion } from '../../components/use-load.js'
import { callApi, toPagePath } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useHasRole } from '../../lib/role.js'
import { linkTo } from '../../lib/route.js'
import { buildLagChart, runTone } from './runs.js'

/** @type {import('../../components/table.js').Column[]} */
const columns = [
  {
    title: 'Began',
    value: run => html`<${Timestamp} moment=${run.startedAt} />`,
    text: run => run.startedAt,
    shrink: true,
  },
  {
    title: 'State',
    value: run => html`<${State} state=${run.state} tone=${runTone(run.state)} />`,
    text: run => run.state,
  },
  { title: 'What', value: run => (run.full ? 'everything' : 'changes') },
  countColumn('Read', run => run.read),
  countColumn('New', run => run.new),
  countColumn('Changed', run => run.changed),
  countColumn('Unchanged', run => run.unchanged),
  countColumn('Removed', run => run.removed),
  countColumn('Skipped', run => run.skipped),
  countColumn('Rejected', run => run.rejected),
  {
    title: 'Took',
    name: 'Took (s)',
    right: true,
    value: run => formatDuration(run.seconds),
    text: run => String(run.seconds),
  },
  {
    title: 'Notes',
    value: run =>
      [run.detail, ...run.notes.map((/** @type {any} */ { note, count }) => `${count} × ${note}`)]
        .filter(Boolean)
        .join('; ') || null,
  },
]

/** One sync: how it stands, its lag, its runs, and a run at once. @param {{ name: string }} props */
export function Sync({ name }) {
  const mayImport = useHasRole(importTypes[name]?.role ?? 'maintainer') && importTypes[name]
  const [version, again] = useVersion()
  const { data, error } = useLoad(signal => callApi('/syncs', { signal }), [name, version])
  const sync = data?.data.find((/** @type {any} */ each) => each.sync === name)
  const drop = mayImport && html`<a href=${linkTo('import', name)}>Import a file of ${name}</a>`
  return html`<p class="trail"><a href=${linkTo('syncs')}>Syncs</a></p>
    <h1>${name}</h1>
    ${error && html`<${Problem} error=${error} />`}
    ${!data && !error && html`<p class="opening" role="status">Loading…</p>`}
    ${data && !sync && html`<div class="empty">It is not pulled, and no file of it has come yet. ${drop}</div>`}
    ${sync && html`<${SyncDetails} sync=${sync} drop=${drop} version=${version} again=${again} />`}`
}

/** @param {{ sync: any, drop: unknown, version: number, again: () => void }} props */
function SyncDetails({ sync, drop, version, again }) {
  const path = `/syncs/${encodeURIComponent(sync.sync)}`
  const [asked, setAsked] = useState(false)
  const runs = useLoad(signal => callApi(toPagePath(`${path}/runs`, null), { signal }), [path, version])
  const points = useMemo(() => buildLagChart(runs.data?.data ?? []), [runs.data])
  const isPulled = sync.origin === 'backOffice'
  const run = (/** @type {boolean} */ full) => () =>
    callApi(`${path}/run`, { method: 'POST', body: { full } }).then(() => {
      setAsked(true)
      again()
    })
  return html`<div class="card">
      <${Facts}
        facts=${[
          [
            'State',
            html`<${State} state=${sync.isOverdue ? 'late' : sync.state} tone=${sync.isOverdue ? 'bad' : runTone(sync.state)} />${sync.detail && html` <small>${sync.detail}</small>`}`,
          ],
          ['Age', sync.lagSeconds === null ? 'never brought' : formatDuration(sync.lagSeconds)],
          [
            'Schedule',
            sync.intervalSeconds === null ? 'as files come' : `every ${formatDuration(sync.intervalSeconds)}`,
          ],
          [
            'Next',
            sync.isQueued
              ? 'as soon as a worker has time'
              : sync.nextRunAt && new Date(sync.nextRunAt).toLocaleTimeString(),
          ],
          ['Last whole run', html`<${Timestamp} moment=${sync.lastFullSyncAt} />`],
        ]}
      />
      <p class="choices">
        ${
          isPulled &&
          html`<${Action} label="Pull changes" role="maintainer" main work=${run(false)} />
            <${Action} label="Pull everything" role="maintainer" work=${run(true)} confirm="All of it is read again, which may take long. What it does not show is taken away, unless that would be more than half." />`
        }
        <button onClick=${again}>Refresh</button>
        ${drop}
      </p>
      ${asked && html`<p role="status">A run is asked for; it begins as soon as a worker has time.</p>`}
    </div>
    ${points.times.length > 1 && html`<${Chart} title="Age of the data when a run had ended" unit="min" times=${points.times} lines=${points.lines} />`}
    <${List}
      path=${`${path}/runs`}
      caption="Runs of the last 30 days"
      columns=${columns}
      version=${version}
      tools=${html`<h2>Runs</h2>`}
      file=${`sync-${sync.sync}-runs`}
      empty=${`It has not run in the last 30 days. ${isPulled ? 'Pull changes begins a run.' : 'The next file begins one.'}`}
    />`
}
