import { useState } from 'preact/hooks'
import { Field, onSubmit } from '../../components/field.js'
import { html } from '../../lib/html.js'
import { truncate } from './preview.js'
import { hasRejectionColumns, rejectionColumns } from './profile.js'

/** So many cells stand beside the one that is mended, so that it is seen which line it is. */
const maxContextColumns = 4

/**
 * The lines of one reason. Where a column is at fault it alone is mended, in all of them at once or line by line; otherwise each cell.
 * @param {{
 *   group: import('./profile.js').Group, lines: Map<number, import('./profile.js').Kept>, header: string[],
 *   isSecret: (name: string) => boolean, put: (number: number, place: number, text: string) => void,
 * }} props
 */
export function Corrections({ group, lines, header, isSecret, put }) {
  const [all, setAll] = useState('')
  const numbers = group.numbers.filter(number => lines.has(number))
  const place = header.indexOf(group.column)
  const isOf = place >= 0
  const own = header.map((_, i) => i).slice(hasRejectionColumns(header) ? rejectionColumns.length : 0)
  const others = own.filter(i => i !== place && !isSecret(header[i] ?? ''))
  const open = isOf ? [place] : own
  const shown = isOf ? others.slice(0, maxContextColumns) : []
  const putAll = onSubmit(() => {
    for (const number of numbers) put(number, place, all)
    setAll('')
  })
  const input = (/** @type {number} */ number, /** @type {number} */ at) => html`<input
    aria-label=${`${header[at]} of line ${number}`}
    type=${isSecret(header[at] ?? '') ? 'password' : 'text'}
    autocomplete="off"
    value=${lines.get(number)?.cells[at] ?? ''}
    onInput=${(/** @type {any} */ event) => put(number, at, event.currentTarget.value)}
  />`
  return html`
    ${
      isOf &&
      numbers.length > 1 &&
      html`<form class="inline" onSubmit=${putAll}>
        <${Field} inline label=${`${group.column} of all ${numbers.length}`} autocomplete="off" value=${all} change=${setAll} />
        <button>Apply to all</button>
      </form>`
    }
    <div class="scroll bounded" role="region" aria-label=${`Lines: ${group.column} ${group.reason}`} tabindex="0">
      <table>
        <caption class="hidden">Lines that were rejected</caption>
        <thead>
          <tr>
            <th scope="col" class="right shrink">Line</th>
            ${[...open, ...shown].map(at => html`<th scope="col" key=${at}>${header[at]}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${numbers.map(
            number => html`<tr key=${number}>
              <td class="right shrink">${number}</td>
              ${open.map(at => html`<td key=${at} class="wide">${input(number, at)}</td>`)}
              ${shown.map(at => html`<td key=${at} class="shrink">${truncate(lines.get(number)?.cells[at] ?? '')}</td>`)}
            </tr>`,
          )}
        </tbody>
      </table>
    </div>`
}
