import { useEffect, useRef } from 'preact/hooks'
import { html } from '../lib/html.js'

/**
 * A modal dialog that is open while it is rendered. Escape closes it. Returns the focus to the previous element at the end.
 * @param {{ title: string, close: () => void, isPanel?: boolean, children?: unknown }} props `isPanel`: at the right edge, with the full height
 */
export function Dialog({ title, close, isPanel = false, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null))
  useEffect(() => {
    const previous = /** @type {HTMLElement | null} */ (document.activeElement)
    dialog.current?.showModal()
    return () => previous?.focus()
  }, [])
  return html`<dialog ref=${dialog} class=${isPanel ? 'panel' : undefined} aria-label=${title} onClose=${close}>
    <div class="head"><h2>${title}</h2><button class="quiet" aria-label="Close" onClick=${() => dialog.current?.close()}>✕</button></div>
    ${children}
  </dialog>`
}
