import { useRef, useState } from 'preact/hooks'
import { ApiError, callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { useHasRole } from '../lib/role.js'
import { Button } from './button.js'
import { Dialog } from './dialog.js'
import { Problem } from './problem.js'
import { useAction } from './use-load.js'

/**
 * `form` renders the inputs. `sent`: the values of the last attempt, or the initial ones. `getError` returns the error of the field at a
 * JSON pointer of that attempt. It must be called while the form renders.
 * @typedef {{
 *   values: any, sent: any, change: (changes: object) => void, getError: (pointer: string) => string | undefined,
 * }} FormProps
 */

/**
 * @typedef {{
 *   label: string, title?: string, submit?: string, role: string, main?: boolean, danger?: boolean,
 * }} ButtonProps
 */

/**
 * A button that opens a form and sends it with POST. Only the role sees it. A retry of an unchanged form has the same idempotency key, so it
 * writes nothing again after a lost response. `submit` is the label of the button that sends the form.
 * @param {ButtonProps & {
 *   path: string, initial?: object, form: (props: FormProps) => unknown, toBody?: (values: any) => object,
 *   isReady?: (values: any) => boolean, done: (data: any) => void,
 * }} props
 */
export function RecordAction({ label, title = label, role, main = false, danger = false, done, ...form }) {
  const isAllowed = useHasRole(role)
  const [isOpen, setOpen] = useState(false)
  if (!isAllowed) return null
  return html`<button class=${main ? 'main' : danger ? 'danger' : undefined} onClick=${() => setOpen(true)}>${label}</button>
    ${
      isOpen &&
      html`<${Dialog} title=${title} close=${() => setOpen(false)}>
        <${ActionForm} submit=${label} ...${form} danger=${danger} close=${() => setOpen(false)} done=${(
          /** @type {any} */ data,
        ) => {
          setOpen(false)
          done(data)
        }} />
      <//>`
    }`
}

/** @param {any} props */
function ActionForm({
  submit,
  path,
  initial = {},
  form,
  toBody = () => ({}),
  isReady = () => true,
  danger,
  close,
  done,
}) {
  const [values, setValues] = useState(initial)
  const attempt = useRef({ values, body: '', key: '' })
  const { busy, error, run } = useAction()
  const send = (/** @type {Event} */ event) => {
    event.preventDefault()
    if (!busy)
      run(async () => {
        const body = toBody(values)
        const text = JSON.stringify(body)
        const key = text === attempt.current.body ? attempt.current.key : crypto.randomUUID()
        attempt.current = { values, body: text, key }
        done((await callApi(path, { method: 'POST', body, headers: { 'idempotency-key': key } })).data)
      })
  }
  const errors = (error instanceof ApiError && error.problem.errors) || []
  /** Errors that a field shows. */
  const placed = new Set()
  const getError = (/** @type {string} */ pointer) => {
    const found = errors.find(entry => entry.pointer === pointer)
    if (found) placed.add(found)
    return found?.detail
  }
  const change = (/** @type {object} */ changes) =>
    setValues((/** @type {object} */ previous) => ({ ...previous, ...changes }))
  const content = form({ values, sent: attempt.current.values, change, getError })
  const isPlaced = errors.length > 0 && placed.size === errors.length
  return html`<form onSubmit=${send}>
    ${content}
    ${
      error &&
      (isPlaced
        ? html`<p class="field-error" role="alert">Nothing was changed. Correct the marked fields.</p>`
        : html`<${Problem} error=${error} />`)
    }
    <p class="choices">
      <${Button} class=${danger ? 'danger' : 'main'} label=${submit} busyLabel="Sending…" busy=${busy} disabled=${!isReady(values)} />
      <button type="button" onClick=${close}>Cancel</button>
    </p>
  </form>`
}
