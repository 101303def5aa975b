import { html } from '../../lib/html.js'

const shown = 5

/**
 * The first rows as they are read, and what becomes of each column.
 * @param {{ header: string[], rows: string[][], from: Record<string, string>, columns: import('tillbridge/import-types').Column[] }} props
 */
export function Preview({ header, rows, from, columns }) {
  const secret = new Set(columns.filter(({ format }) => format === 'secret').map(({ name }) => from[name]))
  /** @param {string} name */
  const becomes = name =>
    Object.keys(from)
      .filter(ours => from[ours] === name)
      .join(', ')
  return html`<section aria-label="First rows">
    <h2>First rows</h2>
    <div class="scroll" role="region" aria-label="The first rows of the file" tabindex="0">
      <table>
        <caption class="hidden">The first rows of the file</caption>
        <thead>
          <tr>
            ${header.map(
              (name, i) => html`<th scope="col" key=${i}>
                ${name || `column ${i + 1}`}<br />
                ${becomes(name) ? html`<span class="becomes">→ ${becomes(name)}</span>` : html`<span class="none">left out</span>`}
              </th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${rows.slice(0, shown).map(
            (row, i) => html`<tr key=${i}>
              ${header.map((name, place) => html`<td key=${place} class="shrink">${secret.has(name) ? '••••' : truncate(row[place] ?? '')}</td>`)}
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${rows.length === 0 && html`<div class="empty">It has no rows. Choose another file, or another separator.</div>`}
  </section>`
}

/** @param {string} text */
export const truncate = text => (text.length > 40 ? `${text.slice(0, 40)}…` : text)
