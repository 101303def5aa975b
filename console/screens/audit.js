import { useState } from 'preact/hooks'
import { html } from '../ground/html.js'
import { Field } from '../parts/field.js'
import { List } from '../parts/list.js'
import { RequestLink } from '../parts/request-link.js'

/** @type {import('../parts/table.js').Column[]} */
const columns = [
  { title: 'When', value: line => line.at, shrink: true },
  { title: 'Who', value: line => line.username },
  { title: 'What', value: line => line.operation, shrink: true },
  { title: 'On', value: line => html`<code>${line.subject}</code>`, text: line => line.subject, wide: true },
  { title: 'Fields', value: line => line.fields.join(', ') || null },
  {
    title: 'Request',
    value: line => html`<${RequestLink} id=${line.requestId} short />`,
    text: line => line.requestId,
    shrink: true,
  },
]

/** Who did what. */
export function Screen() {
  const [since, setSince] = useState('')
  return html`<h1>Audit</h1>
    <p class="lead">A line for each write that was carried out: who, what and on what. Values are not kept.</p>
    <${List}
      path=${`/audit${since ? `?updated_after=${since}` : ''}`}
      caption="What was done"
      columns=${columns}
      keyOf=${(/** @type {any} */ line) => line.id}
      file="audit"
      empty=${
        since
          ? 'Nothing was done since then. Choose an earlier day.'
          : 'Nothing was written yet. The first write of any account shows here.'
      }
      tools=${html`<${Field} inline label="Since" type="date" value=${since} change=${setSince} />`}
    />`
}
