import { html } from '../../lib/html.js'
import { plural, t } from '../../lib/text.js'
import { hasRejectionColumns, rejectionColumns } from './profile.js'

const maxExamples = 3

/** Option value of a column that isn't imported. No column has this name. */
const none = ' none'

/**
 * The columns of the file with their first values, and the column that each is imported as.
 * @param {{
 *   header: string[], rows: string[][], map: Record<string, string>, columns: import('tillbridge/import-types').Column[],
 *   change: (change: { map: Record<string, string> }) => void,
 * }} props
 */
export function Preview({ header, rows, map, columns, change }) {
  const secrets = new Set(columns.filter(({ format }) => format === 'secret').map(({ name }) => map[name]))
  /** @param {string} source @param {string} target */
  const choose = (source, target) => {
    const others = Object.entries(map).filter(([name, column]) => column !== source && name !== target)
    change({ map: Object.fromEntries(target === none ? others : [...others, [target, source]]) })
  }
  return html`<section aria-label="Columns of the file">
    <h2>Columns of the file</h2>
    ${
      header.length > 0 &&
      html`<div class="scroll" role="region" aria-label="First values of each column" tabindex="0">
      <table>
        <caption class="hidden">Columns of the file with their first values</caption>
        <thead><tr><th scope="col">Column</th><th scope="col">First values</th><th scope="col">Import as</th></tr></thead>
        <tbody>
          ${header.map((name, i) => {
            const values = [...new Set(rows.map(row => row[i] ?? '').filter(Boolean))].slice(0, maxExamples)
            const targets = Object.keys(map).filter(target => name && map[target] === name)
            return html`<tr key=${i}>
              <td><b>${name || t('column {number}', { number: i + 1 })}</b></td>
              <td class="wide">${secrets.has(name) ? '••••' : values.length ? html`<small>${values.map(truncate).join(' · ')}</small>` : html`<span class="none">empty</span>`}</td>
              <td>${
                name &&
                html`<select aria-label=${t('Import {name} as', { name })} class=${targets.length ? undefined : 'unmapped'} value=${targets[0] ?? none} onChange=${(/** @type {any} */ event) => choose(name, event.currentTarget.value)}>
                  <option value=${none}>Not imported</option>
                  ${columns.map(column => html`<option key=${column.name} value=${column.name}>${map[column.name] && map[column.name] !== name ? t('{column} (now {source})', { column: formatColumn(column), source: map[column.name] }) : formatColumn(column)}</option>`)}
                </select>${targets.length > 1 && html` <small>${t('also {columns}', { columns: targets.slice(1).join(', ') })}</small>`}`
              }</td>
            </tr>`
          })}
        </tbody>
      </table>
    </div>`
    }
    ${rows.length === 0 && html`<div class="empty">No rows found. Choose another file or another separator.</div>`}
  </section>`
}

/**
 * The columns of the file that are not imported. `adminNames`: those that only an admin can import.
 * @param {{ header: string[], map: Record<string, string>, adminNames: string[] }} props
 */
export function Unmapped({ header, map, adminNames }) {
  const mapped = new Set(Object.values(map))
  const data = hasRejectionColumns(header) ? header.slice(rejectionColumns.length) : header
  const names = data.filter(name => name && !mapped.has(name))
  return (
    names.length > 0 &&
    html`<p class="card notice degraded" role="status"><span><b>${plural(names.length, "{count} column won't be imported:", "{count} columns won't be imported:")}</b> ${names.join(', ')}${adminNames.length > 0 && html`<br />${t('Only an admin can import {columns}.', { columns: adminNames.join(', ') })}`}</span></p>`
  )
}

/** @param {{ name: string, required: boolean }} column */
const formatColumn = ({ name, required }) => (required ? `${name} *` : name)

/** @param {string} text */
export const truncate = text => (text.length > 40 ? `${text.slice(0, 40)}…` : text)
