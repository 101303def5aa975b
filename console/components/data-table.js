import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { readQuery, replaceQuery } from '../lib/route.js'
import { rich, t } from '../lib/text.js'
import { formatTime } from '../lib/time.js'
import { Export } from './export.js'
import { Problem } from './problem.js'
import { getColumnTitle, renderCell } from './table.js'
import { useReconnect, useVersion } from './use-load.js'

/**
 * `sort`: the API's name of the order by this column. `size`: the width in parts of all sizes. `isExported`: only in the CSV.
 * In the cards of narrow screens, a column that `isMinor` is left out, and one that `isLine` has a line of its own. Numbers have their title
 * there, and so has a column that `isLabelled`.
 * @typedef {import('./table.js').Column & {
 *   sort?: string | undefined, size?: number, isExported?: boolean, isMinor?: boolean, isLine?: boolean, isLabelled?: boolean,
 * }} DataColumn
 */

/**
 * The state of a table, in the address.
 * @typedef {{ q: string, filter: string, sort: string, from: string, until: string, at: string }} TableQuery `from` and `until`: RFC 3339
 */

/** A list counts at most this many rows. */
const maxTotal = 100_000
const pageSize = 100
/** Rows above and below the visible ones, so that scrolling shows no gap. */
const spareRows = 12

/** @param {string} list @param {TableQuery} query @param {number} offset @param {number} limit */
function toPath(list, { q, filter, sort, from, until }, offset, limit) {
  const parameters = { table: list, q, filter, sort, from, until, offset: String(offset), limit: String(limit) }
  return `/browse?${new URLSearchParams(Object.entries(parameters).filter(([, value]) => value))}`
}

/** Returns the state in the address. @returns {TableQuery} */
function readTableQuery() {
  const sent = readQuery()
  const read = (/** @type {string} */ name) => sent.get(name) ?? ''
  return {
    q: read('q'),
    filter: read('filter'),
    sort: read('sort'),
    from: read('from'),
    until: read('until'),
    at: read('at'),
  }
}

/** @param {TableQuery} query */
function formatPeriod({ from, until }) {
  if (from && until) return t('{from} until {until}', { from: formatTime(from), until: formatTime(until) })
  return (
    (from && t('from {from}', { from: formatTime(from) })) ||
    (until && t('until {until}', { until: formatTime(until) }))
  )
}

/** Returns the class of each column's cells. In the cards of narrow screens, each second cell is at the right edge. @param {DataColumn[]} columns */
function listCellClasses(columns) {
  const halves = columns.filter(({ isMinor, isLine }) => !isMinor && !isLine)
  return columns.map(column => {
    const { right, isMinor, isLine, isLabelled } = column
    const isEnd = halves.indexOf(column) % 2 === 1
    return (
      [right && 'right', isMinor && 'minor', isLine && 'line', isEnd && 'end', (right || isLabelled) && 'labelled']
        .filter(Boolean)
        .join(' ') || undefined
    )
  })
}

/** Returns the lines of a card. @param {DataColumn[]} columns */
const countLines = columns =>
  Math.ceil(columns.reduce((sum, { isMinor, isLine }) => sum + (isMinor ? 0 : isLine ? 2 : 1), 0) / 2)

/** Loads all rows in chunks. @param {string} list @param {TableQuery} query @param {AbortSignal} signal */
async function* loadRows(list, query, signal) {
  for (let offset = 0; ; offset += 250) {
    const { data } = await callApi(toPath(list, query, offset, 250), { signal })
    yield data.rows
    if (data.rows.length < 250) return
  }
}

/**
 * `filters`: the label of each filter of the API. `version`: the shown rows are loaded again if it changes. `tools`: before the search field.
 * @typedef {{ list: string, caption: string, noun: string, formatCount: (count: number) => string, columns: DataColumn[], placeholder: string }} Labels
 * @typedef {{ filters: Record<string, string>, defaultSort: string, getLink: (row: any) => string | undefined, empty: unknown, version?: number, tools?: unknown }} Behaviour
 */

/**
 * A table of a list of any length. It loads and draws only the rows around the visible ones. The address has its text, filter, order and
 * place.
 * @param {Labels & Behaviour} props
 */
