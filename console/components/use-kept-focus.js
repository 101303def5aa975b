import { useLayoutEffect, useRef } from 'preact/hooks'

/**
 * Keeps the keyboard focus inside an element: if the focused child disappears, such as the button of a deleted row, the element gets the
 * focus. The element needs `tabindex="-1"`.
 * @param {string} [selector] a descendant that gets the focus instead, if it exists
 */
export function useKeptFocus(selector) {
  const container = useRef(/** @type {HTMLElement | null} */ (null))
  const hadFocus = container.current?.contains(document.activeElement) ?? false
  useLayoutEffect(() => {
    if (!hadFocus || document.activeElement !== document.body) return
    const child = /** @type {HTMLElement | null | undefined} */ (selector && container.current?.querySelector(selector))
    ;(child ?? container.current)?.focus()
  })
  return container
}
