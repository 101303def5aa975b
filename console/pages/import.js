import { useState } from 'preact/hooks'
import { html } from '../lib/html.js'
import { FilePicker } from './import/file-picker.js'
import { Form } from './import/form.js'
import { Run } from './import/run.js'

/**
 * A file of rows that is dropped here, looked at, tried and taken in; the lines that are rejected are mended, and sent again. The browser
 * keeps the file.
 * @param {{ parts: string[] }} props `stock`: what its rows are
 */
export function Screen({ parts: [type = ''] }) {
  const [file, setFile] = useState(/** @type {File | undefined} */ (undefined))
  const [sent, setSent] = useState(/** @type {import('./import/profile.js').Sent | undefined} */ (undefined))
  const [times, setTimes] = useState(0)
  /** @param {File | undefined} chosen */
  const take = chosen => {
    setSent(undefined)
    setFile(chosen)
    setTimes(times + 1)
  }
  /** @param {import('./import/profile.js').Sent} next */
  const send = next => {
    setSent(next)
    setTimes(times + 1)
  }
  return html`<h1>Import</h1>
    <p class="lead">A file of rows, as CSV or NDJSON. Lines with a fault are rejected and the others go in; the same file again changes nothing.</p>
    <${FilePicker} file=${file} take=${take} />
    ${
      file &&
      html`<${Form} key=${`${file.name} ${file.lastModified} ${file.size}`} file=${file} type=${type} isHidden=${sent !== undefined} send=${send} />`
    }
    ${sent && html`<${Run} key=${times} sent=${sent} again=${send} back=${() => setSent(undefined)} />`}`
}