export function DataTable({
  list,
  caption,
  noun,
  formatCount,
  columns,
  placeholder,
  filters,
  defaultSort,
  getLink,
  empty,
  version = 0,
  tools,
}) {
  const [query, setQuery] = useState(readTableQuery)
  /** The newest query, for the timer of the place. */
  const latest = useRef(query)
  latest.current = query
  const [text, setText] = useState(query.q)
  const dataset = toPath(list, query, 0, 0)
  const [loaded, setLoaded] = useState(
    /** @type {{ dataset: string, total: number | null, pages: Map<number, any[]> } | undefined} */ (undefined),
  )
  const [error, setError] = useState(/** @type {unknown} */ (undefined))
  const [attempt, retry] = useVersion()
  useReconnect(error, retry)
  const [first, setFirst] = useState(Number(query.at) || 0)
  const [size, setSize] = useState({ row: 44, height: 600 })
  const scroller = useRef(/** @type {HTMLDivElement | null} */ (null))
  /** The pages that were requested of the shown rows. Responses for other rows come too late. */
  const requested = useRef({ key: '', pages: new Set() })
  const placeTimer = useRef(0)

  const screen = useRef(location.hash.split('?')[0])
  /** Writes the state into the address, unless another screen has been opened. @param {TableQuery} next */
  const save = next => {
    if (location.hash.split('?')[0] === screen.current) replaceQuery(next)
  }
  /** @param {Partial<TableQuery>} changes */
  const update = changes => {
    const next = { ...latest.current, at: '', ...changes }
    save(next)
    show(next)
  }
  /** @param {TableQuery} next */
  const show = next => {
    clearTimeout(placeTimer.current)
    latest.current = next
    setQuery(next)
    setFirst(0)
    if (scroller.current) scroller.current.scrollTop = 0
  }
  // A link to the same list, such as the stock of another store.
  useEffect(() => {
    const follow = () => {
      if (location.hash.split('?')[0] !== screen.current) return
      const next = readTableQuery()
      setText(next.q)
      show(next)
    }
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  useEffect(() => {
    if (text.trim() === query.q) return
    const timer = setTimeout(() => update({ q: text.trim() }), 250)
    return () => clearTimeout(timer)
  }, [text])

  const current = loaded?.dataset === dataset ? loaded : undefined
  const count = Math.ceil(size.height / size.row)
  const [start, end] = [Math.max(0, first - spareRows), first + count + spareRows]
  useEffect(() => {
    const key = `${dataset} ${version}`
    if (requested.current.key !== key) requested.current = { key, pages: new Set() }
    const { pages } = requested.current
    for (let page = Math.floor(start / pageSize); page <= Math.floor(end / pageSize); page++) {
      if (pages.has(page) || (current && current.total !== null && page * pageSize >= current.total && page > 0))
        continue
      pages.add(page)
      callApi(toPath(list, query, page * pageSize, pageSize)).then(
        ({ data }) => {
          if (requested.current.pages !== pages) return
          setError(undefined)
          setLoaded(previous => ({
            dataset,
            total: data.total,
            pages: new Map([...(previous?.dataset === dataset ? previous.pages : []), [page, data.rows]]),
          }))
        },
        reason => {
          pages.delete(page)
          if (requested.current.pages === pages) setError(reason)
        },
      )
    }
  }, [dataset, version, attempt, start, end, current])

  // Measures the rows, which are cards on narrow screens, and returns to the place in the address.
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    const measure = () => {
      const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
      const row = Number.parseFloat(getComputedStyle(element).getPropertyValue('--row')) * rem
      setSize({ row, height: element.clientHeight })
      return row
    }
    const row = measure()
    if (query.at) element.scrollTop = Number(query.at) * row
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [current === undefined])

  const onScroll = () => {
    const at = Math.round((scroller.current?.scrollTop ?? 0) / size.row)
    setFirst(at)
    clearTimeout(placeTimer.current)
    placeTimer.current = setTimeout(() => save({ ...latest.current, at: at ? String(at) : '' }), 150)
  }
  useEffect(() => () => clearTimeout(placeTimer.current), [])

  const shown = columns.filter(({ isExported }) => !isExported)
  const cellClasses = listCellClasses(shown)
  const parts = shown.reduce((sum, { size: width = 1 }) => sum + width, 0)
  const total = current?.total ?? maxTotal
  const rows = Array.from({ length: Math.max(0, Math.min(end, total) - start) }, (_, i) => {
    const at = start + i
    return { at, row: current?.pages.get(Math.floor(at / pageSize))?.[at % pageSize] }
  })
  const isBusy = !error && (!current || rows.some(({ row }) => row === undefined))
  const [sorted, isDescending] = [
    (query.sort || defaultSort).replace('-', ''),
    (query.sort || defaultSort).startsWith('-'),
  ]
  const countText = current
    ? current.total === null
      ? t('More than {total}', { total: formatCount(maxTotal) })
      : formatCount(current.total)
    : t('Loading…')
  const period = formatPeriod(query)
  const isFiltered = Boolean(query.q || query.filter || period)

  return html`<section class="list" aria-busy=${isBusy}>
    <div class="tools">
      ${tools}
      <input type="search" class="filter-text" aria-label=${t('Search {noun}', { noun })} placeholder=${placeholder} autocomplete="off" value=${text} onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)} />
      <span class="chips" role="group" aria-label="Filter">
        ${Object.entries({ '': t('All'), ...filters }).map(([filter, label]) => html`<button key=${filter} aria-pressed=${query.filter === filter} onClick=${() => update({ filter })}>${label}</button>`)}
      </span>
      ${period && html`<span class="chips"><button title="Remove this filter" onClick=${() => update({ from: '', until: '' })}>${rich('Time: <b>{period}</b>', { period })} ✕</button></span>`}
      <span class="aside"><span role="status">${countText}</span> ${current && current.total !== 0 && html`<${Export} load=${(/** @type {AbortSignal} */ signal) => loadRows(list, query, signal)} columns=${columns} caption=${caption} file=${list} />`}</span>
    </div>
    ${error && html`<${Problem} error=${error} />`}
    ${!current && !error && html`<p class="opening" role="status">Loading…</p>`}
    ${
      current?.total === 0 &&
      html`<div class="empty">${
        isFiltered
          ? html`<p>${t('No matching {noun}.', { noun })}</p><p><button onClick=${() => {
              setText('')
              update({ q: '', filter: '', from: '', until: '' })
            }}>Clear search and filters</button></p>`
          : empty
      }</div>`
    }
    ${
      current &&
      current.total !== 0 &&
      html`<div class=${countLines(shown) > 2 ? 'scroll data tall' : 'scroll data'} role="region" aria-label=${caption} tabindex="0" ref=${scroller} onScroll=${onScroll}>
      <table aria-rowcount=${current.total === null ? -1 : current.total + 1}>
        <caption class="hidden">${caption}</caption>
        <colgroup>${shown.map(({ size: width = 1 }) => html`<col style=${{ width: `${(100 * width) / parts}%` }} />`)}</colgroup>
        <thead><tr aria-rowindex="1">${shown.map(column => {
          const title = getColumnTitle(column)
          const isSorted = column.sort === sorted
          const sort = isSorted && !isDescending ? `-${column.sort}` : column.sort
          return html`<th scope="col" key=${column.title} title=${title} class=${column.right ? 'right' : undefined} aria-sort=${isSorted ? (isDescending ? 'descending' : 'ascending') : undefined}>${column.sort ? html`<button onClick=${() => update({ sort: sort ?? '' })}>${title}<span aria-hidden="true">${isSorted ? (isDescending ? ' ↓' : ' ↑') : ''}</span></button>` : title}</th>`
        })}</tr></thead>
        <tbody>
          ${start > 0 && html`<tr class="spacer" aria-hidden="true"><td colspan=${shown.length} style=${{ height: `${start * size.row}px` }}></td></tr>`}
          ${rows.map(({ at, row }) => {
            const link = row && getLink(row)
            return html`<tr key=${at} aria-rowindex=${at + 2} class=${link ? 'opens' : undefined} onClick=${(
              /** @type {any} */ event,
            ) => {
              if (link && !event.target.closest('a, button') && !getSelection()?.toString()) location.hash = link
            }}>${shown.map((column, i) => {
              const value = row ? renderCell(column, row) : ''
              return html`<td key=${column.title} data-title=${column.title} class=${cellClasses[i]}>${i === 0 && link ? html`<a href=${link}>${value}</a>` : (value ?? html`<span class="none">–</span>`)}</td>`
            })}</tr>`
          })}
          ${total > end && html`<tr class="spacer" aria-hidden="true"><td colspan=${shown.length} style=${{ height: `${(total - end) * size.row}px` }}></td></tr>`}
        </tbody>
      </table>
    </div>`
    }
  </section>`
}
