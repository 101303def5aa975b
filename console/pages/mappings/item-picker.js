import { useEffect, useId, useState } from 'preact/hooks'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { plural } from '../../lib/text.js'

/** Wait for further keys before a request. */
const debounceMs = 150

/**
 * A field for a platform item that lists the items that match what was typed. The arrow keys choose one. Other identifiers can be entered too.
 * @param {{ kind: string, label: string, value: string, change: (value: string) => void, hint?: string }} props
 */
export function ItemPicker({ kind, label, value, change, hint }) {
  const id = useId()
  const [items, setItems] = useState(
    /** @type {{ id: string, name: string | null, other: string | null, isMapped: boolean }[]} */ ([]),
  )
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const text = value.trim()
  /** @param {typeof items} next */
  const show = next => {
    setActive(-1)
    setItems(next)
  }
  useEffect(() => {
    setActive(-1)
    if (!isOpen || !text) return show([])
    const control = new AbortController()
    const timer = setTimeout(() => {
      callApi(`/console/mappings/${kind}/items?q=${encodeURIComponent(text)}`, { signal: control.signal }).then(
        ({ data }) => control.signal.aborted || show(data),
        () => control.signal.aborted || show([]),
      )
    }, debounceMs)
    return () => {
      clearTimeout(timer)
      control.abort()
    }
  }, [kind, text, isOpen])

  const close = () => setOpen(false)
  /** @param {{ id: string }} item */
  const choose = item => {
    change(item.id)
    close()
  }
  const isShown = isOpen && items.length > 0
  const handleKey = (/** @type {KeyboardEvent} */ event) => {
    const chosen = items[active]
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (isShown && event.key === 'Escape') close()
    else if (isShown && event.key === 'Enter' && chosen) choose(chosen)
    else if (step) {
      setOpen(true)
      if (items.length) setActive((Math.max(active, step === 1 ? -1 : 0) + step + items.length) % items.length)
    } else return
    // Escape closes the list and not the dialog around it.
    event.preventDefault()
    event.stopPropagation()
  }
  return html`<div class="picker">
    <label>
      <span>${label}</span>
      <input
        role="combobox"
        aria-expanded=${String(isShown)}
        aria-controls=${`${id}-items`}
        aria-autocomplete="list"
        aria-activedescendant=${isShown && active >= 0 ? `${id}-item-${active}` : undefined}
        autocomplete="off"
        value=${value}
        onInput=${(/** @type {any} */ event) => {
          change(event.currentTarget.value)
          setOpen(true)
        }}
        onBlur=${close}
        onKeyDown=${handleKey}
      />
      <small>${hint}</small>
    </label>
    <ul id=${`${id}-items`} role="listbox" aria-label="Platform items" hidden=${!isShown}>
      ${items.map(
        (item, i) => html`<li
          key=${item.id}
          id=${`${id}-item-${i}`}
          role="option"
          aria-selected=${String(i === active)}
          onPointerDown=${(/** @type {Event} */ event) => event.preventDefault()}
          onClick=${() => choose(item)}
        ><code>${item.id}</code> <span>${item.name}</span>${item.other && html` <small>${item.other}</small>`}${item.isMapped && html` <small class="pill">already mapped</small>`}</li>`,
      )}
    </ul>
    <p class="hidden" role="status">${isShown ? plural(items.length, '{count} item. Use the arrow keys.', '{count} items. Use the arrow keys.') : ''}</p>
  </div>`
}
