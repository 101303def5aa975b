import { remedies } from 'tillbridge/remedies'
import { ExportableTable } from '../../components/exportable-table.js'
import { countColumn, Timestamp } from '../../components/format.js'
import { Problem, renderCode } from '../../components/problem.js'
import { useLoad } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { t } from '../../lib/text.js'
import { linkToSearch, toApiPath } from './search.js'

/**
 * The errors of a search, grouped by code and field, most frequent first.
 * @param {{ search: import('./search.js').Search, version: number }} props
 */
export function Errors({ search, version }) {
  const path = toApiPath(search, '/errors')
  const { data, error } = useLoad(signal => callApi(path, { signal }).then(response => response.data), [path, version])
  if (error) return html`<${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Counting errors…</p>`
  if (data.groups.length === 0) return html`<p class="note">No errors</p>`
  const count = data.groups.reduce((/** @type {number} */ sum, /** @type {any} */ group) => sum + group.times, 0)
  return html`<${ExportableTable}
    title=${html`<h2>Errors by code and field</h2>${count >= data.max && html`<small>${t('among the newest {max}', { max: data.max })}</small>`}`}
    caption="Errors by code and field"
    columns=${columns(search)}
    rows=${data.groups}
    getKey=${(/** @type {any} */ { code, field }) => `${code} ${field}`}
    file="errors"
  />`
}

/** @param {import('./search.js').Search} search @returns {import('../../components/table.js').Column[]} */
const columns = search => [
  {
    title: t('Error'),
    value: group =>
      html`<a href=${linkToSearch(Object.assign({}, search, remedies[group.code] ? { code: group.code } : { status: group.code }))}>${group.code}</a>`,
    text: group => group.code,
    shrink: true,
  },
  {
    title: t('Field'),
    value: group => group.field && html`<code>${group.field}</code>`,
    text: group => group.field ?? '',
  },
  countColumn(t('Times'), group => group.times),
  {
    title: t('Latest'),
    value: group => html`<${Timestamp} time=${group.latest} />`,
    text: group => group.latest,
    shrink: true,
  },
  { title: t('Operations'), value: group => group.operations.join(', ') },
  {
    title: t('How to fix'),
    value: group => renderCode(remedies[group.code]),
    text: group => remedies[group.code] ?? '',
  },
]
