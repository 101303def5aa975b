import { useEffect, useState } from 'preact/hooks'
import { html } from '../lib/html.js'

const shownMs = 6_000

/** @typedef {{ id: number, text: string, link?: { title: string, route: string } | undefined }} Toast */

/** Shows a toast in the mounted `Toasts`. @type {(toast: Toast) => void} */
let show = () => {}
let lastId = 0

/** Confirms an action at the edge of the screen for a few seconds. @param {string} text @param {{ title: string, route: string }} [link] */
export const showToast = (text, link) => show({ id: ++lastId, text, link })

/** The confirmations, which screen readers announce. */
export function Toasts() {
  const [toasts, setToasts] = useState(/** @type {Toast[]} */ ([]))
  const hide = (/** @type {number} */ id) => setToasts(shown => shown.filter(toast => toast.id !== id))
  useEffect(() => {
    show = toast => {
      setToasts(shown => [...shown.slice(-2), toast])
      setTimeout(() => hide(toast.id), shownMs)
    }
    return () => {
      show = () => {}
    }
  }, [])
  return html`<div class="toasts" role="status">
    ${toasts.map(
      ({ id, text, link }) => html`<p key=${id} class="toast">
        <span>${text}</span>
        ${link && html`<a href=${link.route}>${link.title}</a>`}
        <button class="quiet" aria-label="Dismiss" onClick=${() => hide(id)}>✕</button>
      </p>`,
    )}
  </div>`
}
