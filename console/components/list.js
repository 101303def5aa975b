import { useEffect, useRef, useState } from 'preact/hooks'
import { callApi, exportRecords, toPagePath } from '../lib/api.js'
import { html } from '../lib/html.js'
import { Button } from './button.js'
import { Export } from './export.js'
import { Problem } from './problem.js'
import { Table } from './table.js'
import { useKeptFocus } from './use-kept-focus.js'

/**
 * A list of the API, page by page as the server gives them.
 * @param {{
 *   path: string, caption: string, columns: import('./table.js').Column[], empty: unknown,
 *   file: string, keyOf?: (row: any) => string, version?: number, tools?: unknown, csv?: (rows: any[]) => string[][], of?: string,
 * }} props `of`: what the rows are, where these columns are not for what they were before; `csv`: what is saved of the rows, where it is not what the columns say
 */
export function List({ path, caption, columns, empty, file, keyOf, version = 0, tools, csv, of = '' }) {
  const [loaded, setLoaded] = useState(/** @type {{ of: string, rows: any[] } | undefined} */ (undefined))
  const rows = loaded?.of === of ? loaded.rows : undefined
  const [next, setNext] = useState(/** @type {string | null} */ (null))
  const [busy, setBusy] = useState(true)
  const [error, setError] = useState(/** @type {unknown} */ (undefined))

  /** What is under way for the list that is shown. */
  const current = useRef(new AbortController())

  /** @param {any[]} before @param {string | null} cursor */
  const load = async (before, cursor) => {
    const { signal } = current.current
    setBusy(true)
    setError(undefined)
    try {
      const { data, meta } = await callApi(toPagePath(path, cursor, 50), { signal })
      if (signal.aborted) return
      setLoaded({ of, rows: [...before, ...data] })
      setNext(meta.hasNextPage ? meta.endCursor : null)
    } catch (refused) {
      if (signal.aborted) return
      setError(refused)
    }
    setBusy(false)
  }
  useEffect(() => {
    const gone = new AbortController()
    current.current = gone
    load([], null)
    return () => gone.abort()
  }, [path, version])

  const place = useKeptFocus('.scroll')

  return html`<section class="list" tabindex="-1" ref=${place} aria-busy=${busy}>
    <div class="tools">
      ${tools}
      ${rows && rows.length > 0 && html`<span class="aside"><${Export} all=${(/** @type {AbortSignal} */ signal) => exportRecords(path, signal)} columns=${columns} of=${caption} file=${file} csv=${csv} /></span>`}
    </div>
    ${error && html`<${Problem} error=${error} />`}
    ${!rows && !error && html`<p class="opening" role="status">Loading…</p>`}
    ${rows && rows.length === 0 && html`<div class="empty">${empty}</div>`}
    ${rows && rows.length > 0 && html`<${Table} caption=${caption} columns=${columns} rows=${rows} keyOf=${keyOf} />`}
    ${
      rows &&
      next !== null &&
      html`<p class="more"><${Button} label="Show more" doing="Loading…" busy=${busy} onClick=${() => load(rows, next)} /> <small>${rows.length} shown</small></p>`
    }
  </section>`
}
