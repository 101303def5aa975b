import { useEffect, useRef, useState } from 'preact/hooks'
import { html } from '../lib/html.js'
import { guardAddress } from '../lib/route.js'
import { Dialog } from './dialog.js'

/**
 * Asks before a link, Back, another address or the browser leaves the screen. Returns the dialog, or undefined.
 * @param {boolean} hasUnsaved @param {string} text the work that would be lost
 */
export function useLeaveGuard(hasUnsaved, text) {
  const [target, setTarget] = useState(/** @type {string | undefined} */ (undefined))
  const isLeaving = useRef(false)
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
    const endGuard = guardAddress(address => {
      if (!isLeaving.current) setTarget(address)
      return !isLeaving.current
    })
    document.addEventListener('click', catchLink, true)
    return () => {
      removeEventListener('beforeunload', preventUnload)
      endGuard()
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
          isLeaving.current = true
          location.hash = target
        }}>Leave</button>
      </p>
    <//>`
  )
}
