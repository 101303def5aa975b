import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { t } from '../lib/text.js'
import { Problem } from './problem.js'
import { showToast } from './toast.js'
import { useLoad } from './use-load.js'

/**
 * A form for the current state of a record. The API rejects the save if the record has changed since the form was opened.
 * @param {{
 *   path: string, done: () => void,
 *   form: (props: { record: any, save: (body: object) => Promise<void> }) => unknown,
 * }} props
 */
export function RecordForm({ path, done, form }) {
  const { data, error } = useLoad(signal => callApi(path, { signal }), [path])
  if (error) return html`<${Problem} error=${error} />`
  if (!data) return html`<p role="status">Loading…</p>`
  /** @param {object} body */
  const save = async body => {
    await callApi(path, { method: 'PUT', body, headers: data.tag ? { 'if-match': data.tag } : {} })
    done()
    showToast(t('Changes saved'))
  }
  return form({ record: data.data, save })
}
