import { ExportableTable } from '../../components/exportable-table.js'
import { amountColumn, Facts, formatMoney, renderLocalTime } from '../../components/format.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { t } from '../../lib/text.js'
import { productColumn, skuColumn } from './line-columns.js'
import { LoadedRecord } from './record.js'

/** @param {string} currency @returns {import('../../components/table.js').Column[]} */
const columns = currency => [
  skuColumn,
  productColumn,
  { title: t('Quantity'), right: true, value: line => line.quantity },
  amountColumn(t('Price'), line => line.price, currency),
  amountColumn(t('Value'), line => line.value, currency),
]

/** @param {{ id: string }} props */
export const Sale = ({ id }) => html`<${LoadedRecord}
  path=${`/transactions/${encodeURIComponent(id)}`}
  show=${(
    /** @type {any} */ sale,
  ) => html`<section aria-label=${t('Sale {number}', { number: sale.number ?? sale.id })}>
    <h2>${t('Sale {number}', { number: sale.number ?? sale.id })}</h2>
    <div class="card">
      <${Facts}
        facts=${[
          [t('Sold'), renderLocalTime(sale.saleDate)],
          [t('Channel'), `${sale.channel}, ${sale.type}`],
          [t('Store'), sale.storeName && `${sale.storeNumber} ${sale.storeName}`],
          [t('Order'), sale.orderNumber],
          [
            t('Customer'),
            sale.customerId && html`<a href=${linkTo('search', 'customer', sale.customerId)}>${sale.customerId}</a>`,
          ],
          [t('Total'), formatMoney(sale.total, sale.currency)],
          [t('Sale ID'), html`<code>${sale.id}</code>`, 'wide'],
        ]}
      />
    </div>
    <${ExportableTable} title=${html`<h3>Lines</h3>`} caption="Lines of the sale" columns=${columns(sale.currency)} rows=${sale.lines} file=${`sale-${sale.number ?? sale.id}-lines`} />
  </section>`}
/>`
