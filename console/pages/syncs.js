import { ExportableTable } from '../components/exportable-table.js'
import { countColumn, formatDuration, State, Timestamp } from '../components/format.js'
import { Problem } from '../components/problem.js'
import { useLoad } from '../components/use-load.js'
import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { linkTo } from '../lib/route.js'
import { BackOffice } from './syncs/back-office.js'
import { runTone } from './syncs/runs.js'
import { Sync } from './syncs/sync.js'

/** @type {import('../components/table.js').Column[]} */
const columns = [
  {
    title: 'Sync',
    value: sync => html`<a href=${linkTo('syncs', sync.sync)}>${sync.sync}</a>`,
    text: sync => sync.sync,
  },
  {
    title: 'State',
    value: sync =>
      sync.isOverdue
        ? html`<${State} state="late" tone="bad" />`
        : html`<${State} state=${sync.state === 'none' ? 'never ran' : sync.state} tone=${runTone(sync.state)} />`,
    text: sync => (sync.isOverdue ? 'late' : sync.state === 'none' ? 'never ran' : sync.state),
  },
  {
    title: 'Age',
    name: 'Age (s)',
    right: true,
    value: sync => (sync.lagSeconds === null ? null : formatDuration(sync.lagSeconds)),
    text: sync => String(sync.lagSeconds ?? ''),
  },
  {
    title: 'Every',
    name: 'Every (s)',
    right: true,
    value: sync => (sync.intervalSeconds === null ? 'by hand' : formatDuration(sync.intervalSeconds)),
    text: sync => String(sync.intervalSeconds ?? 'by hand'),
  },
  {
    title: 'Last run',
    value: sync => sync.lastRun && html`<${Timestamp} moment=${sync.lastRun.startedAt} />`,
    text: sync => sync.lastRun?.startedAt ?? '',
  },
  countColumn('Read', sync => sync.lastRun?.read),
  countColumn('Changed', sync => sync.lastRun && sync.lastRun.new + sync.lastRun.changed),
  countColumn('Skipped', sync => sync.lastRun?.skipped),
  countColumn('Rejected', sync => sync.lastRun?.rejected),
]

/** How fresh the data is, what became of each run, and a run at once. @param {{ parts: string[] }} props */
export const Screen = ({ parts: [name] }) => (name ? html`<${Sync} key=${name} name=${name} />` : html`<${Syncs} />`)

function Syncs() {
  const { data, error } = useLoad(signal => callApi('/syncs', { signal }).then(answer => answer.data), [])
  return html`<h1>Syncs</h1>
    <p class="lead">What fills the lists: how old each is against its schedule, and what its last run came to.</p>
    ${error && html`<${Problem} error=${error} />`}
    ${!data && !error && html`<p class="opening" role="status">Loading…</p>`}
    ${data?.length === 0 && html`<div class="empty">Nothing is pulled, and no file has come yet. <a href=${linkTo('import')}>Drop one</a>, or import it: <code>tillbridge import stock stock.csv</code></div>`}
    ${data?.length > 0 && html`<${ExportableTable} caption="Syncs" columns=${columns} rows=${data} keyOf=${(/** @type {any} */ sync) => sync.sync} file="syncs" />`}
    <${BackOffice} />`
}
