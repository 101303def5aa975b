import { DataTable } from '../components/data-table.js'
import { formatMoney, State } from '../components/format.js'
import { html } from '../lib/html.js'
import { linkTo } from '../lib/route.js'

/** @typedef {import('../components/data-table.js').DataColumn} DataColumn */

/** @type {Record<string, import('../components/format.js').Tone>} */
const tones = {
  shipped: 'good',
  refunded: 'good',
  active: 'good',
  processing: 'warn',
  requested: 'warn',
  received: 'warn',
  locked: 'warn',
  suspended: 'bad',
}

/** @param {string} title @param {string} name @param {Partial<DataColumn>} [more] @returns {DataColumn} */
const textColumn = (title, name, more) => ({ title, value: row => row[name], ...more })

/** @param {string} title @param {string} name @param {Partial<DataColumn>} [more] @returns {DataColumn} */
const countColumn = (title, name, more) => ({
  title,
  right: true,
  value: row => row[name]?.toLocaleString('en'),
  text: row => String(row[name] ?? ''),
  ...more,
})

/** @param {string} title @param {string} name @param {Partial<DataColumn>} [more] @returns {DataColumn} */
const moneyColumn = (title, name, more) => ({
  title,
  right: true,
  value: row => formatMoney(row[name], row.currency),
  text: row => row[name] ?? '',
  ...more,
})

/** @param {string} name @returns {DataColumn} */
const stateColumn = name => ({
  title: 'Status',
  value: row => html`<${State} state=${row[name]} tone=${tones[row[name]]} />`,
  text: row => row[name],
})

/** @param {string} title @param {string} name @param {string} [sort] @returns {DataColumn} */
const timeColumn = (title, name, sort) => ({ title, isTime: true, size: 1.3, sort, value: row => row[name] })

const currency = textColumn('Currency', 'currency', { isExported: true })

/** @type {DataColumn} */
const customer = {
  title: 'Customer',
  size: 1.4,
  value: row =>
    row.customerId &&
    html`<a href=${linkTo('search', 'customer', row.customerId)}>${row.customer ?? row.customerId}</a>`,
  text: row => row.customer ?? row.customerId ?? '',
}
const customerId = textColumn('Customer ID', 'customerId', { isExported: true })

const ImportHint = () => html`<p>Sync the back office or <a href=${linkTo('import')}>import a file</a>.</p>`

