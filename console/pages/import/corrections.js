import { useState } from 'preact/hooks'
import { Choice, Field, onSubmit } from '../../components/field.js'
import { html } from '../../lib/html.js'
import { plural, t } from '../../lib/text.js'
import { truncate } from './preview.js'
import { hasRejectionColumns, rejectionColumns } from './profile.js'

/** Further columns to show next to the rejected one, to identify the line. */
const maxContextColumns = 4

/**
 * Inputs for the lines of one rejection group. If the reason is about one column, only that one can be edited, line by line or in
 * several lines at once.
 * @param {{
 *   group: import('./profile.js').RejectionGroup, lines: Map<number, import('./profile.js').EditableLine>, header: string[],
 *   isSecret: (name: string) => boolean, setCell: (number: number, index: number, text: string) => void,
 * }} props
 */
export function Corrections({ group, lines, header, isSecret, setCell }) {
  const [replacement, setReplacement] = useState('')
  const [scope, setScope] = useState('')
  const numbers = group.numbers.filter(number => lines.has(number))
  const rejectedIndex = header.indexOf(group.column)
  const isOneColumn = rejectedIndex >= 0
  const isCorrected = hasRejectionColumns(header)
  const dataIndexes = header.map((_, i) => i).slice(isCorrected ? rejectionColumns.length : 0)
  // Corrected lines keep the numbers that they have in the original file.
  const getLine = (/** @type {number} */ number) => (isCorrected && lines.get(number)?.cells[0]) || number
  const inputIndexes = isOneColumn ? [rejectedIndex] : dataIndexes
  const contextIndexes = isOneColumn
    ? dataIndexes.filter(i => i !== rejectedIndex && !isSecret(header[i] ?? '')).slice(0, maxContextColumns)
    : []
  const getCell = (/** @type {number} */ number) => lines.get(number)?.cells[rejectedIndex] ?? ''
  const numbersByValue = [...Map.groupBy(numbers, getCell)].toSorted((a, b) => b[1].length - a[1].length)
  /** Equal values can be replaced together. Different ones only if that is chosen. */
  const equal = numbersByValue.filter(([, { length }]) => length > 1)
  /** The value of a choice: places would change with each correction. @param {string} value */
  const toScope = value => `=${value}`
  const isOffered = scope === 'all' || equal.some(([value]) => toScope(value) === scope)
  const chosen = isOffered ? scope : equal[0] ? toScope(equal[0][0]) : ''
  const replaceChosen = onSubmit(() => {
    const affected = chosen === 'all' ? numbers : (equal.find(([value]) => toScope(value) === chosen)?.[1] ?? [])
    for (const number of affected) setCell(number, rejectedIndex, replacement)
    setReplacement('')
    setScope('')
  })
  const renderInput = (/** @type {number} */ number, /** @type {number} */ index) => html`<input
    aria-label=${t('{column} of line {line}', { column: header[index], line: getLine(number) })}
    type=${isSecret(header[index] ?? '') ? 'password' : 'text'}
    autocomplete="off"
    value=${lines.get(number)?.cells[index] ?? ''}
    onInput=${(/** @type {any} */ event) => setCell(number, index, event.currentTarget.value)}
  />`
  return html`
    ${
      isOneColumn &&
      numbers.length > 1 &&
      html`<form class="inline" onSubmit=${replaceChosen}>
        <${Choice} inline label="Replace" value=${chosen} change=${setScope} options=${[
          ...(equal.length ? [] : [['', t('Choose…')]]),
          ...equal.map(([value, { length }]) => [
            toScope(value),
            plural(length, '{value} ({count} line)', '{value} ({count} lines)', {
              value: truncate(value) || t('empty'),
            }),
          ]),
          ...(numbersByValue.length > 1
            ? [['all', t('all {count} lines, which differ', { count: numbers.length })]]
            : []),
        ]} />
        <${Field} inline label="With" autocomplete="off" value=${replacement} change=${setReplacement} />
        <button disabled=${chosen === ''}>Replace</button>
      </form>`
    }
    <div class="scroll bounded" role="region" aria-label=${t('Lines: {column} {reason}', { column: group.column, reason: group.reason })} tabindex="0">
      <table>
        <caption class="hidden">Rejected lines</caption>
        <thead>
          <tr>
            <th scope="col" class="right shrink">Line</th>
            ${[...inputIndexes, ...contextIndexes].map(index => html`<th scope="col" key=${index}>${header[index]}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${numbers.map(
            number => html`<tr key=${number}>
              <td class="right shrink">${getLine(number)}</td>
              ${inputIndexes.map(index => html`<td key=${index} class="wide">${renderInput(number, index)}</td>`)}
              ${contextIndexes.map(index => html`<td key=${index} class="shrink">${truncate(lines.get(number)?.cells[index] ?? '')}</td>`)}
            </tr>`,
          )}
        </tbody>
      </table>
    </div>`
}
