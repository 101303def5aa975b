import { html } from '../../lib/html.js'

const maxRows = 5

/**
 * The first rows of the file, with the column that each of its columns is imported as.
 * @param {{ header: string[], rows: string[][], map: Record<string, string>, columns: import('tillbridge/import-types').Column[] }} props
 */
export function Preview({ header, rows, map, columns }) {
  const secrets = new Set(columns.filter(({ format }) => format === 'secret').map(({ name }) => map[name]))
  /** @param {string} name */
  const getTargets = name =>
    Object.keys(map)
      .filter(target => map[target] === name)
      .join(', ')
  return html`<section aria-label="First rows">
    <h2>First rows</h2>
    <div class="scroll" role="region" aria-label="First rows of the file" tabindex="0">
      <table>
        <caption class="hidden">First rows of the file</caption>
        <thead>
          <tr>
            ${header.map(
              (name, i) => html`<th scope="col" key=${i}>
                ${name || `column ${i + 1}`}<br />
                ${getTargets(name) ? html`<span class="target">→ ${getTargets(name)}</span>` : html`<span class="none">not imported</span>`}
              </th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${rows.slice(0, maxRows).map(
            (row, i) => html`<tr key=${i}>
              ${header.map((name, index) => html`<td key=${index} class="shrink">${secrets.has(name) ? '••••' : truncate(row[index] ?? '')}</td>`)}
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${rows.length === 0 && html`<div class="empty">No rows found. Choose another file or another separator.</div>`}
  </section>`
}

/** @param {string} text */
export const truncate = text => (text.length > 40 ? `${text.slice(0, 40)}…` : text)
