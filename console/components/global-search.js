import { useEffect, useRef, useState } from 'preact/hooks'
import { html } from '../lib/html.js'
import { goTo } from '../lib/route.js'
import { rich, t } from '../lib/text.js'
import { onSubmit } from './field.js'
import { getRoute, ResultText, searchRecords } from './search-results.js'

/** Wait for further keys before a request. */
const debounceMs = 200
const maxOptions = 12
const maxScreens = 3

/** Returns the screens whose title contains a text. @param {{ path: string, title: string }[]} pages @param {string} text */
const findScreens = (pages, text) =>
  pages.filter(({ title }) => title.toLowerCase().includes(text.toLowerCase())).slice(0, maxScreens)

/** True if a key that is typed into this element is text. @param {EventTarget | null} target */
const isTyping = target =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))

/**
 * The search box of every screen, for records and screens. `/` and Ctrl-K focus it, the arrow keys choose a result.
 * @param {{ pages: { path: string, title: string }[] }} props `pages`: the screens of the account
 */
export function GlobalSearch({ pages }) {
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
        matches => control.signal.aborted || setResults(matches.slice(0, maxOptions)),
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
  /** @typedef {{ key: string, route: string[], content: unknown }} Option */
  /** @type {Option[]} */
  const screens = (query.length > 1 ? findScreens(pages, query) : []).map(({ path, title }) => ({
    key: `screen ${path}`,
    route: [path],
    content: html`<span class="tag">${t('Screen')}</span><b>${title}</b>`,
  }))
  /** @type {Option[]} */
  const records = (results ?? []).map(result => ({
    key: `${result.type} ${result.id}`,
    route: getRoute(result),
    content: html`<${ResultText} result=${result} query=${query} />`,
  }))
  const options = [...screens, ...records]
  /** @param {Option} option */
  const choose = ({ route }) => {
    close()
    setText('')
    goTo(...route)
  }
  const submit = onSubmit(() => {
    const [only] = records.length === 1 ? records : results?.length === 0 && screens.length === 1 ? screens : []
    const option = options[active] ?? only
    if (option) return choose(option)
    if (!query) return
    close()
    setText('')
    goTo('search', 'text', query)
  })
  const handleKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'Escape') return close()
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (!step || !options.length) return
    event.preventDefault()
    setOpen(true)
    setActive((Math.max(active, step === 1 ? -1 : 0) + step + options.length) % options.length)
  }
  const isShown = isOpen && query.length > 1 && (results !== undefined || isFailed || screens.length > 0)
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
      ${results?.length === 0 && screens.length === 0 && html`<p class="note">${rich('No results for <b>{query}</b>. Press Enter to search the back office too.', { query })}</p>`}
      <ul id="global-results" role="listbox" aria-label="Results">
        ${options.map(
          (option, i) => html`<li
            key=${option.key}
            id=${`global-result-${i}`}
            role="option"
            aria-selected=${String(i === active)}
            onPointerDown=${(/** @type {Event} */ event) => event.preventDefault()}
            onClick=${() => choose(option)}
          >${option.content}</li>`,
        )}
      </ul>
    </div>
  </form>`
}
