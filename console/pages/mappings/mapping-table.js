import { useState } from 'preact/hooks'
import { SubmitButton } from '../../components/button.js'
import { DataTable } from '../../components/data-table.js'
import { Dialog } from '../../components/dialog.js'
import { Field, onSubmit } from '../../components/field.js'
import { RecordForm } from '../../components/record-form.js'
import { useAction, useVersion } from '../../components/use-load.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { plural, rich, t } from '../../lib/text.js'
import { ItemPicker } from './item-picker.js'
import { MappingsHead } from './tabs.js'

/** @typedef {import('../../components/data-table.js').DataColumn} DataColumn */

/** @param {string} title @param {string} name @param {string} [sort] @returns {DataColumn} */
const codeColumn = (title, name, sort) => ({
  title,
  sort,
  value: row => row[name] && html`<code>${row[name]}</code>`,
  text: row => row[name] ?? '',
  size: 1.4,
})

/** @param {string} title @param {string} name @param {Partial<DataColumn>} [more] @returns {DataColumn} */
const textColumn = (title, name, more) => ({ title, value: row => row[name], ...more })

const record = { ...codeColumn(t('Record'), 'id', 'id'), size: 1 }

/** Formats a number of records. @typedef {(count: number) => string} FormatCount */

/**
 * The records that can be mapped. `fields`: those that identify the platform's item, the one that items can be chosen for first.
 * @type {Record<string, {
 *   title: string, list: string, noun: string, formatCount: FormatCount, placeholder: string, columns: DataColumn[],
 *   fields: [name: string, title: string][],
 *   defaultSort: string, getLink: (row: any) => string | undefined, getName: (row: any) => string,
 * }>}
 */
const mappedTypes = {
  stores: {
    title: t('Stores'),
    list: 'storeMappings',
    noun: t('stores'),
    formatCount: count => plural(count, '{count} store', '{count} stores'),
    placeholder: t('Number, name or location'),
    defaultSort: 'number',
    getLink: () => undefined,
    getName: row => `${row.number} ${row.name}`,
    columns: [
      record,
      textColumn(t('Number'), 'number', { sort: 'number' }),
      textColumn(t('Name'), 'name', { sort: 'name', size: 2 }),
      codeColumn(t('Location'), 'ecommerceLocationId', 'mapped'),
    ],
    fields: [['ecommerceLocationId', t('Location')]],
  },
  skus: {
    title: t('SKUs'),
    list: 'skuMappings',
    noun: t('SKUs'),
    formatCount: count => plural(count, '{count} SKU', '{count} SKUs'),
    placeholder: t('SKU, barcode, product code or name'),
    defaultSort: 'id',
    getLink: row => linkTo('search', 'product', row.productId),
    getName: row => [row.code, row.colour, row.size].filter(Boolean).join(' '),
    columns: [
      record,
      textColumn(t('Product'), 'product', { size: 1.8 }),
      textColumn(t('Code'), 'code', { isMinor: true }),
      textColumn(t('Colour'), 'colour', { isMinor: true }),
      textColumn(t('Size'), 'size', { size: 0.6 }),
      codeColumn(t('E-commerce SKU'), 'ecommerceSku', 'mapped'),
      { ...codeColumn(t('E-commerce product'), 'ecommerceProductId'), isMinor: true },
    ],
    fields: [
      ['ecommerceSku', t('E-commerce SKU')],
      ['ecommerceProductId', t('E-commerce product')],
    ],
  },
  customers: {
    title: t('Customers'),
    list: 'customerMappings',
    noun: t('customers'),
    formatCount: count => plural(count, '{count} customer', '{count} customers'),
    placeholder: t('Name, email, phone, ID or e-commerce ID'),
    defaultSort: 'id',
    getLink: row => linkTo('search', 'customer', row.id),
    getName: row => row.name ?? row.email ?? row.id,
    columns: [
      record,
      textColumn(t('Name'), 'name', { sort: 'name', size: 1.5 }),
      textColumn(t('Email'), 'email', { size: 1.8 }),
      codeColumn(t('Legacy ID'), 'ecommerceLegacyId'),
      { ...codeColumn(t('Admin ID'), 'ecommerceAdminId'), isMinor: true },
    ],
    fields: [
      ['ecommerceLegacyId', t('Legacy ID')],
      ['ecommerceAdminId', t('Admin ID')],
    ],
  },
}

/** All records of a kind with their mappings. @param {{ kind: string }} props */
export function MappingTable({ kind: requested }) {
  const [version, refresh] = useVersion()
  const [editing, setEditing] = useState(/** @type {any} */ (undefined))
  const kind = Object.hasOwn(mappedTypes, requested) ? requested : 'skus'
  const type = /** @type {(typeof mappedTypes)[string]} */ (mappedTypes[kind])
  /** @type {DataColumn} */
  const edit = {
    title: t('Edit'),
    right: true,
    size: 0.6,
    value: row =>
      row.id && html`<button aria-label=${t('Map {id}', { id: row.id })} onClick=${() => setEditing(row)}>Map</button>`,
  }
  return html`<${MappingsHead} view="all" lead="Links between your records and the e-commerce platform" />
    <div class="chips" role="group" aria-label="Kind">
      ${Object.entries(mappedTypes).map(([name, { title }]) => html`<a key=${name} class="chip" href=${linkTo('mappings', name)} aria-current=${name === kind ? 'true' : undefined}>${title}</a>`)}
    </div>
    <${DataTable}
      key=${kind}
      list=${type.list}
      caption=${t('{title} and their mappings', { title: type.title })}
      noun=${type.noun}
      formatCount=${type.formatCount}
      columns=${[...type.columns, edit]}
      placeholder=${type.placeholder}
      filters=${{ unmapped: t('Not mapped'), mapped: t('Mapped') }}
      defaultSort=${type.defaultSort}
      getLink=${type.getLink}
      version=${version}
      empty=${html`<p>${rich('No {noun} yet. <link>Syncs</link> or imports load them.', { noun: type.noun, link: content => html`<a href=${linkTo('syncs')}>${content}</a>` })}</p>`}
    />
    ${
      editing &&
      html`<${Dialog} title=${t('Map {name}', { name: type.getName(editing) })} close=${() => setEditing(undefined)}>
        <${RecordForm}
          path=${`/mappings/${kind}/${encodeURIComponent(editing.id)}`}
          form=${(/** @type {any} */ props) => html`<${MappingForm} ...${props} kind=${kind} fields=${type.fields} />`}
          done=${() => {
            setEditing(undefined)
            refresh()
          }}
        />
      <//>`
    }`
}

/** @param {{ record: any, save: (body: object) => Promise<void>, kind: string, fields: [string, string][] }} props */
function MappingForm({ record: mapping, save, kind, fields }) {
  const [values, setValues] = useState(
    /** @returns {Record<string, string>} */ () =>
      Object.fromEntries(fields.map(([field]) => [field, mapping[field] ?? ''])),
  )
  const { busy, error, run } = useAction()
  const submit = () => save(Object.fromEntries(fields.map(([field]) => [field, values[field]?.trim() || null])))
  return html`<form onSubmit=${onSubmit(() => run(submit))}>
    ${fields.map(([field, title], i) => {
      const Input = i === 0 ? ItemPicker : Field
      return html`<${Input} key=${field} kind=${kind} label=${title} value=${values[field]} change=${(/** @type {string} */ value) => setValues({ ...values, [field]: value })} hint="Leave empty to unmap" />`
    })}
    <${SubmitButton} label="Save" busyLabel="Saving…" busy=${busy} error=${error} />
  </form>`
}
