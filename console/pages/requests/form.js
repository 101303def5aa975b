import { useLayoutEffect, useState } from 'preact/hooks'
import { Choice, Field, onSubmit } from '../../components/field.js'
import { useKeptFocus } from '../../components/use-kept-focus.js'
import { html } from '../../lib/html.js'
import { removeEmpty } from './search.js'

/** @typedef {[name: string, label: string, more?: Record<string, string>]} Asked */

/** @type {Asked[]} */
const textFields = [
  ['request_id', 'Request id'],
  ['idempotency_key', 'Idempotency key'],
  ['where', 'Path or operation', { placeholder: 'PUT /customers/:id' }],
  ['record', 'Record', { placeholder: '/customers/65432' }],
  ['code', 'Error', { placeholder: 'email_taken' }],
  ['status', 'Status', { type: 'number', min: '100', max: '599' }],
  ['account', 'Account'],
]
/** @type {Asked[]} */
const timeFields = [
  ['answered_after', 'From', { type: 'datetime-local' }],
  ['answered_before', 'Until', { type: 'datetime-local' }],
]

/** @type {[string, string][]} */
const outcomes = [
  ['', 'all'],
  ['true', 'errors'],
  ['false', 'no errors'],
]

/**
 * What to search by; all of it goes together.
 * @param {{ search: import('./search.js').Search, look: (search: import('./search.js').Search) => void }} props
 */
export function SearchForm({ search, look }) {
  const [typed, setTyped] = useState(search)
  const place = useKeptFocus()
  // The address may have changed without it; before anything is painted, so that nothing that is typed then is lost.
  useLayoutEffect(() => setTyped(search), [JSON.stringify(search)])
  const change = (/** @type {string} */ name) => (/** @type {string} */ value) =>
    setTyped(before => Object.assign({}, before, { [name]: value }))
  const field = (/** @type {Asked} */ [name, label, more]) =>
    html`<${Field} key=${name} label=${label} value=${typed[name] ?? ''} change=${change(name)} autocomplete="off" ...${more} />`
  return html`<form class="card search" role="search" tabindex="-1" ref=${place} onSubmit=${onSubmit(() => look(removeEmpty(typed)))}>
    <div class="fields">
      ${textFields.map(field)}
      <${Choice} label="Answered with" value=${typed.failed ?? ''} change=${change('failed')} options=${outcomes} />
      ${timeFields.map(field)}
      <p class="choices">
        <button class="main">Search</button>
        ${Object.keys(search).length > 0 && html`<button type="button" onClick=${() => look({})}>Clear</button>`}
      </p>
    </div>
  </form>`
}
