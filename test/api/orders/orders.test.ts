import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Order } from '../../../src/domain/orders/orders.ts'
import { validateBody } from '../../../src/http/body/validate.ts'
import {
  address,
  buildOrder,
  getCreatedRecord,
  getSales,
  getStock,
  placeOrder,
  startOrderShop,
} from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { post } from '../../support/write.ts'

const { api, createShop } = await startOrderShop()
after(() => api.stop())

test('a line break in an address is named with its pointer', async () => {
  const broken = { ...address, addressLine1: '111 Collins St\nLevel 5' }
  const response = await post(api, '/orders', buildOrder([{ sku: 'TEE', quantity: 1 }], { billingAddress: broken }))
  assertProblem(response, 'invalid_field', api.baseUrl, '/orders')
  const detail = "`addressLine1` can't contain a line break (character 15)."
  assert.deepEqual(response.json.errors, [{ pointer: '/billingAddress/addressLine1', code: 'invalid_field', detail }])
})

test('an order is returned with calculated lines, a number and all fields', async () => {
  const body = buildOrder(
    [
      {
        sku: 'HOOD-S',
        quantity: 2,
        price: '29.99',
        discounts: [{ type: 'loyalty', reason: 'Gold member', amount: '4.00', percentage: '6.67' }],
      },
      { sku: 'TEE', quantity: 1 },
    ],
    {
      orderNumber: 'WEB-7',
      pickupStoreNumber: '101',
      freight: '9.95',
      payments: [
        { gateway: 'paypal', amount: '70.00', reference: 'PAYID-1' },
        { gateway: 'visa', amount: '5.93' },
      ],
    },
  )
  const response = await post(api, '/orders', body)
  const order = getCreatedRecord(response)
  const { id, placedAt, updateTimeStamp, ...fields } = order
  assert.equal(response.headers.location, `/orders/${id}`)
  assert.match(placedAt, /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/)
  const now = Temporal.Now.plainDateTimeISO('Australia/Melbourne')
  assert.ok(
    now.since(placedAt.replace(' ', 'T')).total('minutes') < 2,
    '`placedAt` must be in the time zone of the service',
  )
  assert.ok(updateTimeStamp >= placedAt)
  const toStyleFields = (sku: string) => ({
    sku,
    productCode: `C-${sku}`,
    productName: `Style ${sku}`,
    colourCode: 'BLK',
    colourName: 'Black',
    sizeCode: 'S',
  })
  assert.deepEqual(fields, {
    orderNumber: 'WEB-7',
    customerId: '65432',
    pickupStoreNumber: '101',
    readyAt: null,
    collectedAt: null,
    billingAddress: { contactName: null, companyName: null, ...address },
    deliveryAddress: { contactName: null, companyName: null, ...address },
    currency: 'AUD',
    lines: [
      {
        id: '1',
        sequence: 1,
        ...toStyleFields('HOOD-S'),
        quantity: 2,
        shipped: 2,
        cancelled: 0,
        returned: 0,
        price: '29.99',
        discounts: [{ type: 'loyalty', reason: 'Gold member', amount: '4.00', percentage: '6.67' }],
        value: '55.98',
        status: 'shipped',
        tracking: [],
      },
      {
        id: '2',
        sequence: 2,
        ...toStyleFields('TEE'),
        quantity: 1,
        shipped: 1,
        cancelled: 0,
        returned: 0,
        price: '10.00',
        discounts: [],
        value: '10.00',
        status: 'shipped',
        tracking: [],
      },
    ],
    freight: '9.95',
    taxLines: [],
    total: '75.93',
    payments: [
      { gateway: 'paypal', amount: '70.00', reference: 'PAYID-1', voucherNumber: null },
      { gateway: 'visa', amount: '5.93', reference: null, voucherNumber: null },
    ],
  })
  assert.deepEqual(validateBody(Order, order, { currency: 'AUD' }), [])

  const read = await api.get(`/orders/${id}`)
  assert.deepEqual(read.json.data, order)
  assert.equal(read.headers.etag, response.headers.etag)
  assert.equal((await api.get(`/orders/${id}`, { 'if-none-match': read.headers.etag })).status, 304)
})

test('an address without optional fields returns them as null', async () => {
  const short = { addressLine1: '1 High St', city: 'Leeds', country: 'United Kingdom' }
  const order = await placeOrder(api, [{ sku: 'UNKEPT', quantity: 1 }], { deliveryAddress: { ...short, state: null } })
  const noName = { contactName: null, companyName: null }
  assert.deepEqual(order.deliveryAddress, { ...noName, ...short, addressLine2: null, state: null, postcode: null })
})

test('an order without an amount due needs no payment', async () => {
  const free = [{ sku: 'TEE', quantity: 1, discounts: [{ type: 'gift', amount: '10.00' }] }]
  const order = await placeOrder(api, free, { payments: [] })
  assert.deepEqual([order.total, order.lines[0].value, order.payments], ['0.00', '0.00', []])
  assert.equal((await post(api, '/orders', buildOrder(free))).status, 201)
})

