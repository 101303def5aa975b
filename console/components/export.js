import { useRef, useState } from 'preact/hooks'
import { withoutFormula } from 'tillbridge/formulas'
import { html } from '../lib/html.js'
import { Problem } from './problem.js'
import { getCellText } from './table.js'

/**
 * A button that saves all of a list, not only what is shown, as CSV.
 * @param {{
 *   all: (signal: AbortSignal) => Iterable<any[]> | AsyncIterable<any[]>, columns: import('./table.js').Column[], of: string, file: string,
 *   csv?: ((rows: any[]) => string[][]) | undefined,
 * }} props `all`: its rows, some at a time; `of`: what they are; `csv`: the lines, where they are not what the columns say
 */
export function Export({ all, columns, of, file, csv = rows => toCsvRows(columns, rows) }) {
  const [saved, setSaved] = useState(/** @type {number | undefined} */ (undefined))
  const [error, setError] = useState(/** @type {unknown} */ (undefined))
  const running = useRef(/** @type {AbortController | undefined} */ (undefined))

  const save = async () => {
    const control = new AbortController()
    running.current = control
    setError(undefined)
    setSaved(0)
    const lines = []
    try {
      for await (const rows of all(control.signal)) {
        lines.push(...rows)
        setSaved(lines.length)
      }
      // Spreadsheets take what has this mark for UTF-8, and would carry out what a customer has called themselves.
      download(`${file}.csv`, `\ufeff${toCsv(csv(lines).map(cells => cells.map(withoutFormula)))}`)
    } catch (refused) {
      if (!control.signal.aborted) setError(refused)
    }
    setSaved(undefined)
  }
  const isRunning = saved !== undefined
  // One button for both: it keeps the focus.
  return html`<span role="status">${isRunning && `${saved.toLocaleString('en')} rows… `}</span><button
      class="quiet"
      aria-label=${isRunning ? 'Cancel' : `Export CSV: ${of}`}
      onClick=${isRunning ? () => running.current?.abort() : save}
    >${isRunning ? 'Cancel' : 'Export CSV'}</button>
  ${error && html`<${Problem} error=${error} />`}`
}

/** The names of the columns and their texts, of those that have one in each row. @param {import('./table.js').Column[]} columns @param {any[]} rows */
function toCsvRows(columns, rows) {
  const told = columns.filter(column => rows.every(row => getCellText(column, row) !== undefined))
  return [
    told.map(({ title, name = title }) => name),
    ...rows.map(row => told.map(column => getCellText(column, row) ?? '')),
  ]
}

/** Cells as CSV (RFC 4180) that says the same to whoever reads it. @param {string[][]} lines */
export const toCsv = lines =>
  lines
    .map(
      cells => `${cells.map(cell => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`,
    )
    .join('')

/** Saves a text as a file. @param {string} name @param {string} text */
export function download(name, text) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
