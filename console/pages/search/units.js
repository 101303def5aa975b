import { Field } from '../../components/field.js'
import { html } from '../../lib/html.js'

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

/**
 * Inputs for the units of each line.
 * @param {{
 *   legend: string, lines: UnitLine[], units: Record<string, string>, change: (units: Record<string, string>) => void,
 *   getError: (pointer: string) => string | undefined,
 * }} props
 */
export function Units({ legend, lines, units, change, getError }) {
  const chosen = listChosen(lines, units)
  return html`<fieldset class="units">
    <legend>${legend}</legend>
    ${lines.map(({ id, sku, title, max }) => {
      const index = chosen.findIndex(line => line.id === id)
      return html`<${Field} key=${id} label=${`Units of ${sku}`} hint=${`${title ? `${title}, ` : ''}of ${max}`} error=${index < 0 ? undefined : ['', '/quantity', '/sku'].map(name => getError(`/lines/${index}${name}`)).find(Boolean)} type="number" min="0" max=${max} step="1" required value=${units[id] ?? ''} change=${(/** @type {string} */ quantity) => change({ ...units, [id]: quantity })} />`
    })}
  </fieldset>`
}
