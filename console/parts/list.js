import { useEffect, useState } from 'preact/hooks'
import { ask, pageOf } from '../ground/api.js'
import { html } from '../ground/html.js'
import { Export } from './export.js'
import { Problem } from './problem.js'
import { Table } from './table.js'

/**
 * A list of the API, page by page as the server gives them.
 * @param {{
 *   path: string, caption: string, columns: import('./table.js').Column[], empty: unknown,
 *   file: string, keyOf: (row: any) => string, version?: number, tools?: unknown,
 * }} props
 */
export function List({ path, caption, columns, empty, file, keyOf, version = 0, tools }) {
  const [rows, setRows] = useState(/** @type {any[] | undefined} */ (undefined))
  const [next, setNext] = useState(/** @type {string | null} */ (null))
  const [busy, setBusy] = useState(true)
  const [error, setError] = useState(/** @type {unknown} */ (undefined))

  /** @param {any[]} before @param {string | null} cursor @param {AbortSignal} [signal] */
  const load = async (before, cursor, signal) => {
    setBusy(true)
    setError(undefined)
    try {
      const { data, meta } = await ask(pageOf(path, cursor, 50), signal ? { signal } : {})
      setRows([...before, ...data])
      setNext(meta.hasNextPage ? meta.endCursor : null)
    } catch (refused) {
      if (signal?.aborted) return
      setError(refused)
    }
    setBusy(false)
  }
  useEffect(() => {
    const gone = new AbortController()
    load([], null, gone.signal)
    return () => gone.abort()
  }, [path, version])

  return html`<section class="list" aria-busy=${busy}>
    <div class="tools">
      ${tools}
      ${rows && rows.length > 0 && html`<span class="aside"><${Export} path=${path} columns=${columns} file=${file} /></span>`}
    </div>
    ${error && html`<${Problem} error=${error} />`}
    ${!rows && !error && html`<p class="opening" role="status">Loading…</p>`}
    ${rows && rows.length === 0 && html`<div class="empty">${empty}</div>`}
    ${rows && rows.length > 0 && html`<${Table} caption=${caption} columns=${columns} rows=${rows} keyOf=${keyOf} />`}
    ${
      rows &&
      next !== null &&
      html`<p class="more"><button disabled=${busy} onClick=${() => load(rows, next)}>${busy ? 'Loading…' : 'Show more'}</button> <small>${rows.length} shown</small></p>`
    }
  </section>`
}
