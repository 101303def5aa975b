import { html } from '../lib/html.js'
import { Problem } from './problem.js'

/**
 * A button; further attributes go to it. While what it has begun is under way it begins nothing more, and keeps the keyboard's focus:
 * one that is disabled would lose it.
 * @param {{ label: unknown, busy?: boolean, doing?: string, onClick?: (event: Event) => void } & Record<string, unknown>} props `doing`: what it says meanwhile
 */
export const Button = ({ label, busy = false, doing = '…', onClick, ...more }) => html`<button
  ...${more}
  aria-disabled=${busy ? 'true' : undefined}
  onClick=${(/** @type {Event} */ event) => (busy ? event.preventDefault() : onClick?.(event))}
>${busy ? doing : label}</button>`

/**
 * What a form ends with: the button that sends it, and why it was refused.
 * @param {{ label: string, doing: string, busy: boolean, error: unknown, disabled?: boolean, remedy?: string | undefined }} props
 */
export const SubmitButton = ({
  error,
  remedy,
  ...button
}) => html`${error && html`<${Problem} error=${error} remedy=${remedy} />`}
  <p class="choices"><${Button} class="main" ...${button} /></p>`
