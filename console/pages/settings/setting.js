import { useState } from 'preact/hooks'
import { renderCode } from '../../components/problem.js'
import { html } from '../../lib/html.js'

/** A value in words. @param {unknown} value */
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
 * One setting: its name, meaning and default, and where it is changed.
 * @param {{ name: string, shape: import('tillbridge/settings').Setting, value: unknown, changed: boolean, change: (value: unknown) => void }} props
 */
export const Setting = ({
  name,
  shape,
  value,
  changed,
  change,
}) => html`<section class=${`setting${changed ? ' changed' : ''}`}>
  <div>
    <h2><label for=${`setting-${name}`}>${name}</label></h2>
    <p>${renderCode(shape.description)}</p>
    <p class="facts">Default: ${formatValue(shape.default)}</p>
  </div>
  <div><${Input} id=${`setting-${name}`} shape=${shape} value=${value} change=${change} /></div>
</section>`

/** @param {{ id: string, shape: import('tillbridge/settings').Setting, value: any, change: (value: unknown) => void }} props */
function Input({ id, shape, value, change }) {
  /** @param {(text: string) => unknown} read */
  const reading =
    read =>
    (/** @type {{ currentTarget: HTMLInputElement }} */ { currentTarget }) =>
      change(read(currentTarget.value))
  if (shape.type === 'boolean')
    return html`<select id=${id} value=${String(value)} onChange=${reading(text => text === 'true')}><option value="true">yes</option><option value="false">no</option></select>`
  if (shape.enum)
    return html`<select id=${id} value=${value} onChange=${reading(text => text)}>${shape.enum.map(each => html`<option key=${each}>${each}</option>`)}</select>`
  if (shape.type === 'integer')
    return html`<input id=${id} type="number" min=${shape.minimum} max=${shape.maximum} value=${value} onInput=${reading(text => (text === '' ? null : Number(text)))} />`
  if (shape.type === 'array' || shape.type === 'object')
    return html`<${JsonInput} id=${id} value=${value} change=${change} />`
  const orNumber = shape.anyOf?.some(({ type }) => type === 'integer')
  const orNone = shape.anyOf?.some(({ type }) => type === 'null')
  const read = (/** @type {string} */ text) =>
    orNumber && /^\d+$/.test(text) ? Number(text) : orNone && text === '' ? null : text
  return html`<input id=${id} value=${value ?? ''} placeholder=${orNone ? 'none' : undefined} onInput=${reading(read)} />`
}

/** A list or an object, as JSON. @param {{ id: string, value: unknown, change: (value: unknown) => void }} props */
function JsonInput({ id, value, change }) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2))
  const [isFit, setFit] = useState(true)
  const type = (/** @type {{ currentTarget: HTMLTextAreaElement }} */ { currentTarget }) => {
    setText(currentTarget.value)
    try {
      change(JSON.parse(currentTarget.value))
      setFit(true)
    } catch {
      setFit(false)
    }
  }
  return html`<textarea id=${id} rows=${Math.min(8, text.split('\n').length)} spellcheck=${false} aria-invalid=${!isFit} value=${text} onInput=${type}></textarea>
    ${!isFit && html`<small role="alert">This is not JSON yet; it does not count.</small>`}`
}
