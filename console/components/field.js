import { html } from '../lib/html.js'

/** @param {Event} event */
const getInputValue = event => /** @type {HTMLInputElement} */ (event.currentTarget).value

/**
 * A labelled input with optional attributes.
 * @param {{ label: string, value: string, change: (value: string) => void, hint?: unknown, inline?: boolean } & Record<string, unknown>} props
 */
export const Field = ({
  label,
  value,
  change,
  hint,
  inline = false,
  ...attributes
}) => html`<label class=${inline ? 'inline' : undefined}>
  <span>${label}</span>
  <input ...${attributes} value=${value} onInput=${(/** @type {Event} */ event) => change(getInputValue(event))} />
  ${hint && html`<small>${hint}</small>`}
</label>`

/** @param {{ label: string, value: string, change: (value: string) => void, options: [value: string, title: string][], inline?: boolean }} props */
export const Choice = ({
  label,
  value,
  change,
  options,
  inline = false,
}) => html`<label class=${inline ? 'inline' : undefined}>
  <span>${label}</span>
  <select value=${value} onChange=${(/** @type {Event} */ event) => change(getInputValue(event))}>
    ${options.map(([option, title]) => html`<option key=${option} value=${option}>${title}</option>`)}
  </select>
</label>`

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
