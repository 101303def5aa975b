import { useLayoutEffect, useState } from 'preact/hooks'
import { Choice, Field, onSubmit } from '../../components/field.js'
import { useKeptFocus } from '../../components/use-kept-focus.js'
import { html } from '../../lib/html.js'
import { t } from '../../lib/text.js'
import { formatTime } from '../../lib/time.js'
import { removeEmpty } from './search.js'

/** @typedef {[name: string, label: string, attributes?: Record<string, string>]} FormField */

/** @type {FormField[]} */
const textFields = [
  ['request_id', t('Request ID')],
  ['idempotency_key', t('Idempotency key')],
  ['where', t('Path or operation'), { placeholder: t('PUT /customers/:id') }],
  ['record', t('Record'), { placeholder: t('/customers/65432') }],
  ['code', t('Error'), { placeholder: t('email_taken') }],
  ['status', t('Status'), { type: 'number', min: '100', max: '599' }],
  ['account', t('Account')],
]
/** @type {FormField[]} */
const timeFields = [
  ['answered_after', t('From (your time zone)'), { type: 'datetime-local' }],
  ['answered_before', t('Until (your time zone)'), { type: 'datetime-local' }],
]

/** @type {[string, string][]} */
const outcomes = [
  ['', t('All')],
  ['true', t('Errors')],
  ['false', t('Successful')],
]

/** The name of each filter in its chip. @type {Record<string, string>} */
const chipNames = {
  ...Object.fromEntries(textFields.map(([name, label]) => [name, label])),
  // The chips show the time in the zone of the service.
  answered_after: t('From'),
  answered_before: t('Until'),
  failed: t('Result'),
  console: t('Console traffic'),
}

/** @param {string} name @param {string} value */
const formatFilter = (name, value) =>
  name === 'failed'
    ? (outcomes.find(([outcome]) => outcome === value)?.[1] ?? value)
    : name === 'console'
      ? 'included'
      : timeFields.some(([field]) => field === name)
        ? formatTime(new Date(value).toISOString())
        : value

/**
 * The results to choose from, and a chip for each filter that removes it.
 * @param {{ search: import('./search.js').Search, run: (search: import('./search.js').Search) => void }} props
 */
export function FilterChips({ search, run }) {
  const change = (/** @type {import('./search.js').Search} */ changes) => run(removeEmpty({ ...search, ...changes }))
  const filters = Object.entries(search).filter(([name]) => name !== 'failed' && name !== 'console')
  return html`<div class="tools">
    <span class="chips" role="group" aria-label="Result">
      ${outcomes.map(([failed, label]) => html`<button key=${failed} aria-pressed=${(search.failed ?? '') === failed} onClick=${() => change({ failed })}>${label}</button>`)}
    </span>
    <span class="chips" role="group" aria-label="Filters">
      ${filters.map(([name, value]) => html`<button key=${name} title="Remove this filter" onClick=${() => change({ [name]: '' })}>${chipNames[name] ?? name}: <b>${formatFilter(name, value)}</b> ✕</button>`)}
    </span>
    <span class="aside chips"><button aria-pressed=${search.console === 'true'} onClick=${() => change({ console: search.console === 'true' ? '' : 'true' })}>Include console traffic</button></span>
  </div>`
}

/**
 * The search form. A request must match all fields.
 * @param {{ search: import('./search.js').Search, run: (search: import('./search.js').Search) => void }} props
 */
export function SearchForm({ search, run }) {
  const hasFilters = Object.keys(search).length > 0
  const [values, setValues] = useState(search)
  // Stays open when the filters are cleared, because the form keeps the focus.
  const [isOpen, setIsOpen] = useState(hasFilters)
  const container = useKeptFocus()
  // Follows the address. A layout effect, so that nothing typed after the paint is lost.
  useLayoutEffect(() => {
    setValues(search)
    if (hasFilters) setIsOpen(true)
  }, [JSON.stringify(search)])
  const change = (/** @type {string} */ name) => (/** @type {string} */ value) =>
    setValues(previous => Object.assign({}, previous, { [name]: value }))
  const field = (/** @type {FormField} */ [name, label, attributes]) =>
    html`<${Field} key=${name} label=${label} value=${values[name] ?? ''} change=${change(name)} autocomplete="off" ...${attributes} />`
  return html`<details class="card filters" open=${isOpen} onToggle=${(/** @type {any} */ event) => setIsOpen(event.currentTarget.open)}><summary>Filters</summary><form class="search" role="search" tabindex="-1" ref=${container} onSubmit=${onSubmit(() => run(removeEmpty(values)))}>
    <div class="fields">
      ${textFields.map(field)}
      <${Choice} label="Result" value=${values.failed ?? ''} change=${change('failed')} options=${outcomes} />
      ${timeFields.map(field)}
      <p class="choices">
        <button class="main">Search</button>
        ${hasFilters && html`<button type="button" onClick=${() => run({})}>Clear</button>`}
      </p>
    </div>
  </form></details>`
}
