import { html } from '../lib/html.js'
import { formatLocalTime, formatZone } from '../lib/time.js'

/**
 * `value` is shown in the cell. `text` is written to the CSV if `value` isn't plain text; a column without text isn't in the CSV.
 * `name` is the CSV's header if it differs from `title`. `isTime`: a local time of the service. The header shows its zone.
 * @typedef {{
 *   title: string,
 *   name?: string,
 *   isTime?: boolean,
 *   value: (row: any) => unknown,
 *   text?: (row: any) => string,
 *   right?: boolean,
 *   shrink?: boolean,
 *   wide?: boolean,
 * }} Column
 */

/** @param {{ caption: string, columns: Column[], rows: any[], getKey?: (row: any) => string, open?: ((row: any) => void) | undefined }} props `open`: opens a row that is clicked */
export const Table = ({ caption, columns, rows, getKey = row => row.id, open }) => {
  const titles = columns.map(getColumnTitle)
  return html`<div class="scroll cards" role="region" aria-label=${caption} tabindex="0">
  <table>
    <caption class="hidden">${caption}</caption>
    <thead>
      <tr>${columns.map((column, i) => html`<th scope="col" class=${getCellClass(column)}>${titles[i]}</th>`)}</tr>
    </thead>
    <tbody>
      ${rows.map(
        row => html`<tr
          key=${getKey(row)} class=${open && 'opens'}
          onClick=${open && ((/** @type {any} */ event) => event.target.closest('a, button') || getSelection()?.toString() || open(row))}
        >
          ${columns.map((column, i) => html`<td class=${getCellClass(column)} data-title=${titles[i]}>${renderCell(column, row) ?? html`<span class="none">–</span>`}</td>`)}
        </tr>`,
      )}
    </tbody>
  </table>
</div>`
}

/** Returns the header of a column, with the zone of its times. @param {Column} column */
export const getColumnTitle = ({ title, isTime }) => (isTime ? `${title} (${formatZone()})` : title)

/** Renders a cell without a placeholder for no value. @param {Column} column @param {any} row */
export function renderCell({ value, isTime }, row) {
  const content = value(row)
  return isTime && typeof content === 'string' ? formatLocalTime(content) : content
}

/** @param {Column} column */
const getCellClass = ({ right, shrink, wide }) =>
  [right && 'right', shrink && 'shrink', wide && 'wide'].filter(Boolean).join(' ') || undefined

/** Returns the CSV text of a cell, or undefined if it has only markup. @param {Column} column @param {any} row */
export function getCellText({ text, value }, row) {
  const content = text ? text(row) : value(row)
  return content === null || content === undefined ? '' : typeof content === 'object' ? undefined : String(content)
}
