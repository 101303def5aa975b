import { useState } from 'preact/hooks'
import { renderCode } from '../../components/problem.js'
import { html } from '../../lib/html.js'

/** @param {unknown} value */
export const formatValue = value =>
  value === null
    ? 'none'
    : value === true
      ? 'yes'
      : value === false
        ? 'no'
        : typeof value === 'object'
          ? JSON.stringify(value)
          : String(value)

/**
 * A setting with its description, default and input.
 * @param {{ name: string, schema: import('tillbridge/settings').Setting, value: unknown, changed: boolean, change: (value: unknown) => void }} props
 */
export const Setting = ({
  name,
  schema,
  value,
  changed,
  change,
}) => html`<section class=${`setting${changed ? ' changed' : ''}`}>
  <div>
    <h2><label for=${`setting-${name}`}>${name}</label></h2>
    <p>${renderCode(schema.description)}</p>
    <p class="facts">Default: ${formatValue(schema.default)}</p>
  </div>
  <div><${Input} id=${`setting-${name}`} schema=${schema} value=${value} change=${change} /></div>
</section>`

/** @param {{ id: string, schema: import('tillbridge/settings').Setting, value: any, change: (value: unknown) => void }} props */
function Input({ id, schema, value, change }) {
  /** @param {(text: string) => unknown} convert */
  const handleInput =
    convert =>
    (/** @type {{ currentTarget: HTMLInputElement }} */ { currentTarget }) =>
      change(convert(currentTarget.value))
  if (schema.type === 'boolean')
    return html`<select id=${id} value=${String(value)} onChange=${handleInput(text => text === 'true')}><option value="true">yes</option><option value="false">no</option></select>`
  if (schema.enum)
    return html`<select id=${id} value=${value} onChange=${handleInput(text => text)}>${schema.enum.map(choice => html`<option key=${choice}>${choice}</option>`)}</select>`
  if (schema.type === 'integer')
    return html`<input id=${id} type="number" min=${schema.minimum} max=${schema.maximum} value=${value} onInput=${handleInput(text => (text === '' ? null : Number(text)))} />`
  if (schema.type === 'array' || schema.type === 'object')
    return html`<${JsonInput} id=${id} value=${value} change=${change} />`
  const allowsInteger = schema.anyOf?.some(({ type }) => type === 'integer')
  const allowsNull = schema.anyOf?.some(({ type }) => type === 'null')
  const parse = (/** @type {string} */ text) =>
    allowsInteger && /^\d+$/.test(text) ? Number(text) : allowsNull && text === '' ? null : text
  return html`<input id=${id} value=${value ?? ''} placeholder=${allowsNull ? 'none' : undefined} onInput=${handleInput(parse)} />`
}

/** An array or object, edited as JSON. @param {{ id: string, value: unknown, change: (value: unknown) => void }} props */
function JsonInput({ id, value, change }) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2))
  const [isValid, setValid] = useState(true)
  const handleText = (/** @type {{ currentTarget: HTMLTextAreaElement }} */ { currentTarget }) => {
    setText(currentTarget.value)
    try {
      change(JSON.parse(currentTarget.value))
      setValid(true)
    } catch {
      setValid(false)
    }
  }
  return html`<textarea id=${id} rows=${Math.min(8, text.split('\n').length)} spellcheck=${false} aria-invalid=${!isValid} value=${text} onInput=${handleText}></textarea>
    ${!isValid && html`<small role="alert">Invalid JSON, not saved</small>`}`
}
