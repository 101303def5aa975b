import { useState } from 'preact/hooks'
import { Field, onSubmit } from '../components/field.js'
import { Path } from '../components/format.js'
import { List } from '../components/list.js'
import { RequestLink } from '../components/request-link.js'
import { html } from '../lib/html.js'

/** Groups fields by their first part: `lines (sku, quantity)`. @param {string[]} fields */
const groupFields = fields =>
  [...Map.groupBy(fields, field => field.replace(/\..*/, ''))]
    .map(([part, paths]) => {
      const inner = paths.map(field => field.slice(part.length + 1)).filter(Boolean)
      return inner.length ? `${part} (${inner.join(', ')})` : part
    })
    .join(', ')

/** @type {import('../components/table.js').Column[]} */
const columns = [
  { title: 'Time', value: entry => entry.at, isTime: true, shrink: true },
  {
    title: 'Account',
    value: entry => (entry.apiKey ? `${entry.username} (key ${entry.apiKey})` : entry.username),
  },
  { title: 'Operation', value: entry => entry.operation, shrink: true },
  {
    title: 'Record',
    value: entry => html`<${Path} path=${entry.subject} short />`,
    text: entry => entry.subject,
    wide: true,
  },
  {
    title: 'Fields',
    value: entry =>
      entry.fields.length > 0 &&
      html`<small class="clamp" title=${entry.fields.join(', ')}>${groupFields(entry.fields)}</small>`,
    text: entry => entry.fields.join(', '),
    wide: true,
  },
  {
    title: 'Request',
    value: entry => html`<${RequestLink} id=${entry.requestId} short />`,
    text: entry => entry.requestId,
    shrink: true,
  },
]

/** The audit log. */
export function Screen() {
  const [since, setSince] = useState('')
  const [values, setValues] = useState({ account: '', record: '' })
  const [applied, setApplied] = useState(values)
  const filters = Object.entries({ updated_after: since, ...applied }).filter(([, value]) => value)
  const query = new URLSearchParams([['asc', 'false'], ...filters])
  return html`<h1>Audit log</h1>
    <p class="lead">Every change: who, what and when. Field values aren't stored.</p>
    <${List}
      path=${`/audit?${query}`}
      caption="Audit log, newest first"
      columns=${columns}
      file="audit"
      empty=${
        filters.length
          ? 'No matching entries. Try an earlier day or fewer filters. Accounts and records must match exactly.'
          : 'No changes yet.'
      }
      tools=${html`<${Field} inline label="Since" type="date" value=${since} change=${setSince} />
        <form class="find" role="search" onSubmit=${onSubmit(() => setApplied({ account: values.account.trim(), record: values.record.trim() }))}>
          <${Field} inline label="Account" type="search" placeholder="webshop" autocomplete="off" value=${values.account} change=${(/** @type {string} */ account) => setValues({ ...values, account })} />
          <${Field} inline label="Record" type="search" placeholder="/customers/65432" autocomplete="off" value=${values.record} change=${(/** @type {string} */ record) => setValues({ ...values, record })} />
          <button>Find</button>
        </form>`}
    />`
}
