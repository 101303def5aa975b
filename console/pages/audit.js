import { useState } from 'preact/hooks'
import { operationTitles } from 'tillbridge/operations'
import { Field, onSubmit } from '../components/field.js'
import { formatWriter, Path } from '../components/format.js'
import { List } from '../components/list.js'
import { RequestLink } from '../components/request-link.js'
import { useLoad } from '../components/use-load.js'
import { loadAll } from '../lib/api.js'
import { html } from '../lib/html.js'
import { findRecordRoute } from '../lib/record-lists.js'
import { linkTo } from '../lib/route.js'
import { t } from '../lib/text.js'
import { getTitle } from './settings/groups.js'

/** Groups fields by their first part: `lines (sku, quantity)`. @param {string[]} fields */
const groupFields = fields =>
  [...Map.groupBy(fields, field => field.replace(/\..*/, ''))]
    .map(([part, paths]) => {
      const inner = paths.map(field => field.slice(part.length + 1)).filter(Boolean)
      return inner.length ? `${part} (${inner.join(', ')})` : part
    })
    .join(', ')

/** @typedef {{ field: string, before: string | null, after: string | null }} Change */

const maxShownChanges = 5

/** Old and new values. @param {{ changes: Change[] }} props */
const Changes = ({ changes }) => html`<ul class="values-list">
  ${changes
    .slice(0, maxShownChanges)
    .map(
      ({ field, before, after }) =>
        html`<li key=${field}><b>${getTitle(field)}</b> <del>${before ?? t('none')}</del> <span aria-label="becomes">→</span> <ins>${after ?? t('none')}</ins></li>`,
    )}
  ${changes.length > maxShownChanges && html`<li><small>${t('and {more} more, in the CSV', { more: changes.length - maxShownChanges })}</small></li>`}
</ul>`

/** @type {Record<string, string>} */
const groupTitles = { admin: t('Admin'), data: t('Data'), '': t('All') }

/** @type {import('../components/table.js').Column[]} */
const columns = [
  { title: t('Time'), value: entry => entry.at, isTime: true, shrink: true },
  {
    title: t('Account'),
    value: entry => formatWriter(entry),
  },
  {
    title: t('Operation'),
    value: ({ operation }) =>
      operationTitles[operation]
        ? html`${operationTitles[operation]} <br /><small><code>${operation}</code></small>`
        : operation,
    text: entry => entry.operation,
    shrink: true,
  },
  {
    title: t('Record'),
    value: ({ subject }) => {
      const route = findRecordRoute(subject)
      const path = html`<${Path} path=${subject} short />`
      return route ? html`<a href=${linkTo(...route)}>${path}</a>` : path
    },
    text: entry => entry.subject,
    wide: true,
  },
  {
    title: t('Changes'),
    value: entry =>
      entry.changes?.length
        ? html`<${Changes} changes=${entry.changes} />`
        : entry.fields.length > 0 &&
          html`<small class="clamp" title=${entry.fields.join(', ')}>${groupFields(entry.fields)}</small>`,
    text: entry =>
      entry.changes?.length
        ? entry.changes
            .map(
              (/** @type {Change} */ { field, before, after }) =>
                `${field}: ${before ?? t('none')} → ${after ?? t('none')}`,
            )
            .join('; ')
        : entry.fields.join(', '),
    wide: true,
  },
  {
    title: t('Request'),
    value: entry => html`<${RequestLink} id=${entry.requestId} short />`,
    text: entry => entry.requestId,
    shrink: true,
  },
]

/** The audit log. @param {{ parts: string[] }} props */
export function Screen({ parts: [requested = 'admin'] }) {
  const group = requested === 'all' ? '' : requested
  const accounts = useLoad(signal => loadAll('/accounts', signal), [])
  const [since, setSince] = useState('')
  const [values, setValues] = useState({ account: '', record: '' })
  const [applied, setApplied] = useState(values)
  const filters = Object.entries({ updated_after: since, ...applied }).filter(([, value]) => value)
  const query = new URLSearchParams([['asc', 'false'], ...(group ? [['group', group]] : []), ...filters])
  return html`<h1>Audit log</h1>
    <p class="lead">Every change: who, what and when. Settings, roles and mappings have their old and new values. Personal values aren't stored.</p>
    <div class="tabs" role="group" aria-label="Groups">
      ${Object.entries(groupTitles).map(([name, title]) => html`<a key=${name} href=${linkTo('audit', name || 'all')} aria-current=${name === group ? 'page' : undefined}>${title}</a>`)}
    </div>
    <${List}
      dataset=${group}
      path=${`/audit?${query}`}
      caption="Audit log, newest first"
      columns=${columns}
      file="audit"
      empty=${
        filters.length
          ? t('No matching entries. Try an earlier day or fewer filters. Accounts and records must match exactly.')
          : t('No changes yet.')
      }
      tools=${html`<${Field} inline label="Since" type="date" value=${since} change=${setSince} />
        <form class="find" role="search" onSubmit=${onSubmit(() => setApplied({ account: values.account.trim(), record: values.record.trim() }))}>
          <${Field} inline label="Account" type="search" placeholder="webshop" list="audit-accounts" autocomplete="off" value=${values.account} change=${(/** @type {string} */ account) => setValues({ ...values, account })} />
          <${Field} inline label="Record" type="search" placeholder="/customers/65432" autocomplete="off" value=${values.record} change=${(/** @type {string} */ record) => setValues({ ...values, record })} />
          <datalist id="audit-accounts">${accounts.data?.data.map(({ username }) => html`<option key=${username} value=${username} />`)}</datalist>
          <button>Find</button>
        </form>`}
    />`
}
