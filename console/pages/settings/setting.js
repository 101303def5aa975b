import { renderCode } from '../../components/problem.js'
import { html } from '../../lib/html.js'
import { t } from '../../lib/text.js'
import { getTitle } from './groups.js'
import { listCurrencies, listTimeZones, MappingInput, RowsInput, Select, Switch } from './inputs.js'

/** @param {unknown} value */
export const formatValue = value =>
  value === null || value === ''
    ? t('none')
    : value === true
      ? t('on')
      : value === false
        ? t('off')
        : typeof value === 'object'
          ? JSON.stringify(value)
          : String(value)

/** @param {unknown} a @param {unknown} b */
const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b)

/**
 * A setting with its description, default and input.
 * @param {{
 *   name: string, schema: import('tillbridge/settings').Setting, value: unknown, settings: Record<string, any>, changed: boolean,
 *   error: string | undefined, change: (value: unknown) => void,
 * }} props `settings`: the values of all settings
 */
export const Setting = ({
  name,
  schema,
  value,
  settings,
  changed,
  error,
  change,
}) => html`<section class=${`setting${changed ? ' changed' : ''}`}>
  <div>
    <h3><label for=${`setting-${name}`}>${getTitle(name)}</label> <code class="key">${name}</code></h3>
    <p>${renderCode(schema.description)}</p>
    <p class="facts">${
      isSame(value, schema.default)
        ? html`<span class="pill">Default</span>`
        : html`${t('Default: {value}', { value: formatValue(schema.default) })} <button type="button" class="quiet" aria-label=${t('Reset {setting}', { setting: getTitle(name) })} onClick=${() => change(schema.default)}>Reset</button>`
    }</p>
  </div>
  <div>
    <${Input} id=${`setting-${name}`} name=${name} schema=${schema} value=${value} settings=${settings} error=${error} change=${change} />
    ${error && html`<p class="field-error" role="alert">${renderCode(error)}</p>`}
  </div>
</section>`

/** @param {import('./inputs.js').InputProps & { name: string, settings: Record<string, any> }} props */
function Input({ name, settings, ...props }) {
  const { id, schema, value, error, change } = props
  if (name === 'currency') return html`<${Select} ...${props} options=${listCurrencies()} />`
  if (name === 'timeZone') return html`<${Select} ...${props} options=${listTimeZones()} />`
  if (name === 'subscriptionMapping') return html`<${MappingInput} ...${props} />`
  if (name === 'returnReasons')
    return html`<${RowsInput} id=${id} title="Return reasons" addLabel="Add reason" columns=${[['code', t('Code')], ['name', t('Name')]]} rows=${value} change=${change} />`
  if (name === 'referenceTypes')
    return html`<${RowsInput}
      id=${id}
      title="Reference types"
      addLabel="Add reference type"
      columns=${[['type', t('Type')]]}
      rows=${value.map((/** @type {string} */ type) => ({ type }))}
      change=${(/** @type {Record<string, string>[]} */ rows) => change(rows.map(({ type }) => type))}
    />`
  if (name === 'defaultReturnReason') {
    const options = settings.returnReasons.map((/** @type {any} */ reason) => [
      reason.code,
      `${reason.code} · ${reason.name}`,
    ])
    return html`<${Select} ...${props} options=${[['', t('none')], ...options]} />`
  }
  if (schema.type === 'boolean') return html`<${Switch} ...${props} />`
  if (schema.enum) return html`<${Select} ...${props} options=${schema.enum.map(choice => [choice, choice])} />`
  const handleInput =
    (/** @type {(text: string) => unknown} */ convert) =>
    (/** @type {{ currentTarget: HTMLInputElement }} */ { currentTarget }) =>
      change(convert(currentTarget.value))
  if (schema.type === 'integer')
    return html`<input id=${id} type="number" min=${schema.minimum} max=${schema.maximum} value=${value} aria-invalid=${Boolean(error)} onInput=${handleInput(text => (text === '' ? null : Number(text)))} />`
  const allowsInteger = schema.anyOf?.some(({ type }) => type === 'integer')
  const allowsNull = schema.anyOf?.some(({ type }) => type === 'null')
  const parse = (/** @type {string} */ text) =>
    allowsInteger && /^\d+$/.test(text) ? Number(text) : allowsNull && text === '' ? null : text
  return html`<input id=${id} value=${value ?? ''} placeholder=${allowsNull ? t('none') : undefined} aria-invalid=${Boolean(error)} onInput=${handleInput(parse)} />`
}
