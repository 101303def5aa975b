import { useState } from 'preact/hooks'
import { renderCode } from '../../components/problem.js'
import { html } from '../../lib/html.js'
import { plural, t } from '../../lib/text.js'
import { truncate } from './preview.js'

/** Option values next to the file's columns, whose names never begin with a space. */
const [none, constant] = [' none', ' constant']

/**
 * The mapping of our columns to those of the file, or to a constant.
 * @param {{
 *   columns: import('tillbridge/import-types').Column[], header: string[], rows: string[][],
 *   map: Record<string, string>, constants: Record<string, string>,
 *   change: (change: { map?: Record<string, string>, constants?: Record<string, string> }) => void,
 * }} props
 */
export function Columns({ columns, header, rows, map, constants, change }) {
  // Set once, so that a column stays in its table after a choice.
  const [mainColumns] = useState(() => columns.filter(({ name, required }) => required || name in map))
  const [startsOpen] = useState(() => columns.some(({ name, required }) => required && !(name in map)))
  const optionalColumns = columns.filter(column => !mainColumns.includes(column))
  /** @param {string} name @param {string} value */
  const choose = (name, value) => {
    const { [name]: _, ...otherMap } = map
    const { [name]: __, ...otherConstants } = constants
    if (value === constant) change({ map: otherMap, constants: Object.assign(otherConstants, { [name]: '' }) })
    else
      change({
        map: value === none ? otherMap : Object.assign(otherMap, { [name]: value }),
        constants: otherConstants,
      })
  }
  const renderRow = (/** @type {import('tillbridge/import-types').Column} */ column) => {
    const { name, required, description, format } = column
    const source = map[name]
    const example = rows.map(cells => cells[header.indexOf(source ?? '')]).find(Boolean)
    return html`<tr key=${name}>
      <td><b>${name}</b>${required ? ' *' : ''}<br /><small>${renderCode(description)}</small></td>
      <td class="wide">
        <select aria-label=${t('Source of {name}', { name })} value=${name in constants ? constant : (source ?? none)} onChange=${(/** @type {any} */ event) => choose(name, event.currentTarget.value)}>
          <option value=${none}>Don't import</option>
          ${/* Constants are part of the URL, so a secret can't be one. */ format !== 'secret' && html`<option value=${constant}>Fixed value…</option>`}
          ${header.filter(Boolean).map(heading => html`<option key=${heading} value=${heading}>${heading}</option>`)}
        </select>
      </td>
      <td class="wide">
        ${
          name in constants
            ? html`<input aria-label=${t('Value of {name}', { name })} value=${constants[name]} placeholder=${column.example} onInput=${(/** @type {any} */ event) => change({ constants: { ...constants, [name]: event.currentTarget.value } })} />`
            : format === 'secret'
              ? '••••'
              : html`<code>${truncate(example ?? '')}</code>`
        }
      </td>
    </tr>`
  }
  return html`<details class="all-columns" open=${startsOpen}>
    <summary><h2>All columns and fixed values</h2></summary>
    <div class="scroll" role="region" aria-label="Required and detected columns" tabindex="0">
      <table>
        <caption class="hidden">Source of each column; * required</caption>
        <thead><tr><th scope="col">Column (* required)</th><th scope="col">Source</th><th scope="col">Example</th></tr></thead>
        <tbody>${mainColumns.map(renderRow)}</tbody>
      </table>
    </div>
    ${
      optionalColumns.length > 0 &&
      html`<details>
        <summary>${plural(optionalColumns.length, '{count} optional column: {names}', '{count} optional columns: {names}', { names: optionalColumns.map(({ name }) => name).join(', ') })}</summary>
        <div class="scroll" role="region" aria-label="Optional columns" tabindex="0">
          <table>
            <caption class="hidden">Columns that were not found in the file</caption>
            <thead><tr><th scope="col">Column</th><th scope="col">Source</th><th scope="col">Example</th></tr></thead>
            <tbody>${optionalColumns.map(renderRow)}</tbody>
          </table>
        </div>
      </details>`
    }
  </details>`
}
