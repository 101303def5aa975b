import { ExportableTable } from '../../components/exportable-table.js'
import { amountColumn, Facts, formatMoney, renderLocalTime } from '../../components/format.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo, linkToList } from '../../lib/route.js'
import { t } from '../../lib/text.js'
import { productColumn, skuColumn } from './line-columns.js'
import { LoadedRecord, loadCustomerName } from './record.js'

/** @param {string} currency @returns {import('../../components/table.js').Column[]} */
const columns = currency => [
  skuColumn,
  productColumn,
  { title: t('Quantity'), right: true, value: line => line.quantity },
  amountColumn(t('Price'), line => line.price, currency),
  amountColumn(t('Value'), line => line.value, currency),
]

/** @param {string} id @param {AbortSignal} signal */
async function loadSale(id, signal) {
  const { data: sale } = await callApi(`/transactions/${encodeURIComponent(id)}`, { signal })
  return { ...sale, customer: sale.customerId && (await loadCustomerName(sale.customerId, signal)) }
}

/** @param {{ id: string }} props */
export const Sale = ({ id }) => html`<${LoadedRecord}
  path=${id}
  load=${(/** @type {AbortSignal} */ signal) => loadSale(id, signal)}
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
          [
            t('Order'),
            sale.orderNumber && html`<a href=${linkToList('orders', { q: sale.orderNumber })}>${sale.orderNumber}</a>`,
          ],
          [
            t('Customer'),
            sale.customerId && html`<a href=${linkTo('search', 'customer', sale.customerId)}>${sale.customer}</a>`,
          ],
          [t('Total'), formatMoney(sale.total, sale.currency)],
          [t('Sale ID'), html`<code>${sale.id}</code>`, 'wide'],
        ]}
      />
    </div>
    <${ExportableTable} title=${html`<h3>Lines</h3>`} caption="Lines of the sale" columns=${columns(sale.currency)} rows=${sale.lines} file=${`sale-${sale.number ?? sale.id}-lines`} />
  </section>`}
/>`
