import { DataTable } from '../components/data-table.js'
import { formatMoney, State } from '../components/format.js'
import { html } from '../lib/html.js'
import { linkTo } from '../lib/route.js'
import { formatNumber, plural, rich, t } from '../lib/text.js'
import { formatDate } from '../lib/time.js'

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
  value: row => (row[name] === undefined || row[name] === null ? undefined : formatNumber(row[name])),
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
  title: t('Status'),
  value: row => html`<${State} state=${row[name]} tone=${tones[row[name]]} />`,
  text: row => row[name],
})

/** @param {string} title @param {string} name @param {string} [sort] @returns {DataColumn} */
const timeColumn = (title, name, sort) => ({ title, isTime: true, size: 1.3, sort, value: row => row[name] })

const currency = textColumn(t('Currency'), 'currency', { isExported: true })

/** @type {DataColumn} */
const customer = {
  title: t('Customer'),
  size: 1.4,
  value: row =>
    row.customerId &&
    html`<a href=${linkTo('search', 'customer', row.customerId)}>${row.customer ?? row.customerId}</a>`,
  text: row => row.customer ?? row.customerId ?? '',
}
const customerId = textColumn(t('Customer ID'), 'customerId', { isExported: true })

const ImportHint = () =>
  html`<p>${rich('Sync the back office or <link>import a file</link>.', { link: content => html`<a href=${linkTo('import')}>${content}</a>` })}</p>`

