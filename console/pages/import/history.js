import { assessImport } from 'tillbridge/health'
import { Button } from '../../components/button.js'
import { downloadCsv } from '../../components/export.js'
import { ExportableTable } from '../../components/exportable-table.js'
import { countColumn, Health, Timestamp } from '../../components/format.js'
import { Problem } from '../../components/problem.js'
import { useAction, useLoad } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { t } from '../../lib/text.js'
import { expandRanges, rejectionColumns } from './profile.js'
import { nameType } from './type-names.js'

/** @type {import('../../components/table.js').Column[]} */
const columns = [
  {
    title: t('Started'),
    value: run => html`<${Timestamp} time=${run.startedAt} />`,
    text: run => run.startedAt,
    shrink: true,
  },
  { title: t('File'), value: run => run.fileName },
  {
    title: t('Type'),
    value: run => html`<a href=${linkTo('syncs', run.sync)}>${nameType(run.sync)}</a>`,
    text: run => nameType(run.sync),
    shrink: true,
  },
  { title: t('Account'), value: run => run.username, shrink: true },
  {
    title: t('Result'),
    value: run => html`<${Health} ...${assessImport(run, false)} />`,
    text: run => run.state,
  },
  countColumn(t('Lines'), run => run.read),
  countColumn(t('New'), run => run.new),
  countColumn(t('Changed'), run => run.changed),
  countColumn(t('Rejected'), run => run.rejected),
  {
    title: t('Rejected lines'),
    value: run => (run.rejected && run.state !== 'running' ? html`<${RejectedDownload} run=${run} />` : null),
  },
]

/** The imports of the last 30 days, newest first. */
export function History() {
  const { data, error } = useLoad(signal => callApi('/console/imports', { signal }), [])
  if (error) return html`<${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Loading…</p>`
  if (data.data.length === 0) return null
  return html`<${ExportableTable} title=${html`<h2>History</h2>`} caption="Imports of the last 30 days" columns=${columns} rows=${data.data} file="imports" />`
}

/** Saves the numbers and reasons of the rejected lines. Their content is only in the file. @param {{ run: any }} props */
function RejectedDownload({ run }) {
  const { busy, error, run: start } = useAction()
  const name = run.fileName ?? run.sync
  const save = () =>
    start(async () => {
      const groups = (await callApi(`/imports/${encodeURIComponent(run.id)}/rejected`)).data
      downloadCsv(`${name}.rejected.csv`, [rejectionColumns, ...listRejections(groups)])
    })
  return html`<${Button} label="Download" aria-label=${t('Download rejected lines of {name}', { name })} busy=${busy} onClick=${save} />${error && html`<${Problem} error=${error} />`}`
}

/**
 * Returns the line, column and reason of each rejection, by line. The server keeps 50,000 ranges of lines. A last row has the number of
 * further lines.
 * @param {import('./profile.js').RejectionGroup[]} groups @returns {string[][]}
 */
function listRejections(groups) {
  const listed = groups.map(group => ({ ...group, lineNumbers: expandRanges(group) }))
  return [
    ...listed
      .flatMap(({ lineNumbers, column, reason }) => lineNumbers.map(number => ({ number, cells: [column, reason] })))
      .sort((a, b) => a.number - b.number)
      .map(({ number, cells }) => [String(number), ...cells]),
    ...listed
      .filter(({ lines, lineNumbers }) => lines > lineNumbers.length)
      .map(({ lines, lineNumbers, column, reason }) => [
        '',
        column,
        t('{reason} (further lines: {lines})', { reason, lines: lines - lineNumbers.length }),
      ]),
  ]
}
