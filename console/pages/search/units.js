import { Field } from '../../components/field.js'
import { html } from '../../lib/html.js'
import { t } from '../../lib/text.js'

/**
 * A line of an order or a return with the units that an action can be about.
 * @typedef {{ id: string, sku: string, title: string, max: number }} UnitLine
 */

/** Returns the largest quantity of each line. @param {UnitLine[]} lines @returns {Record<string, string>} */
export const allUnits = lines => Object.fromEntries(lines.map(({ id, max }) => [id, String(max)]))

/** Returns the lines with at least one unit, with their quantity. @param {UnitLine[]} lines @param {Record<string, string>} units */
export const listChosen = (lines, units) =>
  lines
    .map(line => ({ ...line, quantity: Number(units[line.id]) }))
    // Keeps an invalid number, so that the API reports it.
    .filter(({ quantity }) => quantity !== 0)

/** True if an action is about at least one unit. @param {{ units: Record<string, string> }} values */
export const hasUnits = ({ units }) => Object.values(units).some(quantity => Number(quantity) > 0)

/** The pointers of errors about a line, after that of the line. */
const linePointers = ['', '/quantity', '/sku', '/orderLineId', '/returnLineId']

/**
 * Renders inputs for the units of each line.
 * @param {{ legend: string, lines: UnitLine[] }} lines
 * @param {import('../../components/record-action.js').FormProps} form whose values have `units`
 */
export function renderUnits({ legend, lines }, { values: { units }, sent, change, getError }) {
  const chosen = listChosen(lines, sent.units)
  const getLineError = (/** @type {string} */ id) => {
    const index = chosen.findIndex(line => line.id === id)
    return index < 0 ? undefined : linePointers.map(name => getError(`/lines/${index}${name}`)).find(Boolean)
  }
  return html`<fieldset class="units">
    <legend>${legend}</legend>
    ${lines.map(
      ({ id, sku, title, max }) =>
        html`<${Field} key=${id} label=${t('Units of {sku}', { sku })} hint=${title ? t('{title}, of {max}', { title, max }) : t('of {max}', { max })} error=${getLineError(id)} type="number" min="0" max=${max} step="1" required value=${units[id] ?? ''} change=${(/** @type {string} */ quantity) => change({ units: { ...units, [id]: quantity } })} />`,
    )}
  </fieldset>`
}
