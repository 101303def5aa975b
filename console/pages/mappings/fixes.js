import { useState } from 'preact/hooks'
import { Action } from '../../components/action.js'
import { ExportableTable } from '../../components/exportable-table.js'
import { Timestamp } from '../../components/format.js'
import { List } from '../../components/list.js'
import { Problem } from '../../components/problem.js'
import { RequestLink } from '../../components/request-link.js'
import { useLoad, useVersion } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { formatNumber, plural, rich, t } from '../../lib/text.js'
import { describeResult, undoBatch } from './accept.js'
import { MappingsHead } from './tabs.js'

const kinds = { stores: t('Store'), skus: t('SKU'), customers: t('Customer') }

/** The mapped values as text. @param {Record<string, string | null>} fields */
const joinValues = fields => Object.values(fields).filter(Boolean).join(', ')
/** @param {Record<string, string | null>} fields */
const renderValues = fields =>
  joinValues(fields) ? html`<code>${joinValues(fields)}</code>` : html`<span class="none">nothing</span>`

/** Undoes a fix. @param {{ id: string }} fix */
export const undo = ({ id }) => callApi(`/mappings/fixes/${encodeURIComponent(id)}/undo`, { method: 'POST', body: {} })

/** The fixes of the last 90 days. */
export function Fixes() {
  const [version, refresh] = useVersion()
  /** @type {import('../../components/table.js').Column[]} */
  const columns = [
    {
      title: t('When'),
      value: fix => html`<${Timestamp} time=${fix.fixedAt} />`,
      text: fix => fix.fixedAt,
      shrink: true,
    },
    { title: t('Type'), value: fix => kinds[/** @type {keyof typeof kinds} */ (fix.kind)] },
    { title: t('Record'), value: fix => html`<code>${fix.recordId}</code>`, text: fix => fix.recordId },
    { title: t('Before'), value: fix => renderValues(fix.before), text: fix => joinValues(fix.before) },
    { title: t('After'), value: fix => renderValues(fix.after), text: fix => joinValues(fix.after) },
    { title: t('Account'), value: fix => fix.username },
    {
      title: t('Request'),
      value: fix => html`<${RequestLink} id=${fix.requestId} short />`,
      text: fix => fix.requestId,
      shrink: true,
    },
    {
      title: t('Undone'),
      right: true,
      value: fix =>
        fix.undoneAt
          ? html`<${Timestamp} time=${fix.undoneAt} />`
          : html`<${Action}
              label="Undo"
              name=${t('Undo {recordId}', { recordId: fix.recordId })}
              role="admin"
              confirm=${rich('{kind} <code>{recordId}</code> will be mapped to {values} again.', { kind: kinds[/** @type {keyof typeof kinds} */ (fix.kind)], recordId: fix.recordId, values: renderValues(fix.before) })}
              work=${() => undo(fix).then(refresh)}
            />`,
      text: fix => fix.undoneAt ?? '',
    },
  ]
  return html`<${MappingsHead} view="fixes" lead="Fixes of the last 90 days. You can undo a fix until the mapping changes again." />
    <${Batches} version=${version} refresh=${refresh} />
    <${List}
      path="/mappings/fixes"
      caption="Fixes, newest first"
      columns=${columns}
      version=${version}
      getKey=${(/** @type {any} */ fix) => fix.id}
      file="mapping-fixes"
      empty=${html`${t('No fixes yet.')} <a href=${linkTo('mappings', 'check')}>Show mapping issues</a>`}
    />`
}

const countRecords = {
  stores: (/** @type {number} */ count) => plural(count, '{count} store', '{count} stores'),
  skus: (/** @type {number} */ count) => plural(count, '{count} SKU', '{count} SKUs'),
  customers: (/** @type {number} */ count) => plural(count, '{count} customer', '{count} customers'),
}

/** Suggestions that were accepted together. @param {{ version: number, refresh: () => void }} props */
function Batches({ version, refresh }) {
  const { data, error } = useLoad(signal => callApi('/console/mappings/batches', { signal }), [version])
  const [result, setResult] = useState('')
  /** @type {any[]} */
  const batches = data?.data ?? []
  if (error) return html`<${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Loading…</p>`
  if (batches.length === 0) return null
  /** @type {import('../../components/table.js').Column[]} */
  const columns = [
    {
      title: t('When'),
      value: batch => html`<${Timestamp} time=${batch.fixedAt} />`,
      text: batch => batch.fixedAt,
      shrink: true,
    },
    {
      title: t('Accepted together'),
      value: batch => countRecords[/** @type {keyof typeof countRecords} */ (batch.kind)](batch.fixes),
    },
    { title: t('Account'), value: batch => batch.username },
    { title: t('Undone'), right: true, value: batch => formatNumber(batch.undone) },
    {
      title: t('Actions'),
      right: true,
      value: batch =>
        batch.undone < batch.fixes &&
        html`<${Action}
          label="Undo all"
          name=${t('Undo all {fixes}', { fixes: batch.fixes })}
          role="admin"
          confirm="Restores the previous mappings. Mappings that have changed since stay."
          work=${async () => {
            setResult(describeResult(await undoBatch(batch.id), 'restored'))
            refresh()
          }}
        />`,
    },
  ]
  return html`${result && html`<p class="note" role="status">${result}</p>`}
    <${ExportableTable} caption="Batches, newest first" columns=${columns} rows=${batches} file="mapping-batches" />
    <h2>Single fixes</h2>`
}
