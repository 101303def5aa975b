import { useEffect, useState } from 'preact/hooks'
import { html } from '../lib/html.js'
import { Dialog } from './dialog.js'

/**
 * Asks before a link or the browser leaves the screen. Returns the dialog, or undefined.
 * @param {boolean} hasUnsaved @param {string} text the work that would be lost
 */
export function useLeaveGuard(hasUnsaved, text) {
  const [target, setTarget] = useState(/** @type {string | undefined} */ (undefined))
  useEffect(() => {
    if (!hasUnsaved) return
    const preventUnload = (/** @type {Event} */ event) => event.preventDefault()
    const catchLink = (/** @type {MouseEvent} */ event) => {
      const link = /** @type {Element} */ (event.target).closest('a[href^="#"]')
      if (!link || link.getAttribute('href') === location.hash) return
      event.preventDefault()
      event.stopPropagation()
      setTarget(link.getAttribute('href') ?? '')
    }
    addEventListener('beforeunload', preventUnload)
    document.addEventListener('click', catchLink, true)
    return () => {
      removeEventListener('beforeunload', preventUnload)
      document.removeEventListener('click', catchLink, true)
    }
  }, [hasUnsaved])
  return (
    target !== undefined &&
    html`<${Dialog} title="Leave this screen?" close=${() => setTarget(undefined)}>
      <p>${text}</p>
      <p class="choices">
        <button class="main" onClick=${() => setTarget(undefined)}>Stay</button>
        <button class="danger" onClick=${() => {
          location.hash = target
        }}>Leave</button>
      </p>
    <//>`
  )
}
