import { useState } from 'preact/hooks'
import { ExportableTable } from '../../components/exportable-table.js'
import {
  amountColumn,
  Facts,
  formatMoney,
  formatWriter,
  renderLocalTime,
  State,
  sumAmounts,
} from '../../components/format.js'
import { useKeptFocus } from '../../components/use-kept-focus.js'
import { callApi, loadAll } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { nameState } from '../../lib/states.js'
import { rich, t } from '../../lib/text.js'
import { formatZone } from '../../lib/time.js'
import { productColumn, skuColumn } from './line-columns.js'
import { countOpen, OrderActions } from './order-actions.js'
import {
  compareNewestFirst,
  Figures,
  formatAddress,
  hasCapability,
  LoadedRecord,
  loadCustomerName,
  Timeline,
} from './record.js'

/** @type {Record<string, 'good' | 'warn' | 'bad' | 'idle'>} */
const tones = { shipped: 'good', processing: 'warn', cancelled: 'bad', returned: 'idle' }

/** @param {string} currency @returns {import('../../components/table.js').Column[]} */
const lineColumns = currency => [
  skuColumn,
  productColumn,
  {
    title: t('Status'),
    value: line => html`<${State} state=${line.status} tone=${tones[line.status]} />`,
    text: line => line.status,
  },
  { title: t('Quantity'), right: true, value: line => line.quantity },
  { title: t('Shipped'), right: true, value: line => line.shipped },
  { title: t('Cancelled'), right: true, value: line => line.cancelled },
  { title: t('Returned'), right: true, value: line => line.returned },
  amountColumn(t('Price'), line => line.price, currency),
  amountColumn(t('Value'), line => line.value, currency),
]

/** Returns the status of a whole order, as the list of orders has it. @param {any[]} lines */
function getStatus(lines) {
  const statuses = new Set(lines.map(({ status }) => status))
  if (statuses.has('processing')) return 'processing'
  if (statuses.size === 1 && statuses.has('cancelled')) return 'cancelled'
  return statuses.has('shipped') ? 'shipped' : 'returned'
}

/** Loads an order with its returns, shipments, cancellations and the name of its customer. @param {string} id @param {AbortSignal} signal */
async function loadOrder(id, signal) {
  const path = `/orders/${encodeURIComponent(id)}`
  const [{ data: order }, returns, shipments, cancellations, canFulfil] = await Promise.all([
    callApi(path, { signal }),
    loadAll(`${path}/returns`, signal),
    loadAll(`${path}/shipments`, signal),
    callApi(`/console${path}/cancellations`, { signal }),
    hasCapability('fulfilment', signal),
  ])
  const customer = order.customerId && (await loadCustomerName(order.customerId, signal))
  return {
    order,
    returns: returns.data,
    shipments: shipments.data,
    cancellations: cancellations.data,
    canFulfil,
    customer,
  }
}

/** An order with its figures, actions, lines and history. @param {{ id: string }} props */
export const Order = ({ id }) => html`<${LoadedRecord}
  path=${id}
  load=${(/** @type {AbortSignal} */ signal) => loadOrder(id, signal)}
  show=${(/** @type {any} */ data, /** @type {() => void} */ reload) => html`<${OrderDetails} ...${data} reload=${reload} />`}
/>`

/** @param {{ order: any, returns: any[], shipments: any[], cancellations: any[], canFulfil: boolean, customer: string | null, reload: () => void }} props */
function OrderDetails({ order, returns, shipments, cancellations, canFulfil, customer, reload }) {
  const [message, setMessage] = useState('')
  const container = useKeptFocus()
  const status = getStatus(order.lines)
  const sum = (/** @type {(line: any) => number} */ count) =>
    order.lines.reduce((/** @type {number} */ total, /** @type {any} */ line) => total + count(line), 0)
  const activeReturns = returns.filter(({ status: returnStatus }) => returnStatus !== 'cancelled')
  const file = `order-${order.orderNumber}`
  return html`<section aria-label=${t('Order {orderNumber}', { orderNumber: order.orderNumber })}>
    <div class="record-head"><h2>${t('Order {orderNumber}', { orderNumber: order.orderNumber })}</h2><${State} state=${status} tone=${tones[status]} /></div>
    <${Figures}
      figures=${[
        [t('Total'), formatMoney(order.total, order.currency)],
        [t('Units'), sum(line => line.quantity)],
        [t('Shipped'), sum(line => line.shipped)],
        [t('Open'), sum(countOpen)],
        [
          t('Returned'),
          activeReturns.length
            ? formatMoney(sumAmounts(activeReturns.map(({ total }) => total)), order.currency)
            : t('none'),
        ],
      ]}
    />
    <div class="card" tabindex="-1" ref=${container}>
      <${Facts}
        facts=${[
          [t('Placed'), renderLocalTime(order.placedAt)],
          [
            t('Customer'),
            order.customerId && html`<a href=${linkTo('search', 'customer', order.customerId)}>${customer}</a>`,
          ],
          [t('Shipping'), formatMoney(order.freight, order.currency)],
          [
            t('Paid by'),
            order.payments
              .map((/** @type {any} */ payment) =>
                payment.voucherNumber
                  ? t('{gateway} {amount} (voucher {number})', {
                      gateway: payment.gateway,
                      amount: formatMoney(payment.amount, order.currency),
                      number: payment.voucherNumber,
                    })
                  : `${payment.gateway} ${formatMoney(payment.amount, order.currency)}`,
              )
              .join(', '),
          ],
          [t('Delivery'), formatAddress(order.deliveryAddress), 'wide'],
          [t('Billing'), formatAddress(order.billingAddress), 'wide'],
          [
            t('Pickup store'),
            order.pickupStoreNumber &&
              html`<a href=${linkTo('search', 'store', order.pickupStoreNumber)}>${order.pickupStoreNumber}</a>`,
          ],
          [t('Last updated'), renderLocalTime(order.updateTimeStamp)],
          [t('Order ID'), html`<code>${order.id}</code>`, 'wide'],
        ]}
      />
      <${OrderActions} order=${order} canFulfil=${canFulfil} done=${(/** @type {string} */ text) => {
        setMessage(text)
        reload()
      }} />
      <p role="status" class="outcome">${message}</p>
    </div>
    <${ExportableTable} title=${html`<h3>Lines</h3>`} caption="Lines of the order" columns=${lineColumns(order.currency)} rows=${order.lines} file=${`${file}-lines`} />
    ${
      returns.length > 0
        ? html`<${ExportableTable} title=${html`<h3>Returns</h3>`} caption="Returns of the order" columns=${returnColumns(order.currency)} rows=${returns} file=${`${file}-returns`} />`
        : html`<h3>Returns</h3><div class="empty">No returns</div>`
    }
    <h3>History <small>${formatZone()}</small></h3>
    <${Timeline} events=${buildHistory(order, returns, shipments, cancellations)} />
  </section>`
}

