import { remedies } from 'tillbridge/remedies'
import { ExportableTable } from '../../components/exportable-table.js'
import { countColumn, Timestamp } from '../../components/format.js'
import { Problem, renderCode } from '../../components/problem.js'
import { useLoad } from '../../components/use-load.js'
import { loadPages } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkToSearch, toApiPath } from './search.js'

/** So many are counted: more say nothing new of what has to be done. */
const maxErrors = 1_000

/**
 * The errors of a search by their codes, the most frequent first.
 * @param {{ search: import('./search.js').Search, version: number }} props
 */
export function Errors({ search, version }) {
  const path = toApiPath(Object.assign({}, search, { failed: 'true' }))
  const { data, error } = useLoad(signal => loadGroups(path, signal), [path, version])
  if (error) return html`<${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Counting errors…</p>`
  if (data.groups.length === 0) return html`<p class="note">None of them was answered with an error.</p>`
  return html`<${ExportableTable}
    title=${html`<h2>Errors by code</h2>${data.isCut && html`<small>of the newest ${maxErrors.toLocaleString('en')}</small>`}`}
    caption="Errors by code"
    columns=${columns(search)}
    rows=${data.groups}
    keyOf=${(/** @type {any} */ { code }) => code}
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
    title: 'Last',
    value: group => html`<${Timestamp} moment=${group.last} />`,
    text: group => group.last,
    shrink: true,
  },
  { title: 'Asked', value: group => group.operations.join(', ') },
  {
    title: 'What to do',
    value: group => renderCode(remedies[group.code]),
    text: group => remedies[group.code] ?? '',
  },
]

/** @typedef {{ code: string, search: import('./search.js').Search, times: number, last: string, operations: string[] }} Group */

/** @param {string} path @param {AbortSignal} signal */
async function loadGroups(path, signal) {
  /** @type {Map<string, Group>} */
  const found = new Map()
  let counted = 0
  for await (const { data: lines } of loadPages(path, signal)) {
    for (const { code, status, at, operation } of lines) {
      const name = code ?? String(status)
      // The newest come first.
      /** @type {Group} */
      const group = found.get(name) ?? {
        code: name,
        search: code ? { code } : { status: name },
        times: 0,
        last: at,
        operations: [],
      }
      group.times++
      if (!group.operations.includes(operation)) group.operations.push(operation)
      found.set(name, group)
    }
    counted += lines.length
    if (counted >= maxErrors) break
  }
  return { groups: [...found.values()].sort((a, b) => b.times - a.times), isCut: counted >= maxErrors }
}
