import { html } from '../lib/html.js'
import { Problem } from './problem.js'

/**
 * A button with optional attributes. While busy, it ignores clicks. It isn't disabled, because a disabled button loses the keyboard focus.
 * @param {{ label: unknown, busy?: boolean, busyLabel?: string, onClick?: (event: Event) => void } & Record<string, unknown>} props
 */
export const Button = ({ label, busy = false, busyLabel = '…', onClick, ...attributes }) => html`<button
  ...${attributes}
  aria-disabled=${busy ? 'true' : undefined}
  onClick=${(/** @type {Event} */ event) => (busy ? event.preventDefault() : onClick?.(event))}
>${busy ? busyLabel : label}</button>`

/**
 * The last row of a form: its error, if any, and the submit button.
 * @param {{ label: string, busyLabel: string, busy: boolean, error: unknown, disabled?: boolean, remedy?: string | undefined }} props
 */
export const SubmitButton = ({
  error,
  remedy,
  ...button
}) => html`${error && html`<${Problem} error=${error} remedy=${remedy} />`}
  <p class="choices"><${Button} class="main" ...${button} /></p>`
