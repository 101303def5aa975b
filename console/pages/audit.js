import { useState } from 'preact/hooks'
import { Field, onSubmit } from '../components/field.js'
import { Path } from '../components/format.js'
import { List } from '../components/list.js'
import { RequestLink } from '../components/request-link.js'
import { html } from '../lib/html.js'

/** Fields, those of one part together: `lines (sku, quantity)`. @param {string[]} fields */
const groupFields = fields =>
  [...Map.groupBy(fields, field => field.replace(/\..*/, ''))]
    .map(([part, of]) => {
      const inside = of.map(field => field.slice(part.length + 1)).filter(Boolean)
      return inside.length ? `${part} (${inside.join(', ')})` : part
    })
    .join(', ')

/** @type {import('../components/table.js').Column[]} */
const columns = [
  { title: 'When', value: line => line.at, shrink: true },
  { title: 'Who', value: line => line.username },
  { title: 'What', value: line => line.operation, shrink: true },
  { title: 'On', value: line => html`<${Path} path=${line.subject} short />`, text: line => line.subject, wide: true },
  {
    title: 'Fields',
    value: line =>
      line.fields.length > 0 &&
      html`<small class="clamp" title=${line.fields.join(', ')}>${groupFields(line.fields)}</small>`,
    text: line => line.fields.join(', '),
    wide: true,
  },
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
  const [typed, setTyped] = useState({ account: '', record: '' })
  const [asked, setAsked] = useState(typed)
  const given = Object.entries({ updated_after: since, ...asked }).filter(([, value]) => value)
  const query = new URLSearchParams([['asc', 'false'], ...given])
  return html`<h1>Audit log</h1>
    <p class="lead">A line for each write that was carried out: who, what and on what. Values are not kept.</p>
    <${List}
      path=${`/audit?${query}`}
      caption="What was done, the newest first"
      columns=${columns}
      file="audit"
      empty=${
        given.length
          ? 'Nothing of the kind was done. Choose an earlier day, another account or another record: both are compared letter by letter.'
          : 'Nothing was written yet. The first write of any account shows here.'
      }
      tools=${html`<${Field} inline label="Since" type="date" value=${since} change=${setSince} />
        <form class="find" role="search" onSubmit=${onSubmit(() => setAsked({ account: typed.account.trim(), record: typed.record.trim() }))}>
          <${Field} inline label="Account" type="search" placeholder="webshop" autocomplete="off" value=${typed.account} change=${(/** @type {string} */ account) => setTyped({ ...typed, account })} />
          <${Field} inline label="Record" type="search" placeholder="/customers/65432" autocomplete="off" value=${typed.record} change=${(/** @type {string} */ record) => setTyped({ ...typed, record })} />
          <button>Find</button>
        </form>`}
    />`
}
