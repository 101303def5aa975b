import { useState } from 'preact/hooks'
import { Problem } from '../components/problem.js'
import { useAction } from '../components/use-load.js'
import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { t } from '../lib/text.js'
import { FilePicker } from './import/file-picker.js'
import { Form } from './import/form.js'
import { History } from './import/history.js'
import { Run } from './import/run.js'
import { TypeList } from './import/type-list.js'

const steps = [t('Choose a file'), t('Match columns'), t('Check'), t('Import')]

/** The steps of an import. @param {{ current: number }} props */
const Steps = ({ current }) => html`<ol class="steps" aria-label="Steps">
  ${steps.map((title, i) => html`<li key=${title} class=${i < current ? 'done' : undefined} aria-current=${i === current ? 'step' : undefined}>${title}</li>`)}
</ol>`

/**
 * Imports a file: choose it, map its columns, do a dry run, import it and correct rejected lines. The file stays in the browser, which
 * reads rejected lines from it.
 * @param {{ parts: string[] }} props optionally the import type
 */
export function Screen({ parts: [type = ''] }) {
  const [file, setFile] = useState(/** @type {File | undefined} */ (undefined))
  const [upload, setUpload] = useState(/** @type {import('./import/profile.js').Upload | undefined} */ (undefined))
  const [uploads, setUploads] = useState(0)
  const save = useAction()
  /** @param {File | undefined} next */
  const choose = next => {
    setUpload(undefined)
    setFile(next)
    setUploads(uploads + 1)
  }
  /** @param {import('./import/profile.js').Upload} next */
  const send = next => {
    const { isDryRun, remembered } = next
    if (remembered && !isDryRun)
      save.run(() =>
        callApi('/console/import-profiles', {
          method: 'POST',
          body: { ...remembered, profile: JSON.stringify(remembered.profile) },
        }),
      )
    setUpload(next)
    setUploads(uploads + 1)
  }
  return html`<h1>Import</h1>
    <p class="lead">Upload a CSV or NDJSON file. Valid lines are imported; invalid ones are listed for you to fix. Importing the same file twice is safe.</p>
    ${file && html`<${Steps} current=${upload ? (upload.isDryRun ? 2 : 3) : 1} />`}
    <${FilePicker} file=${file} choose=${choose} />
    ${
      file &&
      html`<${Form} key=${`${file.name} ${file.lastModified} ${file.size}`} file=${file} type=${type} isHidden=${upload !== undefined} send=${send} />`
    }
    ${save.error && html`<${Problem} error=${save.error} remedy="The columns were not remembered. The import is not affected." />`}
    ${upload && html`<${Run} key=${uploads} upload=${upload} send=${send} back=${() => setUpload(undefined)} />`}
    ${!file && html`<${History} /><${TypeList} />`}`
}
