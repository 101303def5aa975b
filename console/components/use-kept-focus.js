import { useLayoutEffect, useRef } from 'preact/hooks'

/**
 * A place that keeps the keyboard's focus: whoever used what is gone now, such as the button of a row, is still there. It needs `tabindex="-1"`.
 * @param {string} [within] what gets the focus instead, where it is there
 */
export function useKeptFocus(within) {
  const place = useRef(/** @type {HTMLElement | null} */ (null))
  const hadFocus = place.current?.contains(document.activeElement) ?? false
  useLayoutEffect(() => {
    if (!hadFocus || document.activeElement !== document.body) return
    const inside = /** @type {HTMLElement | null | undefined} */ (within && place.current?.querySelector(within))
    ;(inside ?? place.current)?.focus()
  })
  return place
}
