import { html } from '../lib/html.js'
import { renderCode } from './problem.js'

/** @param {Event} event */
const getInputValue = event => /** @type {HTMLInputElement} */ (event.currentTarget).value

/**
 * A labelled input with optional attributes, and its error.
 * @param {{ label: string, value: string, change: (value: string) => void, hint?: unknown, error?: string | undefined, inline?: boolean } & Record<string, unknown>} props
 */
export const Field = ({
  label,
  value,
  change,
  hint,
  error,
  inline = false,
  ...attributes
}) => html`<label class=${inline ? 'inline' : undefined}>
  <span>${label}</span>
  <input ...${attributes} aria-invalid=${error ? 'true' : undefined} value=${value} onInput=${(/** @type {Event} */ event) => change(getInputValue(event))} />
  ${hint && html`<small>${hint}</small>`}
  ${error && html`<small class="field-error">${renderCode(error)}</small>`}
</label>`

/** @param {{ label: string, value: string, change: (value: string) => void, options?: [value: string, title: string][], groups?: [title: string, options: [value: string, title: string][]][], error?: string | undefined, inline?: boolean }} props */
export const Choice = ({
  label,
  value,
  change,
  options = [],
  groups = [],
  error,
  inline = false,
}) => html`<label class=${inline ? 'inline' : undefined}>
  <span>${label}</span>
  <select aria-invalid=${error ? 'true' : undefined} value=${value} onChange=${(/** @type {Event} */ event) => change(getInputValue(event))}>
    ${options.map(renderOption)}
    ${groups.map(([group, grouped]) => html`<optgroup key=${group} label=${group}>${grouped.map(renderOption)}</optgroup>`)}
  </select>
  ${error && html`<small class="field-error">${renderCode(error)}</small>`}
</label>`

/** @param {[value: string, title: string]} option */
const renderOption = ([option, title]) => html`<option key=${option} value=${option}>${title}</option>`

/** @param {{ label: string, checked: boolean, change: (checked: boolean) => void, disabled?: boolean }} props */
export const Checkbox = ({ label, checked, change, disabled = false }) => html`<label class="tick">
  <input
    type="checkbox"
    checked=${checked}
    disabled=${disabled}
    onChange=${(/** @type {Event} */ event) => change(/** @type {HTMLInputElement} */ (event.currentTarget).checked)}
  />
  <span>${label}</span>
</label>`

/** Handles a form's submit event without leaving the page. @param {(form: HTMLFormElement) => void} act @returns {(event: Event) => void} */
export const onSubmit = act => event => {
  event.preventDefault()
  act(/** @type {HTMLFormElement} */ (event.currentTarget))
}
