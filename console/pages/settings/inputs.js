import { html } from '../../lib/html.js'
import { language, t } from '../../lib/text.js'

/** @typedef {{ id: string, schema: import('tillbridge/settings').Setting, value: any, error?: string | undefined, change: (value: unknown) => void }} InputProps */

/** @param {(text: string) => void} act */
const onText =
  act =>
  (/** @type {{ currentTarget: HTMLInputElement }} */ { currentTarget }) =>
    act(currentTarget.value)

/** A switch for a boolean. @param {InputProps} props */
export const Switch = ({ id, value, error, change }) => html`<span class="switch">
  <input
    id=${id}
    type="checkbox"
    role="switch"
    checked=${value}
    aria-invalid=${Boolean(error)}
    onChange=${(/** @type {any} */ event) => change(event.currentTarget.checked)}
  />
  <span aria-hidden="true">${value ? t('On') : t('Off')}</span>
</span>`

/** @param {InputProps & { options: [value: string, title: string][] }} props `options`: an unknown current value is added */
export function Select({ id, value, error, options, change }) {
  const current = value ?? ''
  const all = options.some(([option]) => option === current) ? options : [[current, current], ...options]
  return html`<select id=${id} value=${current} aria-invalid=${Boolean(error)} onChange=${onText(text => change(text === '' ? null : text))}>
    ${all.map(([option, title]) => html`<option key=${option} value=${option}>${title}</option>`)}
  </select>`
}

/** @type {[string, string][] | undefined} */
let currencies
export function listCurrencies() {
  if (currencies) return currencies
  const names = new Intl.DisplayNames(language, { type: 'currency' })
  currencies = Intl.supportedValuesOf('currency').map(code => [code, `${code} · ${names.of(code)}`])
  return currencies
}

/** @returns {[string, string][]} */
export const listTimeZones = () => ['UTC', ...Intl.supportedValuesOf('timeZone')].map(zone => [zone, zone])

/**
 * A table of texts with buttons that add and remove rows.
 * @param {{ id: string, columns: [key: string, title: string][], rows: Record<string, string>[], change: (rows: Record<string, string>[]) => void, title: string, addLabel: string }} props
 */
export function RowsInput({ id, columns, rows, change, title, addLabel }) {
  const replace = (/** @type {number} */ at, /** @type {Record<string, string>[]} */ ...replacement) =>
    change([...rows.slice(0, at), ...replacement, ...rows.slice(at + 1)])
  return html`<div class="rows" id=${id} role="group" aria-label=${title} tabindex="-1">
    ${rows.map(
      (row, i) => html`<div class="row" key=${i}>
        ${columns.map(
          ([key, columnTitle]) => html`<input
            key=${key}
            aria-label=${`${columnTitle} ${i + 1}`}
            placeholder=${columnTitle}
            value=${row[key] ?? ''}
            onInput=${onText(text => replace(i, { ...row, [key]: text }))}
          />`,
        )}
        <button type="button" class="quiet" aria-label=${t('Remove row {number}', { number: i + 1 })} onClick=${() => replace(i)}>✕</button>
      </div>`,
    )}
    <button type="button" onClick=${() => change([...rows, Object.fromEntries(columns.map(([key]) => [key, '']))])}>${addLabel}</button>
  </div>`
}

/** @type {[key: string, title: string][]} */
const subscriptions = [
  ['email', t('Emails')],
  ['sms', t('Text messages')],
]
/** @type {[key: string, title: string][]} */
const mappingFields = [
  ['type', t('Reference type')],
  ['yes', t('Value for yes')],
  ['no', t('Value for no')],
]

/** The customer reference of each subscription. An empty row is no mapping. @param {InputProps} props */
export const MappingInput = ({
  id,
  value,
  change,
}) => html`<div class="rows" id=${id} role="group" aria-label="Subscription mapping" tabindex="-1">
  ${subscriptions.map(
    ([key, title]) => html`<div class="row" key=${key}>
      <span>${title}</span>
      ${mappingFields.map(
        ([field, fieldTitle]) => html`<input
          key=${field}
          aria-label=${`${title}: ${fieldTitle}`}
          placeholder=${fieldTitle}
          value=${value[key]?.[field] ?? ''}
          onInput=${onText(text => {
            const row = { type: '', yes: '', no: '', ...value[key], [field]: text }
            const { [key]: _, ...others } = value
            change(Object.values(row).some(Boolean) ? { ...others, [key]: row } : others)
          })}
        />`,
      )}
    </div>`,
  )}
</div>`
