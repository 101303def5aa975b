import { useEffect, useRef } from 'preact/hooks'
import { html } from '../lib/html.js'

/**
 * A dialog that is open as long as it is there; Escape closes it. Where the focus was, it is again, also when what was
 * asked for is done.
 * @param {{ title: string, close: () => void, children?: unknown }} props
 */
export function Dialog({ title, close, children }) {
  const place = useRef(/** @type {HTMLDialogElement | null} */ (null))
  useEffect(() => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement)
    place.current?.showModal()
    return () => before?.focus()
  }, [])
  return html`<dialog ref=${place} aria-label=${title} onClose=${close}>
    <div class="head"><h2>${title}</h2><button class="quiet" aria-label="Close" onClick=${() => place.current?.close()}>✕</button></div>
    ${children}
  </dialog>`
}
