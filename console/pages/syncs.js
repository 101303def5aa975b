import { assessSync, formatDuration } from 'tillbridge/health'
import { ExportableTable } from '../components/exportable-table.js'
import { countColumn, Health, Timestamp } from '../components/format.js'
import { Problem } from '../components/problem.js'
import { useLoad } from '../components/use-load.js'
import { useRefresh } from '../components/use-refresh.js'
import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { linkTo } from '../lib/route.js'
import { rich, t } from '../lib/text.js'
import { Sync } from './syncs/sync.js'

/** @type {import('../components/table.js').Column[]} */
const columns = [
  {
    title: t('Sync'),
    value: sync => html`<a href=${linkTo('syncs', sync.sync)}>${sync.sync}</a>`,
    text: sync => sync.sync,
  },
  {
    title: t('State'),
    value: sync => html`<${Health} ...${assessSync(sync)} />`,
    text: sync => assessSync(sync).state,
  },
  {
    title: t('Data age'),
    name: t('Data age (s)'),
    right: true,
    value: sync => (sync.lagSeconds === null ? null : formatDuration(sync.lagSeconds)),
    text: sync => String(sync.lagSeconds ?? ''),
  },
  {
    title: t('Interval'),
    name: t('Interval (s)'),
    right: true,
    value: sync => (sync.intervalSeconds === null ? t('manual') : formatDuration(sync.intervalSeconds)),
    text: sync => String(sync.intervalSeconds ?? t('manual')),
  },
  {
    title: t('Last run'),
    value: sync => sync.lastRun && html`<${Timestamp} time=${sync.lastRun.startedAt} />`,
    text: sync => sync.lastRun?.startedAt ?? '',
  },
  countColumn(t('Read'), sync => sync.lastRun?.read),
  countColumn(t('Changed'), sync => sync.lastRun && sync.lastRun.new + sync.lastRun.changed),
  countColumn(t('Skipped'), sync => sync.lastRun?.skipped),
  countColumn(t('Rejected'), sync => sync.lastRun?.rejected),
]

/** The syncs, or one of them. @param {{ parts: string[] }} props */
export const Screen = ({ parts: [name] }) => (name ? html`<${Sync} key=${name} name=${name} />` : html`<${Syncs} />`)

function Syncs() {
  const refreshCount = useRefresh()
  const { data, error } = useLoad(
    signal => callApi('/syncs', { signal }).then(response => response.data),
    [],
    refreshCount,
  )
  return html`<h1>Syncs</h1>
    <p class="lead">Data synced from your back office and imported files</p>
    ${error && html`<${Problem} error=${error} />`}
    ${!data && !error && html`<p class="opening" role="status">Loading…</p>`}
    ${
      data?.length === 0 &&
      html`<div class="empty">${rich(
        'No data yet. <link>Import a file</link>, or <office>connect a back office</office>.',
        {
          link: content => html`<a href=${linkTo('import')}>${content}</a>`,
          office: content => html`<a href=${linkTo('back-office')}>${content}</a>`,
        },
      )}</div>`
    }
    ${data?.length > 0 && html`<${ExportableTable} caption="Syncs" columns=${columns} rows=${data} getKey=${(/** @type {any} */ sync) => sync.sync} file="syncs" />`}`
}
