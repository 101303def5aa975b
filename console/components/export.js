import { useRef, useState } from 'preact/hooks'
import { escapeFormula } from 'tillbridge/formulas'
import { html } from '../lib/html.js'
import { t } from '../lib/text.js'
import { Problem } from './problem.js'
import { getCellText, getColumnTitle } from './table.js'

/**
 * A button that saves all records of a list as CSV, not only those on screen. `load` yields the records in chunks. `csv` builds the CSV
 * rows if they differ from the columns.
 * @param {{
 *   load: (signal: AbortSignal) => Iterable<any[]> | AsyncIterable<any[]>, columns: import('./table.js').Column[], caption: string, file: string,
 *   csv?: ((rows: any[]) => string[][]) | undefined,
 * }} props
 */
export function Export({ load, columns, caption, file, csv = rows => toCsvRows(columns, rows) }) {
  const [loaded, setLoaded] = useState(/** @type {number | undefined} */ (undefined))
  const [error, setError] = useState(/** @type {unknown} */ (undefined))
  const running = useRef(/** @type {AbortController | undefined} */ (undefined))

  const save = async () => {
    const control = new AbortController()
    running.current = control
    setError(undefined)
    setLoaded(0)
    const rows = []
    try {
      for await (const chunk of load(control.signal)) {
        rows.push(...chunk)
        setLoaded(rows.length)
      }
      downloadCsv(`${file}.csv`, csv(rows))
    } catch (reason) {
      if (!control.signal.aborted) setError(reason)
    }
    setLoaded(undefined)
  }
  const isRunning = loaded !== undefined
  // The same button for both actions, so that it keeps the focus.
  return html`<span role="status">${isRunning && html`${t('{loaded} rows…', { loaded })} `}</span><button
      class="quiet"
      aria-label=${isRunning ? t('Cancel') : t('Export CSV: {caption}', { caption })}
      onClick=${isRunning ? () => running.current?.abort() : save}
    >${isRunning ? t('Cancel') : t('Export CSV')}</button>
  ${error && html`<${Problem} error=${error} />`}`
}

/** Returns a header and the rows, without columns that have no text. @param {import('./table.js').Column[]} columns @param {any[]} rows */
function toCsvRows(columns, rows) {
  const textColumns = columns.filter(column => rows.every(row => getCellText(column, row) !== undefined))
  return [
    textColumns.map(column => column.name ?? getColumnTitle(column)),
    ...rows.map(row => textColumns.map(column => getCellText(column, row) ?? '')),
  ]
}

/** Formats rows as CSV (RFC 4180). @param {string[][]} rows */
export const toCsv = rows =>
  rows
    .map(
      cells => `${cells.map(cell => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`,
    )
    .join('')

/** Saves rows for a spreadsheet, which needs the byte order mark to detect UTF-8 and would run formulas in a customer's name. @param {string} name @param {string[][]} rows */
export const downloadCsv = (name, rows) => download(name, `\ufeff${toCsv(rows.map(cells => cells.map(escapeFormula)))}`)

/** Saves text as a file. @param {string} name @param {string} text */
export function download(name, text) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
