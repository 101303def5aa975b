import { useMemo } from 'preact/hooks'
import { assessRun, assessSync, formatDuration } from 'tillbridge/health'
import { importTypes } from 'tillbridge/import-types'
import { Action } from '../../components/action.js'
import { Chart } from '../../components/chart.js'
import { countColumn, Facts, formatSeconds, Health, Timestamp, withoutCode } from '../../components/format.js'
import { List } from '../../components/list.js'
import { Problem } from '../../components/problem.js'
import { useLoad, useVersion } from '../../components/use-load.js'
import { useRefresh } from '../../components/use-refresh.js'
import { callApi, toPagePath } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useHasRole } from '../../lib/role.js'
import { linkTo } from '../../lib/route.js'
import { t } from '../../lib/text.js'
import { buildLagChart } from './runs.js'

/** @type {Record<string, string>} */
const origins = { backOffice: t('back office'), ecommerce: t('e-commerce'), file: t('file') }

/** @typedef {{ fileName: string | null, username: string | null }} Import */

/** Returns where the records of a run came from: the file and its sender, or a system. @param {any} run @param {Map<string, Import>} imports */
const formatSource = ({ id, origin }, imports) =>
  [imports.get(id)?.fileName ?? origins[origin] ?? origin, imports.get(id)?.username].filter(Boolean).join(', ')

/** @param {Map<string, Import>} imports by the ID of their run @returns {import('../../components/table.js').Column[]} */
const columns = imports => [
  {
    title: t('Started'),
    value: run => html`<${Timestamp} time=${run.startedAt} />`,
    text: run => run.startedAt,
    shrink: true,
  },
  {
    title: t('State'),
    value: run => html`<${Health} ...${assessRun(run)} />`,
    text: run => run.state,
  },
  { title: t('Source'), value: run => formatSource(run, imports) },
  { title: t('Mode'), value: run => (run.full ? t('full') : t('changes')) },
  countColumn(t('Read'), run => run.read),
  countColumn(t('New'), run => run.new),
  countColumn(t('Changed'), run => run.changed),
  countColumn(t('Unchanged'), run => run.unchanged),
  countColumn(t('Removed'), run => run.removed),
  countColumn(t('Skipped'), run => run.skipped),
  countColumn(t('Rejected'), run => run.rejected),
  {
    title: t('Duration'),
    name: t('Duration (s)'),
    right: true,
    value: run => formatSeconds(run.seconds),
    text: run => String(run.seconds),
  },
  {
    title: t('Notes'),
    value: run =>
      [
        run.detail && withoutCode(run.detail),
        ...run.notes.map((/** @type {any} */ { note, count }) => `${count} × ${note}`),
      ]
        .filter(Boolean)
        .join('; ') || null,
  },
]

/** A sync with its state and runs. @param {{ name: string }} props */
export function Sync({ name }) {
  const canImport = useHasRole(importTypes[name]?.role ?? 'maintainer') && importTypes[name]
  const [version, refresh] = useVersion()
  const refreshCount = useRefresh()
  const { data, error } = useLoad(signal => callApi('/syncs', { signal }), [name, version], refreshCount)
  const sync = data?.data.find((/** @type {any} */ candidate) => candidate.sync === name)
  const importLink = canImport && html`<a href=${linkTo('import', name)}>Import a file</a>`
  return html`<p class="trail"><a href=${linkTo('syncs')}>Syncs</a></p>
    <h1>${name}</h1>
    ${error && html`<${Problem} error=${error} />`}
    ${!data && !error && html`<p class="opening" role="status">Loading…</p>`}
    ${data && !sync && html`<div class="empty">${t('No data yet.')} ${importLink}</div>`}
    ${sync && html`<${SyncDetails} sync=${sync} importLink=${importLink} version=${version} refresh=${refresh} />`}`
}

const queued = t('Queued. The sync starts when a worker is free.')

/** @param {{ sync: any, importLink: unknown, version: number, refresh: () => void }} props */
function SyncDetails({ sync, importLink, version, refresh }) {
  const path = `/syncs/${encodeURIComponent(sync.sync)}`
  const isMaintainer = useHasRole('maintainer')
  /** Changes with each run and with the end of one. */
  const latest = [version, sync.lastRun?.id, sync.lastRun?.state].join(' ')
  const runs = useLoad(signal => callApi(toPagePath(`${path}/runs`, null), { signal }), [path, latest])
  const imports = useLoad(
    async signal => (isMaintainer ? (await callApi('/console/imports', { signal })).data : []),
    [latest],
  )
  const importsByRun = new Map((imports.data ?? []).map((/** @type {any} */ entry) => [entry.id, entry]))
  const chart = useMemo(
    () => buildLagChart(runs.data?.data ?? [], sync.intervalSeconds),
    [runs.data, sync.intervalSeconds],
  )
  const isScheduled = sync.origin !== 'file'
  const start = (/** @type {boolean} */ full) => () =>
    callApi(`${path}/run`, { method: 'POST', body: { full } }).then(refresh)
  return html`<div class="card">
      <${Facts}
        facts=${[
          [
            t('State'),
            html`<${Health} ...${assessSync(sync)} />${sync.detail && html` <small>${withoutCode(sync.detail)}</small>`}`,
          ],
          [t('Data age'), sync.lagSeconds === null ? t('never synced') : formatDuration(sync.lagSeconds)],
          [
            t('Schedule'),
            sync.intervalSeconds === null
              ? t('manual')
              : t('every {duration}', { duration: formatDuration(sync.intervalSeconds) }),
          ],
          [
            t('Next run'),
            sync.isQueued ? t('queued') : sync.nextRunAt && html`<${Timestamp} time=${sync.nextRunAt} />`,
          ],
          [t('Last full sync'), html`<${Timestamp} time=${sync.lastFullSyncAt} />`],
        ]}
      />
      <p class="choices">
        ${
          isScheduled &&
          html`<${Action} label="Sync now" role="maintainer" main done=${queued} work=${start(false)} />
            <${Action} label="Full sync" role="maintainer" done=${queued} work=${start(true)} confirm="A full sync can take a while. Records missing from the source are removed, unless that would be more than half." />`
        }
        <button onClick=${refresh}>Refresh</button>
        ${importLink}
      </p>
    </div>
    ${chart.times.length > 1 && html`<${Chart} title="Data age after each run" unit="min" times=${chart.times} lines=${chart.lines} />`}
    <${List}
      path=${`${path}/runs`}
      caption="Runs of the last 30 days"
      columns=${columns(importsByRun)}
      version=${latest}
      tools=${html`<h2>Runs</h2>`}
      file=${`sync-${sync.sync}-runs`}
      empty=${isScheduled ? t('No runs in the last 30 days. Press Sync now to start one.') : t('No runs in the last 30 days. The next import starts one.')}
    />`
}
