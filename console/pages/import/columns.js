import { useState } from 'preact/hooks'
import { html } from '../../lib/html.js'
import { truncate } from './preview.js'

/** What a column of ours may be instead of one of the file's, whose names begin with no blank. */
const [none, constant] = [' none', ' constant']

/**
 * Which column of the file each of ours is, or what it is in every line.
 * @param {{
 *   columns: import('tillbridge/import-types').Column[], header: string[], rows: string[][],
 *   from: Record<string, string>, set: Record<string, string>,
 *   change: (change: { from?: Record<string, string>, set?: Record<string, string> }) => void,
 * }} props
 */
export function Columns({ columns, header, rows, from, set, change }) {
  // As it was at first: what is chosen stays where it is.
  const [needed] = useState(() => columns.filter(({ name, required }) => required || name in from))
  const others = columns.filter(column => !needed.includes(column))
  /** @param {string} name @param {string} value */
  const choose = (name, value) => {
    const { [name]: _, ...theirs } = from
    const { [name]: __, ...same } = set
    if (value === constant) change({ from: theirs, set: Object.assign(same, { [name]: '' }) })
    else change({ from: value === none ? theirs : Object.assign(theirs, { [name]: value }), set: same })
  }
  const row = (/** @type {import('tillbridge/import-types').Column} */ column) => {
    const { name, required, description, format } = column
    const theirs = from[name]
    const example = rows.map(cells => cells[header.indexOf(theirs ?? '')]).find(Boolean)
    return html`<tr key=${name}>
      <td><b>${name}</b>${required ? ' *' : ''}<br /><small>${description}</small></td>
      <td class="wide">
        <select aria-label=${`${name} is`} value=${name in set ? constant : (theirs ?? none)} onChange=${(/** @type {any} */ event) => choose(name, event.currentTarget.value)}>
          <option value=${none}>not in the file</option>
          ${/* What is sent with the file stands in the URL. */ format !== 'secret' && html`<option value=${constant}>the same in every line…</option>`}
          ${header.filter(Boolean).map(each => html`<option key=${each} value=${each}>${each}</option>`)}
        </select>
      </td>
      <td class="wide">
        ${
          name in set
            ? html`<input aria-label=${`${name} in every line`} value=${set[name]} placeholder=${column.example} onInput=${(/** @type {any} */ event) => change({ set: { ...set, [name]: event.currentTarget.value } })} />`
            : format === 'secret'
              ? '••••'
              : html`<code>${truncate(example ?? '')}</code>`
        }
      </td>
    </tr>`
  }
  return html`<section aria-label="Columns">
    <h2>Columns</h2>
    <div class="scroll" role="region" aria-label="What the columns are" tabindex="0">
      <table>
        <caption class="hidden">What each column is in the file; * required</caption>
        <thead><tr><th scope="col">Column (* required)</th><th scope="col">In the file</th><th scope="col">Example</th></tr></thead>
        <tbody>${needed.map(row)}</tbody>
      </table>
    </div>
    ${
      others.length > 0 &&
      html`<details>
        <summary>${others.length} more that there may be: ${others.map(({ name }) => name).join(', ')}</summary>
        <div class="scroll" role="region" aria-label="Further columns" tabindex="0">
          <table>
            <caption class="hidden">Columns that the file seems to lack</caption>
            <thead><tr><th scope="col">Column</th><th scope="col">In the file</th><th scope="col">Example</th></tr></thead>
            <tbody>${others.map(row)}</tbody>
          </table>
        </div>
      </details>`
    }
  </section>`
}