test('stock is taken from the pick-up or best-stocked store, even below zero', async () => {
  const shop = await createShop()
  const before = await getStock(shop)
  const since = (await shop.get('/inventory')).json.meta.asOf
  await placeOrder(shop, [
    { sku: 'HOOD-S', quantity: 3 },
    { sku: 'HOOD-S', quantity: 1 },
    { sku: 'UNKEPT', quantity: 2 },
  ])
  assert.deepEqual(await getStock(shop), { ...before, '1002 HOOD-S': 26 })
  await placeOrder(shop, [{ sku: 'HOOD-S', quantity: 11 }], { pickupStoreNumber: '101' })
  assert.deepEqual(await getStock(shop), { ...before, '1002 HOOD-S': 26, '1001 HOOD-S': -1 })
  // The pick-up store doesn't stock this SKU.
  await placeOrder(shop, [{ sku: 'TEE', quantity: 1 }], { pickupStoreNumber: '101' })
  assert.equal((await getStock(shop))['1002 TEE'], 4)
  const changed = (await shop.get(`/inventory?updated_after=${since}`)).json.data
  assert.deepEqual(
    changed.map((level: { id: string; sellable: number }) => [level.id, level.sellable]),
    [
      ['1002-HOOD-S', 26],
      ['1001-HOOD-S', 0],
      ['1002-TEE', 4],
    ],
  )
})

test("an order's sale appears in the retail history and in polls", async () => {
  const shop = await createShop()
  const since = (await shop.get('/orders/transactions/search')).json.meta.asOf
  const order = await placeOrder(
    shop,
    [
      { sku: 'HOOD-S', quantity: 2, discounts: [{ type: 'loyalty', amount: '4.00' }] },
      { sku: 'TEE', quantity: 1 },
    ],
    { freight: '9.95', payments: [{ gateway: 'visa', amount: '75.93' }] },
  )
  const [sale, ...more] = (await shop.get(`/orders/transactions/search?updated_after=${since}`)).json.data
  assert.deepEqual(more, [])
  assert.deepEqual((await shop.get('/customers/65432/transactions')).json.data, [sale])
  const { lines, saleDate, updateTimeStamp, ...fields } = sale
  assert.deepEqual(fields, {
    id: `order-${order.id}`,
    number: order.orderNumber,
    orderNumber: order.orderNumber,
    channel: 'web',
    type: 'sale',
    customerId: '65432',
    storeNumber: '102',
    storeName: 'Warehouse',
    currency: 'AUD',
    total: '65.98',
  })
  assert.equal(saleDate, updateTimeStamp)
  assert.deepEqual(
    lines.map((line: Record<string, unknown>) => [line.sku, line.quantity, line.price, line.value, line.discounts]),
    [
      ['HOOD-S', 2, '29.99', '55.98', [{ type: 'loyalty', reason: null, amount: '4.00', percentage: null }]],
      ['TEE', 1, '10.00', '10.00', []],
    ],
  )
})

test('an order waiting for shipment is processing and not yet a sale', async () => {
  const shop = await createShop({ fulfilment: 'manual' })
  const order = await placeOrder(shop, [{ sku: 'TEE', quantity: 2 }])
  assert.equal(order.lines[0].status, 'processing')
  assert.deepEqual(await getSales(shop, order.orderNumber), [])
  assert.equal((await getStock(shop))['1002 TEE'], 3)
})

test("a customer's orders are paginated newest first", async () => {
  const shop = await createShop()
  const numbers = []
  for (let i = 0; i < 5; i++) numbers.push((await placeOrder(shop, [{ sku: 'TEE', quantity: 1 }])).orderNumber)
  await placeOrder(shop, [{ sku: 'TEE', quantity: 1 }], { customerId: '65433' })
  const orderNumbers = []
  let path = '/customers/65432/orders?limit=2'
  for (;;) {
    const { status, json } = await shop.get(path)
    assert.equal(status, 200)
    orderNumbers.push(...json.data.map((order: { orderNumber: string }) => order.orderNumber))
    if (!json.meta.hasNextPage) break
    path = `/customers/65432/orders?limit=2&after_cursor=${json.meta.endCursor}`
  }
  assert.deepEqual(orderNumbers, numbers.toReversed())
  assertProblem(await shop.get('/customers/none/orders'), 'not_found', api.baseUrl, '/customers/none/orders')
})

test("another service's order returns the same response as an unknown order", async () => {
  const { id } = await placeOrder(api, [{ sku: 'TEE', quantity: 1 }])
  const other = await createShop()
  for (const path of ['', '/returns', '/returnable']) {
    const [foreign, unknown] = [await other.get(`/orders/${id}${path}`), await other.get(`/orders/none${path}`)]
    assertProblem(foreign, 'not_found', api.baseUrl, `/orders/${id}${path}`)
    assert.equal(foreign.json.detail, 'Order not found.')
    assert.equal(unknown.json.detail, foreign.json.detail)
  }
  assert.deepEqual((await other.get('/customers/65432/orders')).json.data, [])
})
