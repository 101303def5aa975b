import { useState } from 'preact/hooks'
import { SubmitButton } from '../components/button.js'
import { Dialog } from '../components/dialog.js'
import { Choice, Field, onSubmit } from '../components/field.js'
import { List } from '../components/list.js'
import { RecordForm } from '../components/record-form.js'
import { useAction, useVersion } from '../components/use-load.js'
import { html } from '../lib/html.js'
import { goTo, linkTo } from '../lib/route.js'
import { Check } from './mappings/check.js'
import { Fixes } from './mappings/fixes.js'

/**
 * The records that can be mapped. `id`: the field with the record's ID; `fields`: those that identify the platform's item.
 * @type {Record<string, { title: string, id: string, name: (row: any) => unknown, nameText: (row: any) => string, fields: [name: string, title: string][] }>}
 */
const mappedTypes = {
  stores: {
    title: 'Stores',
    id: 'storeId',
    name: row => `${row.storeNumber} ${row.name}`,
    nameText: row => `${row.storeNumber} ${row.name}`,
    fields: [['ecommerceLocationId', 'Location']],
  },
  skus: {
    title: 'SKUs',
    id: 'skuId',
    name: row => html`${row.productCode} <small>${[row.colourCode, row.sizeCode].filter(Boolean).join(' · ')}</small>`,
    nameText: row => [row.productCode, row.colourCode, row.sizeCode].filter(Boolean).join(' '),
    fields: [
      ['ecommerceSku', 'E-commerce SKU'],
      ['ecommerceProductId', 'E-commerce product'],
    ],
  },
  customers: {
    title: 'Customers',
    id: 'customerId',
    name: row => row.email,
    nameText: row => row.email ?? '',
    fields: [
      ['ecommerceAdminId', 'Admin ID'],
      ['ecommerceLegacyId', 'Legacy ID'],
    ],
  },
}

/** Mappings of stores, SKUs and customers to the e-commerce platform. @param {{ parts: string[] }} props */
export function Screen({ parts }) {
  const [first, kind, state] = parts
  if (first === 'fixes') return html`<${Fixes} />`
  return first === 'check' ? html`<${Check} kind=${kind} state=${state} />` : html`<${Mappings} parts=${parts} />`
}

/** @param {{ parts: string[] }} props */
function Mappings({ parts: [requested = 'stores'] }) {
  const [state, setState] = useState('')
  const [version, refresh] = useVersion()
  const [editing, setEditing] = useState(/** @type {any} */ (undefined))
  const kind = mappedTypes[requested] ? requested : 'stores'
  const type = /** @type {(typeof mappedTypes)[string]} */ (mappedTypes[kind])
  const { id, title, name, nameText, fields } = type

  /** @type {import('../components/table.js').Column[]} */
  const columns = [
    { title: 'Record', value: row => html`<code>${row[id]}</code>`, text: row => row[id], shrink: true },
    { title: 'Name', value: name, text: nameText },
    ...fields.map(([field, fieldTitle]) => ({
      title: fieldTitle,
      value: (/** @type {any} */ row) => row[field] && html`<code>${row[field]}</code>`,
      text: (/** @type {any} */ row) => row[field] ?? '',
    })),
    {
      title: 'Edit',
      right: true,
      value: row => html`<button aria-label=${`Map ${row[id]}`} onClick=${() => setEditing(row)}>Map</button>`,
    },
  ]
  return html`<h1>Mappings</h1>
    <p class="lead">Links between your records and the e-commerce platform. <a href=${linkTo('mappings', 'check')}>Mapping check</a></p>
    <${List}
      dataset=${kind}
      path=${`/mappings/${kind}${state ? `?state=${state}` : ''}`}
      caption=${`${title} and their mappings`}
      columns=${columns}
      version=${version}
      getKey=${(/** @type {any} */ row) => row[id]}
      file=${`mappings-${kind}`}
      empty=${state === 'unmapped' ? 'All records are mapped.' : state ? 'No records are mapped yet.' : html`No ${kind === 'skus' ? 'SKUs' : kind} yet. <a href=${linkTo('syncs')}>Syncs</a> or imports load them.`}
      tools=${html`
        <${Choice} inline label="Kind" value=${kind} change=${(/** @type {string} */ next) => goTo('mappings', next)} options=${Object.entries(mappedTypes).map(([mappedType, mapped]) => [mappedType, mapped.title])} />
        <${Choice} inline label="State" value=${state} change=${setState} options=${[['', 'All'], ['unmapped', 'Not mapped'], ['mapped', 'Mapped']]} />`}
    />
    ${
      editing &&
      html`<${Dialog} title=${`Map ${nameText(editing) || editing[id]}`} close=${() => setEditing(undefined)}>
        <${RecordForm}
          path=${`/mappings/${kind}/${encodeURIComponent(editing[id])}`}
          form=${(/** @type {any} */ props) => html`<${MappingForm} ...${props} fields=${fields} />`}
          done=${() => {
            setEditing(undefined)
            refresh()
          }}
        />
      <//>`
    }`
}

/** @param {{ record: any, save: (body: object) => Promise<void>, fields: [string, string][] }} props */
function MappingForm({ record, save, fields }) {
  const [values, setValues] = useState(
    /** @returns {Record<string, string>} */ () =>
      Object.fromEntries(fields.map(([field]) => [field, record[field] ?? ''])),
  )
  const { busy, error, run } = useAction()
  const submit = () => save(Object.fromEntries(fields.map(([field]) => [field, values[field]?.trim() || null])))
  return html`<form onSubmit=${onSubmit(() => run(submit))}>
    ${fields.map(
      ([field, title]) =>
        html`<${Field} key=${field} label=${title} value=${values[field]} change=${(/** @type {string} */ value) => setValues({ ...values, [field]: value })} hint="Leave empty to unmap" />`,
    )}
    <${SubmitButton} label="Save" busyLabel="Saving…" busy=${busy} error=${error} />
  </form>`
}
