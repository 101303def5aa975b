import { ExportableTable } from '../../components/exportable-table.js'
import { amountColumn, Facts, formatMoney, renderLocalTime, State } from '../../components/format.js'
import { List } from '../../components/list.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { productColumn, skuColumn } from './line-columns.js'
import { formatAddress, LoadedRecord } from './record.js'

/** @type {Record<string, 'good' | 'warn' | 'bad' | 'idle'>} */
const tones = { shipped: 'good', processing: 'warn', cancelled: 'bad', returned: 'idle' }

/** @param {string} currency @returns {import('../../components/table.js').Column[]} */
const lineColumns = currency => [
  skuColumn,
  productColumn,
  {
    title: 'Status',
    value: line => html`<${State} state=${line.status} tone=${tones[line.status]} />`,
    text: line => line.status,
  },
  { title: 'Quantity', right: true, value: line => line.quantity },
  { title: 'Returned', right: true, value: line => line.returned },
  amountColumn('Price', line => line.price, currency),
  amountColumn('Value', line => line.value, currency),
]

/** An order with its lines, payments, addresses and returns. @param {{ id: string }} props */
export const Order = ({ id }) => html`<${LoadedRecord}
  path=${`/orders/${encodeURIComponent(id)}`}
  show=${(/** @type {any} */ order) => html`<section aria-label=${`Order ${order.orderNumber}`}>
    <h2>Order ${order.orderNumber}</h2>
    <div class="card">
      <${Facts}
        facts=${[
          ['Placed', renderLocalTime(order.placedAt)],
          [
            'Customer',
            order.customerId && html`<a href=${linkTo('search', 'customer', order.customerId)}>${order.customerId}</a>`,
          ],
          ['Total', formatMoney(order.total, order.currency)],
          ['Shipping', formatMoney(order.freight, order.currency)],
          [
            'Paid by',
            order.payments
              .map(
                (/** @type {any} */ payment) =>
                  `${payment.gateway} ${formatMoney(payment.amount, order.currency)}${payment.voucherNumber ? ` (voucher ${payment.voucherNumber})` : ''}`,
              )
              .join(', '),
          ],
          ['Delivery', formatAddress(order.deliveryAddress), 'wide'],
          ['Billing', formatAddress(order.billingAddress), 'wide'],
          ['Pickup store', order.pickupStoreNumber],
          ['Ready for collection', renderLocalTime(order.readyAt)],
          ['Collected', renderLocalTime(order.collectedAt)],
          ['Last updated', renderLocalTime(order.updateTimeStamp)],
          ['Order ID', html`<code>${order.id}</code>`, 'wide'],
        ]}
      />
    </div>
    <${ExportableTable} title=${html`<h3>Lines</h3>`} caption="Lines of the order" columns=${lineColumns(order.currency)} rows=${order.lines} file=${`order-${order.orderNumber}-lines`} />
    <${List}
      path=${`/orders/${encodeURIComponent(id)}/returns`}
      tools=${html`<h3>Returns</h3>`}
      caption="Returns of the order"
      columns=${returnColumns(order.currency)}
      file=${`order-${order.orderNumber}-returns`}
      empty="No returns"
    />
  </section>`}
/>`

/** @param {string} currency @returns {import('../../components/table.js').Column[]} */
const returnColumns = currency => [
  {
    title: 'Return',
    value: orderReturn => html`<a href=${linkTo('search', 'return', orderReturn.id)}>${orderReturn.returnNumber}</a>`,
    text: orderReturn => orderReturn.returnNumber,
  },
  { title: 'Status', value: orderReturn => orderReturn.status },
  { title: 'Created', value: orderReturn => orderReturn.createdAt, isTime: true },
  amountColumn('Total', orderReturn => orderReturn.total, currency),
]
