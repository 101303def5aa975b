import { remedies } from 'tillbridge/remedies'
import { ExportableTable } from '../../components/exportable-table.js'
import { countColumn, Timestamp } from '../../components/format.js'
import { Problem, renderCode } from '../../components/problem.js'
import { useLoad } from '../../components/use-load.js'
import { loadPages } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkToSearch, toApiPath } from './search.js'

/** Errors to count. More would not change which ones are frequent. */
const maxErrors = 1_000

/**
 * The errors of a search, grouped by code, most frequent first.
 * @param {{ search: import('./search.js').Search, version: number }} props
 */
export function Errors({ search, version }) {
  const path = toApiPath(Object.assign({}, search, { failed: 'true' }))
  const { data, error } = useLoad(signal => loadGroups(path, signal), [path, version])
  if (error) return html`<${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Counting errors…</p>`
  if (data.groups.length === 0) return html`<p class="note">No errors</p>`
  return html`<${ExportableTable}
    title=${html`<h2>Errors by code</h2>${data.isTruncated && html`<small>of the newest ${maxErrors.toLocaleString('en')}</small>`}`}
    caption="Errors by code"
    columns=${columns(search)}
    rows=${data.groups}
    getKey=${(/** @type {any} */ { code }) => code}
    file="errors"
  />`
}

/** @param {import('./search.js').Search} search @returns {import('../../components/table.js').Column[]} */
const columns = search => [
  {
    title: 'Error',
    value: group => html`<a href=${linkToSearch(Object.assign({}, search, group.search))}>${group.code}</a>`,
    text: group => group.code,
    shrink: true,
  },
  countColumn('Times', group => group.times),
  {
    title: 'Latest',
    value: group => html`<${Timestamp} time=${group.last} />`,
    text: group => group.last,
    shrink: true,
  },
  { title: 'Operations', value: group => group.operations.join(', ') },
  {
    title: 'How to fix',
    value: group => renderCode(remedies[group.code]),
    text: group => remedies[group.code] ?? '',
  },
]

/** @typedef {{ code: string, search: import('./search.js').Search, times: number, last: string, operations: string[] }} Group */

/** @param {string} path @param {AbortSignal} signal */
async function loadGroups(path, signal) {
  /** @type {Map<string, Group>} */
  const byName = new Map()
  let count = 0
  for await (const { data: entries } of loadPages(path, signal)) {
    for (const { code, status, at, operation } of entries) {
      const name = code ?? String(status)
      // The list is sorted newest first, so the first error of a group is its latest.
      /** @type {Group} */
      const group = byName.get(name) ?? {
        code: name,
        search: code ? { code } : { status: name },
        times: 0,
        last: at,
        operations: [],
      }
      group.times++
      if (!group.operations.includes(operation)) group.operations.push(operation)
      byName.set(name, group)
    }
    count += entries.length
    if (count >= maxErrors) break
  }
  return { groups: [...byName.values()].sort((a, b) => b.times - a.times), isTruncated: count >= maxErrors }
}
