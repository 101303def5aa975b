import { useEffect, useRef, useState } from 'preact/hooks'
import { html } from '../lib/html.js'
import { goTo } from '../lib/route.js'
import { rich } from '../lib/text.js'
import { onSubmit } from './field.js'
import { getRoute, ResultText, searchRecords } from './search-results.js'

/** Wait for further keys before a request. */
const debounceMs = 200
const maxOptions = 12

/** True if a key that is typed into this element is text. @param {EventTarget | null} target */
const isTyping = target =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))

/** The search box of every screen. `/` and Ctrl-K focus it, the arrow keys choose a result. */
export function GlobalSearch() {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null))
  const [text, setText] = useState('')
  const [results, setResults] = useState(
    /** @type {import('./search-results.js').SearchResult[] | undefined} */ (undefined),
  )
  const [isFailed, setFailed] = useState(false)
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const query = text.trim()

  useEffect(() => {
    const focus = (/** @type {KeyboardEvent} */ event) => {
      const isShortcut = event.key === 'k' && (event.ctrlKey || event.metaKey)
      if (!isShortcut && !(event.key === '/' && !isTyping(event.target))) return
      if (document.querySelector('dialog[open]')) return
      event.preventDefault()
      input.current?.focus()
      input.current?.select()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])

  useEffect(() => {
    setResults(undefined)
    setFailed(false)
    setActive(-1)
    if (query.length < 2) return
    const control = new AbortController()
    const timer = setTimeout(() => {
      searchRecords(query, control.signal).then(
        records => control.signal.aborted || setResults(records.slice(0, maxOptions)),
        () => control.signal.aborted || setFailed(true),
      )
    }, debounceMs)
    return () => {
      clearTimeout(timer)
      control.abort()
    }
  }, [query])

  const close = () => {
    setOpen(false)
    setActive(-1)
  }
  /** @param {import('./search-results.js').SearchResult} result */
  const choose = result => {
    close()
    setText('')
    goTo(...getRoute(result))
  }
  const submit = onSubmit(() => {
    const result = results?.[active] ?? (results?.length === 1 ? results[0] : undefined)
    if (result) return choose(result)
    if (!query) return
    close()
    setText('')
    goTo('search', 'text', query)
  })
  const handleKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'Escape') return close()
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (!step || !results?.length) return
    event.preventDefault()
    setOpen(true)
    setActive((Math.max(active, step === 1 ? -1 : 0) + step + results.length) % results.length)
  }
  const isShown = isOpen && query.length > 1 && (results !== undefined || isFailed)
  return html`<form class="global-search" role="search" aria-label="All records" onSubmit=${submit}>
    <input
      ref=${input}
      type="search"
      role="combobox"
      aria-label="Search everything"
      aria-expanded=${String(isShown)}
      aria-controls="global-results"
      aria-autocomplete="list"
      aria-activedescendant=${isShown && active >= 0 ? `global-result-${active}` : undefined}
      aria-keyshortcuts="/ Control+K"
      placeholder="Search: name, phone, number, SKU…  ( / )"
      autocomplete="off"
      value=${text}
      onInput=${(/** @type {any} */ event) => {
        setText(event.currentTarget.value)
        setOpen(true)
      }}
      onFocus=${() => setOpen(true)}
      onBlur=${close}
      onKeyDown=${handleKey}
    />
    <div class="results" hidden=${!isShown} role="status">
      ${isFailed && html`<p class="note">The search failed. Press Enter to try again.</p>`}
      ${results?.length === 0 && html`<p class="note">${rich('No results for <b>{query}</b>. Press Enter to search the back office too.', { query })}</p>`}
      <ul id="global-results" role="listbox" aria-label="Results">
        ${results?.map(
          (result, i) => html`<li
            key=${`${result.type} ${result.id}`}
            id=${`global-result-${i}`}
            role="option"
            aria-selected=${String(i === active)}
            onPointerDown=${(/** @type {Event} */ event) => event.preventDefault()}
            onClick=${() => choose(result)}
          ><${ResultText} result=${result} query=${query} /></li>`,
        )}
      </ul>
    </div>
  </form>`
}