/** @type {Record<string, Omit<Parameters<typeof DataTable>[0], 'list' | 'caption'> & { title: string, lead: string }>} */
const lists = {
  orders: {
    title: t('Orders'),
    lead: t('Web orders, newest first. Open one to ship, cancel or return it.'),
    noun: t('orders'),
    formatCount: count => plural(count, '{count} order', '{count} orders'),
    placeholder: t('Order number or customer'),
    filters: {
      today: t('Today'),
      processing: t('Processing'),
      shipped: t('Shipped'),
      returned: t('Returned'),
      cancelled: t('Cancelled'),
      pickup: t('Click & collect'),
    },
    defaultSort: '-placedAt',
    getLink: row => linkTo('search', 'order', row.id),
    empty: html`<p>No orders yet. Orders appear here when your shop places them.</p>`,
    columns: [
      textColumn(t('Order'), 'number', { sort: 'number', size: 1.1 }),
      timeColumn(t('Placed'), 'placedAt', 'placedAt'),
      stateColumn('status'),
      customer,
      customerId,
      countColumn(t('Units'), 'units', { size: 0.6, isMinor: true }),
      textColumn(t('Pickup store'), 'pickupStore', { isMinor: true }),
      moneyColumn(t('Total'), 'total', { sort: 'total' }),
      currency,
    ],
  },
  sales: {
    title: t('Sales'),
    lead: t('Receipts of all stores and the web, newest first.'),
    noun: t('sales'),
    formatCount: count => plural(count, '{count} sale', '{count} sales'),
    placeholder: t('Receipt, order number or customer'),
    filters: { today: t('Today'), week: t('7 days'), month: t('30 days') },
    defaultSort: '-saleDate',
    getLink: row => linkTo('search', 'sale', row.id),
    empty: html`<p>No sales yet.</p><${ImportHint} />`,
    columns: [
      textColumn(t('Receipt'), 'number', { sort: 'number', size: 1.1 }),
      timeColumn(t('Sold'), 'saleDate', 'saleDate'),
      textColumn(t('Store'), 'store', { size: 1.4 }),
      customer,
      customerId,
      textColumn(t('Order'), 'orderNumber', { isMinor: true }),
      countColumn(t('Lines'), 'lines', { size: 0.6, isMinor: true }),
      moneyColumn(t('Total'), 'total'),
      currency,
    ],
  },
  returns: {
    title: t('Returns'),
    lead: t('Returns of web orders and their refunds.'),
    noun: t('returns'),
    formatCount: count => plural(count, '{count} return', '{count} returns'),
    placeholder: t('Return or order number, customer'),
    filters: { requested: t('Requested'), received: t('Received'), refunded: t('Refunded'), cancelled: t('Cancelled') },
    defaultSort: '-createdAt',
    getLink: row => linkTo('search', 'return', row.id),
    empty: html`<p>No returns yet.</p>`,
    columns: [
      textColumn(t('Return'), 'number', { sort: 'number', size: 1.1 }),
      timeColumn(t('Created'), 'createdAt', 'createdAt'),
      stateColumn('status'),
      {
        title: t('Order'),
        value: row => html`<a href=${linkTo('search', 'order', row.orderId)}>${row.orderNumber}</a>`,
        text: row => row.orderNumber,
      },
      customer,
      customerId,
      countColumn(t('Units'), 'units', { size: 0.6, isMinor: true }),
      moneyColumn(t('Value'), 'total'),
      currency,
    ],
  },
  customers: {
    title: t('Customers'),
    lead: t('Shoppers with their contact details and marketing consent.'),
    noun: t('customers'),
    formatCount: count => plural(count, '{count} customer', '{count} customers'),
    placeholder: t('Name, email address, phone or ID'),
    filters: { email: t('Email consent'), sms: t('SMS consent'), none: t('No marketing') },
    defaultSort: 'name',
    getLink: row => linkTo('search', 'customer', row.id),
    empty: html`<p>No customers yet.</p><${ImportHint} />`,
    columns: [
      textColumn(t('Name'), 'name', { sort: 'name', size: 1.4 }),
      textColumn(t('Email'), 'email', { size: 2.3, isLine: true }),
      textColumn(t('Phone'), 'phone', { size: 1.2 }),
      textColumn(t('City'), 'city', { isMinor: true, size: 1.1 }),
      {
        title: t('Marketing'),
        isMinor: true,
        size: 0.9,
        value: row =>
          row.emailSubscription || row.smsSubscription
            ? [row.emailSubscription && t('email'), row.smsSubscription && t('SMS')].filter(Boolean).join(', ')
            : html`<span class="none">none</span>`,
        text: row => [row.emailSubscription && t('email'), row.smsSubscription && t('SMS')].filter(Boolean).join(' '),
      },
      textColumn(t('Loyalty'), 'loyalty', { isMinor: true, size: 0.9 }),
      { ...timeColumn(t('Updated'), 'updatedAt', 'updatedAt'), isMinor: true },
      textColumn(t('Customer ID'), 'id', { isExported: true }),
    ],
  },
  products: {
    title: t('Products'),
    lead: t('Styles with their colours and sizes. Open one for its stock by size and colour.'),
    noun: t('products'),
    formatCount: count => plural(count, '{count} product', '{count} products'),
    placeholder: t('Name, style code, SKU or barcode'),
    filters: { inStock: t('In stock'), outOfStock: t('Out of stock') },
    defaultSort: 'code',
    getLink: row => linkTo('search', 'product', row.id),
    empty: html`<p>No products yet.</p><${ImportHint} />`,
    columns: [
      textColumn(t('Name'), 'name', { sort: 'name', size: 2 }),
      textColumn(t('Code'), 'code', { sort: 'code' }),
      countColumn(t('Colours'), 'colours', { size: 0.7, isMinor: true }),
      countColumn('SKUs', 'skus', { size: 0.6, isMinor: true }),
      {
        ...moneyColumn(t('Price'), 'price', { size: 1.2 }),
        value: row => {
          const price = formatMoney(row.price, row.currency)
          return price && row.highestPrice ? t('from {price}', { price }) : price
        },
      },
      currency,
      countColumn(t('In stock'), 'stock', { size: 0.8 }),
      { ...timeColumn(t('Updated'), 'updatedAt', 'updatedAt'), isMinor: true },
      textColumn(t('Product ID'), 'id', { isExported: true }),
    ],
  },
  stock: {
    title: t('Stock'),
    lead: t('Units of each SKU in each store, and how many of them can be sold online.'),
    noun: t('stock levels'),
    formatCount: count => plural(count, '{count} stock level', '{count} stock levels'),
    placeholder: t('SKU, barcode, product or store'),
    filters: { available: t('Available'), low: t('Low (1–3)'), none: t('Out of stock') },
    defaultSort: 'sku',
    getLink: row => linkTo('search', 'product', `sku:${row.sku}`),
    empty: html`<p>No stock yet.</p><${ImportHint} />`,
    columns: [
      textColumn('SKU', 'sku', { sort: 'sku', size: 1.5 }),
      textColumn(t('Product'), 'product', { size: 1.7 }),
      {
        title: t('Colour, size'),
        isMinor: true,
        value: row => [row.colour, row.size].filter(Boolean).join(', '),
      },
      {
        title: t('Store'),
        sort: 'store',
        size: 1.4,
        value: row => `${row.storeNumber} ${row.store}`,
      },
      countColumn(t('On hand'), 'onHand', { sort: 'onHand', size: 0.8 }),
      countColumn(t('Buffer'), 'buffer', { size: 0.7, isMinor: true }),
      countColumn(t('Reserved'), 'reserved', { size: 0.8, isMinor: true }),
      {
        ...countColumn(t('Available'), 'available', { size: 0.8 }),
        value: row => html`<b>${formatNumber(row.available)}</b>`,
      },
    ],
  },
  vouchers: {
    title: t('Gift vouchers'),
    lead: t('Gift vouchers with their balance. Open one for its ledger, or to suspend it.'),
    noun: t('vouchers'),
    formatCount: count => plural(count, '{count} voucher', '{count} vouchers'),
    placeholder: t('Number, receiver or order'),
    filters: {
      active: t('Active'),
      expiring: t('Expiring in 30 days'),
      locked: t('Locked'),
      redeemed: t('Redeemed'),
      expired: t('Expired'),
      suspended: t('Suspended'),
    },
    defaultSort: '-createdAt',
    getLink: row => linkTo('search', 'voucher', row.number),
    empty: html`<p>No gift vouchers yet.</p>`,
    columns: [
      textColumn(t('Number'), 'number', { sort: 'number', size: 1.4 }),
      stateColumn('state'),
      moneyColumn(t('Balance'), 'balance', { sort: 'balance' }),
      moneyColumn(t('Original value'), 'originalAmount', { isMinor: true }),
      currency,
      textColumn(t('Expires'), 'expiryDate', {
        sort: 'expiryDate',
        isLabelled: true,
        value: row => formatDate(row.expiryDate),
        text: row => row.expiryDate ?? '',
      }),
      textColumn(t('Receiver'), 'receiver', { isMinor: true, size: 1.2 }),
      textColumn(t('Email'), 'email', { isExported: true }),
      { ...timeColumn(t('Issued'), 'createdAt', 'createdAt'), isMinor: true },
    ],
  },
  stores: {
    title: t('Stores'),
    lead: t('Stores and warehouses. Open one for its stock.'),
    noun: t('stores'),
    formatCount: count => plural(count, '{count} store', '{count} stores'),
    placeholder: t('Number, name or city'),
    filters: { store: t('Stores'), warehouse: t('Warehouses'), web: t('Web') },
    defaultSort: 'number',
    getLink: row => linkTo('search', 'store', row.number),
    empty: html`<p>No stores yet.</p><${ImportHint} />`,
    columns: [
      textColumn(t('Number'), 'number', { sort: 'number', size: 0.8 }),
      textColumn(t('Name'), 'name', { sort: 'name', size: 2 }),
      textColumn(t('Type'), 'kind', { isMinor: true }),
      textColumn(t('City'), 'city', { sort: 'city' }),
      textColumn(t('State'), 'state', { isMinor: true }),
      countColumn(t('Buffer'), 'buffer', { size: 0.7 }),
      textColumn(t('E-commerce location'), 'location', { isMinor: true, size: 1.4 }),
      { ...timeColumn(t('Updated'), 'updatedAt'), isMinor: true },
    ],
  },
  staff: {
    title: t('Staff'),
    lead: t('Store staff, from the back office.'),
    noun: t('staff members'),
    formatCount: count => plural(count, '{count} staff member', '{count} staff members'),
    placeholder: t('Code, name, email or store'),
    filters: { active: t('Active'), left: t('Left') },
    defaultSort: 'name',
    getLink: () => undefined,
    empty: html`<p>No staff yet.</p><${ImportHint} />`,
    columns: [
      textColumn(t('Name'), 'name', { sort: 'name', size: 1.5 }),
      textColumn(t('Code'), 'code', { sort: 'code' }),
      textColumn(t('Email'), 'email', { size: 2.4, isLine: true }),
      textColumn(t('Store'), 'store', { sort: 'store', size: 0.7, isLabelled: true }),
      {
        title: t('Status'),
        value: row =>
          html`<${State} state=${row.active ? t('active') : t('left')} tone=${row.active ? 'good' : 'idle'} />`,
        text: row => (row.active ? t('active') : t('left')),
      },
      { ...timeColumn(t('Updated'), 'updatedAt'), isMinor: true },
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
