import { html } from '../../ground/html.js'
import { linkTo } from '../../ground/route.js'
import { Facts, money } from '../../parts/format.js'
import { Table } from '../../parts/table.js'
import { Loaded } from './record.js'

/** @param {string} currency @returns {import('../../parts/table.js').Column[]} */
const columns = currency => [
  {
    title: 'SKU',
    value: line => line.sku && html`<a href=${linkTo('look-up', 'product', `sku:${line.sku}`)}>${line.sku}</a>`,
  },
  {
    title: 'Product',
    value: line =>
      html`${line.productName} <small>${[line.colourName, line.sizeCode].filter(Boolean).join(' · ')}</small>`,
  },
  { title: 'Quantity', right: true, value: line => line.quantity },
  { title: 'Price', right: true, value: line => money(line.price, currency) },
  { title: 'Value', right: true, value: line => money(line.value, currency) },
]

/** @param {{ id: string }} props */
export const Sale = ({ id }) => html`<${Loaded}
  path=${`/transactions/${encodeURIComponent(id)}`}
  show=${(/** @type {any} */ sale) => html`<section aria-label=${`Sale ${sale.number ?? sale.id}`}>
    <h2>Sale ${sale.number ?? sale.id}</h2>
    <div class="card">
      <${Facts}
        facts=${[
          ['Sold', sale.saleDate],
          ['Channel', `${sale.channel}, ${sale.type}`],
          ['Store', sale.storeName && `${sale.storeNumber} ${sale.storeName}`],
          ['Order', sale.orderNumber],
          [
            'Customer',
            sale.customerId && html`<a href=${linkTo('look-up', 'customer', sale.customerId)}>${sale.customerId}</a>`,
          ],
          ['Total', money(sale.total, sale.currency)],
          ['Id', html`<code>${sale.id}</code>`],
        ]}
      />
    </div>
    <${Table} caption="Lines of the sale" columns=${columns(sale.currency)} rows=${sale.lines} keyOf=${(/** @type {any} */ line) => line.id} />
  </section>`}
/>`
