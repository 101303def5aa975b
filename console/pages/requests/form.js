import { useLayoutEffect, useState } from 'preact/hooks'
import { Choice, Field, onSubmit } from '../../components/field.js'
import { useKeptFocus } from '../../components/use-kept-focus.js'
import { html } from '../../lib/html.js'
import { removeEmpty } from './search.js'

/** @typedef {[name: string, label: string, attributes?: Record<string, string>]} FormField */

/** @type {FormField[]} */
const textFields = [
  ['request_id', 'Request ID'],
  ['idempotency_key', 'Idempotency key'],
  ['where', 'Path or operation', { placeholder: 'PUT /customers/:id' }],
  ['record', 'Record', { placeholder: '/customers/65432' }],
  ['code', 'Error', { placeholder: 'email_taken' }],
  ['status', 'Status', { type: 'number', min: '100', max: '599' }],
  ['account', 'Account'],
]
/** @type {FormField[]} */
const timeFields = [
  ['answered_after', 'From', { type: 'datetime-local' }],
  ['answered_before', 'Until', { type: 'datetime-local' }],
]

/** @type {[string, string][]} */
const outcomes = [
  ['', 'All'],
  ['true', 'Errors'],
  ['false', 'Successful'],
]

/**
 * The search form. A request must match all fields.
 * @param {{ search: import('./search.js').Search, run: (search: import('./search.js').Search) => void }} props
 */
export function SearchForm({ search, run }) {
  const [values, setValues] = useState(search)
  const container = useKeptFocus()
  // Follows the address. A layout effect, so that nothing typed after the paint is lost.
  useLayoutEffect(() => setValues(search), [JSON.stringify(search)])
  const change = (/** @type {string} */ name) => (/** @type {string} */ value) =>
    setValues(previous => Object.assign({}, previous, { [name]: value }))
  const field = (/** @type {FormField} */ [name, label, attributes]) =>
    html`<${Field} key=${name} label=${label} value=${values[name] ?? ''} change=${change(name)} autocomplete="off" ...${attributes} />`
  return html`<form class="card search" role="search" tabindex="-1" ref=${container} onSubmit=${onSubmit(() => run(removeEmpty(values)))}>
    <div class="fields">
      ${textFields.map(field)}
      <${Choice} label="Result" value=${values.failed ?? ''} change=${change('failed')} options=${outcomes} />
      ${timeFields.map(field)}
      <p class="choices">
        <button class="main">Search</button>
        ${Object.keys(search).length > 0 && html`<button type="button" onClick=${() => run({})}>Clear</button>`}
      </p>
    </div>
  </form>`
}
