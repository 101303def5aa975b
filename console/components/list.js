import { useEffect, useRef, useState } from 'preact/hooks'
import { callApi, exportRecords, toPagePath } from '../lib/api.js'
import { html } from '../lib/html.js'
import { t } from '../lib/text.js'
import { Button } from './button.js'
import { Export } from './export.js'
import { Problem } from './problem.js'
import { Table } from './table.js'
import { useKeptFocus } from './use-kept-focus.js'
import { useReconnect } from './use-load.js'

const pageSize = 50
const maxPageSize = 100

/**
 * A table of an API list that is loaded page by page. If `version` changes, all shown pages are loaded again. If `dataset` changes, the old rows are hidden at once, because the columns don't fit
 * them. `csv` builds the CSV rows if they differ from the columns.
 * @param {{
 *   path: string, caption: string, columns: import('./table.js').Column[], empty: unknown,
 *   file: string, getKey?: (row: any) => string, version?: unknown, tools?: unknown, csv?: (rows: any[]) => string[][], dataset?: string, open?: (row: any) => void,
 * }} props
 */
export function List({ path, caption, columns, empty, file, getKey, version = 0, tools, csv, dataset = '', open }) {
  const [loaded, setLoaded] = useState(
    /** @type {{ dataset: string, path: string, rows: any[] } | undefined} */ (undefined),
  )
  const rows = loaded?.dataset === dataset ? loaded.rows : undefined
  const [next, setNext] = useState(/** @type {string | null} */ (null))
  const [busy, setBusy] = useState(true)
  const [error, setError] = useState(/** @type {unknown} */ (undefined))

  /** Aborts the requests of a list that is no longer shown. */
  const current = useRef(new AbortController())

  /** Repeats the last load. */
  const repeat = useRef(() => {})

  /** Loads one page, or more if `count` rows need them. @param {any[]} previousRows @param {string | null} cursor @param {number} [count] */
  const load = async (previousRows, cursor, count = 0) => {
    const { signal } = current.current
    repeat.current = () => void load(previousRows, cursor, count)
    setBusy(true)
    setError(undefined)
    try {
      const loadedRows = [...previousRows]
      let nextCursor = cursor
      do {
        const limit = Math.max(pageSize, Math.min(maxPageSize, count - loadedRows.length))
        const { data, meta } = await callApi(toPagePath(path, nextCursor, limit), { signal })
        if (signal.aborted) return
        loadedRows.push(...data)
        nextCursor = meta.hasNextPage ? meta.endCursor : null
      } while (nextCursor !== null && loadedRows.length < count)
      setLoaded({ dataset, path, rows: loadedRows })
      setNext(nextCursor)
    } catch (reason) {
      if (signal.aborted) return
      setError(reason)
    }
    setBusy(false)
  }
  useEffect(() => {
    const control = new AbortController()
    current.current = control
    load([], null, loaded?.path === path ? loaded.rows.length : 0)
    return () => control.abort()
  }, [path, version])

  useReconnect(error, () => repeat.current())

  const container = useKeptFocus('.scroll')

  return html`<section class="list" tabindex="-1" ref=${container} aria-busy=${busy}>
    <div class="tools">
      ${tools}
      ${rows && rows.length > 0 && html`<span class="aside"><${Export} load=${(/** @type {AbortSignal} */ signal) => exportRecords(path, signal)} columns=${columns} caption=${caption} file=${file} csv=${csv} /></span>`}
    </div>
    ${error && html`<${Problem} error=${error} />`}
    ${!rows && !error && html`<p class="opening" role="status">Loading…</p>`}
    ${rows && rows.length === 0 && html`<div class="empty">${empty}</div>`}
    ${rows && rows.length > 0 && html`<${Table} caption=${caption} columns=${columns} rows=${rows} getKey=${getKey} open=${open} />`}
    ${
      rows &&
      next !== null &&
      html`<p class="more"><${Button} label="Show more" busyLabel="Loading…" busy=${busy} onClick=${() => load(rows, next)} /> <small>${t('{shown} shown', { shown: rows.length })}</small></p>`
    }
  </section>`
}
