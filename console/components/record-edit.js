import { useState } from 'preact/hooks'
import { html } from '../lib/html.js'
import { useHasRole } from '../lib/role.js'
import { Dialog } from './dialog.js'
import { RecordForm } from './record-form.js'

/**
 * A button that opens a form for the current state of a record. Only the role sees it.
 * @param {{
 *   label: string, role: string, path: string, done: () => void,
 *   form: (props: { record: any, save: (body: object) => Promise<void> }) => unknown,
 * }} props
 */
export function RecordEdit({ label, role, path, done, form }) {
  const isAllowed = useHasRole(role)
  const [isOpen, setOpen] = useState(false)
  if (!isAllowed) return null
  return html`<button onClick=${() => setOpen(true)}>${label}</button>
    ${
      isOpen &&
      html`<${Dialog} title=${label} close=${() => setOpen(false)}>
        <${RecordForm} path=${path} form=${form} done=${() => {
          setOpen(false)
          done()
        }} />
      <//>`
    }`
}