/** @param {string} currency @returns {import('../../components/table.js').Column[]} */
const returnColumns = currency => [
  {
    title: t('Return'),
    value: orderReturn => html`<a href=${linkTo('search', 'return', orderReturn.id)}>${orderReturn.returnNumber}</a>`,
    text: orderReturn => orderReturn.returnNumber,
  },
  { title: t('Status'), value: orderReturn => nameState(orderReturn.status) },
  { title: t('Created'), value: orderReturn => orderReturn.createdAt, isTime: true },
  amountColumn(t('Total'), orderReturn => orderReturn.total, currency),
]

/** @param {any[]} lines */
const formatUnits = lines => lines.map(({ quantity, sku }) => `${quantity} × ${sku}`).join(', ')

/** Describes where a refund went. @param {any} refund */
function describeRefund({ total, vouchers, exchange, payments, currency }) {
  const format = (/** @type {string | null} */ amount) => formatMoney(amount, currency)
  const parts = [
    ...vouchers.map((/** @type {any} */ { number, amount }) => [
      amount,
      t('{amount} to voucher {number}', { amount: format(amount), number }),
    ]),
    [exchange ?? '0', t('{amount} to the return of the exchange', { amount: format(exchange) })],
    [payments, t('{amount} through the payment gateway', { amount: format(payments) })],
  ].flatMap(([amount, part]) => (Number(amount) ? [part] : []))
  return parts.length
    ? t('Refund: {parts}', { parts: parts.join(', ') })
    : t('Refund: {parts}', { parts: format(total) })
}

/** Builds the history of an order, newest first. @param {any} order @param {any[]} returns @param {any[]} shipments @param {any[]} cancellations */
function buildHistory(order, returns, shipments, cancellations) {
  const events = [
    {
      key: 'placed',
      at: order.placedAt,
      content: html`Order placed <small>${formatUnits(order.lines)}</small>`,
      amount: formatMoney(order.total, order.currency),
    },
    ...(order.readyAt ? [{ key: 'ready', at: order.readyAt, content: t('Ready for collection') }] : []),
    ...(order.collectedAt ? [{ key: 'collected', at: order.collectedAt, content: t('Collected') }] : []),
    ...shipments.map(shipment => ({
      key: `shipment ${shipment.id}`,
      at: shipment.shippedAt ?? shipment.updateTimeStamp,
      content: html`Shipped <small>${formatUnits(shipment.lines)}</small> ${renderTracking(shipment)}`,
    })),
    ...cancellations.map((cancellation, i) => ({
      key: `cancellation ${i}`,
      at: cancellation.at,
      content: html`${cancellation.username ? t('Cancelled by {writer}', { writer: formatWriter(cancellation) }) : t('Cancelled')} <small>${formatUnits(cancellation.lines)}. ${describeRefund(cancellation.refund)}</small>`,
      amount: formatMoney(`-${cancellation.refund.total}`, cancellation.refund.currency),
    })),
    ...returns.map(orderReturn => ({
      key: `return ${orderReturn.id}`,
      at: orderReturn.createdAt,
      content: rich('Return {link} {status}', {
        link: html`<a href=${linkTo('search', 'return', orderReturn.id)}>${orderReturn.returnNumber}</a>`,
        status: nameState(orderReturn.status),
      }),
      amount: formatMoney(`-${orderReturn.total}`, orderReturn.currency),
    })),
  ]
  return events.sort(compareNewestFirst)
}

/** @param {any} shipment */
function renderTracking({ carrier, trackingNumber, trackingUrl }) {
  const text = [carrier, trackingNumber].filter(Boolean).join(' ') || (trackingUrl && t('Track'))
  if (!text) return null
  // Only web addresses: the back office could send another scheme.
  return /^https?:\/\//i.test(trackingUrl ?? '')
    ? html`<a href=${trackingUrl} target="_blank" rel="noopener noreferrer">${text}</a>`
    : text
}
