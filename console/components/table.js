import { html } from '../lib/html.js'

/**
 * @typedef {{
 *   title: string,
 *   name?: string,
 *   value: (row: any) => unknown,
 *   text?: (row: any) => string,
 *   right?: boolean,
 *   shrink?: boolean,
 *   wide?: boolean,
 * }} Column `value` is what the cell shows, `text` what the CSV has where that is no plain text; none of it: not in the CSV. There it is called `name`, or else as here.
 */

/** @param {{ caption: string, columns: Column[], rows: any[], keyOf?: (row: any) => string }} props */
export const Table = ({
  caption,
  columns,
  rows,
  keyOf = row => row.id,
}) => html`<div class="scroll" role="region" aria-label=${caption} tabindex="0">
  <table>
    <caption class="hidden">${caption}</caption>
    <thead>
      <tr>${columns.map(column => html`<th scope="col" class=${getCellClass(column)}>${column.title}</th>`)}</tr>
    </thead>
    <tbody>
      ${rows.map(
        row => html`<tr key=${keyOf(row)}>
          ${columns.map(column => html`<td class=${getCellClass(column)}>${column.value(row) ?? html`<span class="none">–</span>`}</td>`)}
        </tr>`,
      )}
    </tbody>
  </table>
</div>`

/** @param {Column} column */
const getCellClass = ({ right, shrink, wide }) =>
  [right && 'right', shrink && 'shrink', wide && 'wide'].filter(Boolean).join(' ') || undefined

/** What a cell is in a CSV; undefined for what is no text. @param {Column} column @param {any} row */
export function getCellText({ text, value }, row) {
  const found = text ? text(row) : value(row)
  return found === null || found === undefined ? '' : typeof found === 'object' ? undefined : String(found)
}
