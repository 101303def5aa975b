import { downloadCsv } from '../../components/export.js'
import { html } from '../../lib/html.js'
import { t } from '../../lib/text.js'
import { useImportTypes } from './import-types.js'

/** The import types in groups. @type {[title: string, types: string[]][]} */
const groups = [
  [t('Catalogue and stock'), ['stores', 'staff', 'products', 'stock', 'references', 'payment-gateways']],
  [t('Customers and sales'), ['customers', 'transactions', 'orders', 'vouchers']],
  [t('Rewards'), ['reward-programs', 'reward-gifts', 'reward-accounts', 'reward-lots']],
  [
    t('E-commerce'),
    [
      ...['ecommerce-locations', 'ecommerce-variants', 'ecommerce-customers'],
      ...['store-mapping', 'sku-mapping', 'customer-mapping'],
    ],
  ],
]

/** The import types that the account may import, with their required columns and a file to fill. */
export function TypeList() {
  const importTypes = useImportTypes()
  return html`<section aria-label="What you can import">
    <h2>What you can import</h2>
    <p class="note">A template is an empty CSV file with all columns of a type. Columns can have other names: you match them after you have chosen the file.</p>
    <div class="bar-lists">
      ${groups.map(([title, names]) => {
        const open = names.flatMap(name => (importTypes[name] ? [{ name, ...importTypes[name] }] : []))
        return (
          open.length > 0 &&
          html`<section class="card" key=${title} aria-label=${title}>
            <h3 class="small-title">${title}</h3>
            <ul class="type-list">${open.map(({ name, columns }) => {
              const required = columns.flatMap(column => (column.required ? [column.name] : []))
              return html`<li key=${name}>
                <span><a href=${`docs/reference/import-formats/${name}`} target="_blank" rel="noopener">${name}</a>
                  <small>${required.length > 0 ? t('Required: {columns}', { columns: required.join(', ') }) : t('No column is required on every line')}</small></span>
                <button class="quiet" aria-label=${t('Template for {type}', { type: name })} onClick=${() => downloadCsv(`${name}.csv`, [columns.map(column => column.name)])}>Template</button>
              </li>`
            })}</ul>
          </section>`
        )
      })}
    </div>
  </section>`
}