/** @type {Record<string, Omit<Parameters<typeof DataTable>[0], 'list' | 'caption'> & { title: string, lead: string }>} */
const lists = {
  orders: {
    title: 'Orders',
    lead: 'Web orders, newest first. Open one to ship, cancel or return it.',
    nouns: ['order', 'orders'],
    placeholder: 'Order number or customer',
    filters: {
      processing: 'Processing',
      shipped: 'Shipped',
      returned: 'Returned',
      cancelled: 'Cancelled',
      pickup: 'Click & collect',
    },
    defaultSort: '-placedAt',
    getLink: row => linkTo('search', 'order', row.id),
    empty: html`<p>No orders yet. Orders appear here when your shop places them.</p>`,
    columns: [
      textColumn('Order', 'number', { sort: 'number', size: 1.1 }),
      timeColumn('Placed', 'placedAt', 'placedAt'),
      stateColumn('status'),
      customer,
      customerId,
      countColumn('Units', 'units', { size: 0.6, isMinor: true }),
      textColumn('Pickup store', 'pickupStore', { isMinor: true }),
      moneyColumn('Total', 'total', { sort: 'total' }),
      currency,
    ],
  },
  sales: {
    title: 'Sales',
    lead: 'Receipts of all stores and the web, newest first.',
    nouns: ['sale', 'sales'],
    placeholder: 'Receipt, order number or customer',
    filters: { today: 'Today', week: '7 days', month: '30 days' },
    defaultSort: '-saleDate',
    getLink: row => linkTo('search', 'sale', row.id),
    empty: html`<p>No sales yet.</p><${ImportHint} />`,
    columns: [
      textColumn('Receipt', 'number', { sort: 'number', size: 1.1 }),
      timeColumn('Sold', 'saleDate', 'saleDate'),
      textColumn('Store', 'store', { size: 1.4 }),
      customer,
      customerId,
      textColumn('Order', 'orderNumber', { isMinor: true }),
      countColumn('Lines', 'lines', { size: 0.6, isMinor: true }),
      moneyColumn('Total', 'total'),
      currency,
    ],
  },
  returns: {
    title: 'Returns',
    lead: 'Returns of web orders and their refunds.',
    nouns: ['return', 'returns'],
    placeholder: 'Return or order number, customer',
    filters: { requested: 'Requested', received: 'Received', refunded: 'Refunded', cancelled: 'Cancelled' },
    defaultSort: '-createdAt',
    getLink: row => linkTo('search', 'return', row.id),
    empty: html`<p>No returns yet.</p>`,
    columns: [
      textColumn('Return', 'number', { sort: 'number', size: 1.1 }),
      timeColumn('Created', 'createdAt', 'createdAt'),
      stateColumn('status'),
      {
        title: 'Order',
        value: row => html`<a href=${linkTo('search', 'order', row.orderId)}>${row.orderNumber}</a>`,
        text: row => row.orderNumber,
      },
      customer,
      customerId,
      countColumn('Units', 'units', { size: 0.6, isMinor: true }),
      moneyColumn('Value', 'total'),
      currency,
    ],
  },
  customers: {
    title: 'Customers',
    lead: 'Shoppers with their contact details and marketing consent.',
    nouns: ['customer', 'customers'],
    placeholder: 'Name, email address, phone or ID',
    filters: { email: 'Email consent', sms: 'SMS consent', none: 'No marketing' },
    defaultSort: 'name',
    getLink: row => linkTo('search', 'customer', row.id),
    empty: html`<p>No customers yet.</p><${ImportHint} />`,
    columns: [
      textColumn('Name', 'name', { sort: 'name', size: 1.5 }),
      textColumn('Email', 'email', { size: 1.9 }),
      textColumn('Phone', 'phone', { size: 1.3 }),
      textColumn('City', 'city', { isMinor: true, size: 1.1 }),
      {
        title: 'Marketing',
        isMinor: true,
        size: 0.9,
        value: row =>
          row.emailSubscription || row.smsSubscription
            ? [row.emailSubscription && 'email', row.smsSubscription && 'SMS'].filter(Boolean).join(', ')
            : html`<span class="none">none</span>`,
        text: row => [row.emailSubscription && 'email', row.smsSubscription && 'SMS'].filter(Boolean).join(' '),
      },
      textColumn('Loyalty', 'loyalty', { isMinor: true, size: 0.9 }),
      { ...timeColumn('Updated', 'updatedAt', 'updatedAt'), isMinor: true },
      textColumn('Customer ID', 'id', { isExported: true }),
    ],
  },
  products: {
    title: 'Products',
    lead: 'Styles with their colours and sizes. Open one for its stock by size and colour.',
    nouns: ['product', 'products'],
    placeholder: 'Name, style code, SKU or barcode',
    filters: { inStock: 'In stock', outOfStock: 'Out of stock' },
    defaultSort: 'code',
    getLink: row => linkTo('search', 'product', row.id),
    empty: html`<p>No products yet.</p><${ImportHint} />`,
    columns: [
      textColumn('Name', 'name', { sort: 'name', size: 2 }),
      textColumn('Code', 'code', { sort: 'code' }),
      countColumn('Colours', 'colours', { size: 0.7, isMinor: true }),
      countColumn('SKUs', 'skus', { size: 0.6, isMinor: true }),
      {
        ...moneyColumn('Price', 'price', { size: 1.2 }),
        value: row => row.price && `${row.highestPrice ? 'from ' : ''}${formatMoney(row.price, row.currency)}`,
      },
      currency,
      countColumn('In stock', 'stock', { size: 0.8 }),
      { ...timeColumn('Updated', 'updatedAt', 'updatedAt'), isMinor: true },
      textColumn('Product ID', 'id', { isExported: true }),
    ],
  },
  stock: {
    title: 'Stock',
    lead: 'Units of each SKU in each store, and how many of them can be sold online.',
    nouns: ['stock level', 'stock levels'],
    placeholder: 'SKU, barcode, product or store',
    filters: { available: 'Available', low: 'Low (1–3)', none: 'Out of stock' },
    defaultSort: 'sku',
    getLink: row => linkTo('search', 'product', `sku:${row.sku}`),
    empty: html`<p>No stock yet.</p><${ImportHint} />`,
    columns: [
      textColumn('SKU', 'sku', { sort: 'sku', size: 1.5 }),
      textColumn('Product', 'product', { size: 1.7 }),
      {
        title: 'Colour, size',
        isMinor: true,
        value: row => [row.colour, row.size].filter(Boolean).join(', '),
      },
      {
        title: 'Store',
        sort: 'store',
        size: 1.4,
        value: row => `${row.storeNumber} ${row.store}`,
      },
      countColumn('On hand', 'onHand', { sort: 'onHand', size: 0.8 }),
      countColumn('Buffer', 'buffer', { size: 0.7, isMinor: true }),
      countColumn('Reserved', 'reserved', { size: 0.8, isMinor: true }),
      {
        ...countColumn('Available', 'available', { size: 0.8 }),
        value: row => html`<b>${row.available.toLocaleString('en')}</b>`,
      },
    ],
  },
  vouchers: {
    title: 'Gift vouchers',
    lead: 'Gift vouchers with their balance. Open one for its ledger, or to suspend it.',
    nouns: ['voucher', 'vouchers'],
    placeholder: 'Number, receiver or order number',
    filters: {
      active: 'Active',
      expiring: 'Expiring in 30 days',
      locked: 'Locked',
      redeemed: 'Redeemed',
      expired: 'Expired',
      suspended: 'Suspended',
    },
    defaultSort: '-createdAt',
    getLink: row => linkTo('search', 'voucher', row.number),
    empty: html`<p>No gift vouchers yet.</p>`,
    columns: [
      textColumn('Number', 'number', { sort: 'number', size: 1.4 }),
      stateColumn('state'),
      moneyColumn('Balance', 'balance', { sort: 'balance' }),
      moneyColumn('Original value', 'originalAmount', { isMinor: true }),
      currency,
      textColumn('Expires', 'expiryDate', { sort: 'expiryDate' }),
      textColumn('Receiver', 'receiver', { isMinor: true, size: 1.2 }),
      textColumn('Email', 'email', { isExported: true }),
      { ...timeColumn('Issued', 'createdAt', 'createdAt'), isMinor: true },
    ],
  },
  stores: {
    title: 'Stores',
    lead: 'Stores and warehouses. Open one for its stock.',
    nouns: ['store', 'stores'],
    placeholder: 'Number, name or city',
    filters: { store: 'Stores', warehouse: 'Warehouses', web: 'Web' },
    defaultSort: 'number',
    getLink: row => linkTo('search', 'store', row.number),
    empty: html`<p>No stores yet.</p><${ImportHint} />`,
    columns: [
      textColumn('Number', 'number', { sort: 'number', size: 0.8 }),
      textColumn('Name', 'name', { sort: 'name', size: 2 }),
      textColumn('Type', 'kind', { isMinor: true }),
      textColumn('City', 'city', { sort: 'city' }),
      textColumn('State', 'state', { isMinor: true }),
      countColumn('Buffer', 'buffer', { size: 0.7 }),
      textColumn('E-commerce location', 'location', { isMinor: true, size: 1.4 }),
      { ...timeColumn('Updated', 'updatedAt'), isMinor: true },
    ],
  },
  staff: {
    title: 'Staff',
    lead: 'Store staff, from the back office.',
    nouns: ['staff member', 'staff members'],
    placeholder: 'Code, name, email or store',
    filters: { active: 'Active', left: 'Left' },
    defaultSort: 'name',
    getLink: () => undefined,
    empty: html`<p>No staff yet.</p><${ImportHint} />`,
    columns: [
      textColumn('Name', 'name', { sort: 'name', size: 1.5 }),
      textColumn('Code', 'code', { sort: 'code' }),
      textColumn('Email', 'email', { size: 1.8 }),
      textColumn('Store', 'store', { sort: 'store' }),
      {
        title: 'Status',
        value: row => html`<${State} state=${row.active ? 'active' : 'left'} tone=${row.active ? 'good' : 'idle'} />`,
        text: row => (row.active ? 'active' : 'left'),
      },
      { ...timeColumn('Updated', 'updatedAt'), isMinor: true },
    ],
  },
}

/** Returns the screen of a list. @param {string} name */
export function createScreen(name) {
  const { title, lead, ...table } = /** @type {(typeof lists)[string]} */ (lists[name])
  const Screen = () => html`<h1>${title}</h1>
    <p class="lead">${lead}</p>
    <${DataTable} list=${name} caption=${title} ...${table} />`
  return { Screen }
}
