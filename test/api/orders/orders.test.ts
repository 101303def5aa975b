import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { Order } from '../../../src/domain/orders/orders.ts'
import { faultsOf } from '../../../src/http/shape.ts'
import { upsertTransactions } from '../../../src/store/orders/transactions.ts'
import {
  address,
  joinRewards,
  made,
  type OrderShop,
  orderOf,
  placed,
  salesOf,
  startOrderShop,
  stockOf,
} from '../../support/order-shop.ts'
import { faultsIn, isProblem } from '../../support/problem.ts'
import type { Answer } from '../../support/service.ts'
import { post } from '../../support/write.ts'

let api: OrderShop['api']
let shop: OrderShop['another']
before(async () => {
  ;({ api, another: shop } = await startOrderShop())
})
after(() => api.stop())

const detailAt = ({ json }: Answer, pointer: string) =>
  json.errors.find((fault: { pointer: string }) => fault.pointer === pointer)?.detail

test('an order comes back with its lines worked out, a number, and everything that was said', async () => {
  const body = orderOf(
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
  const answer = await post(api, '/orders', body)
  const order = made(answer)
  const { id, placedAt, updateTimeStamp, ...rest } = order
  assert.equal(answer.headers.location, `/orders/${id}`)
  assert.match(placedAt, /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/)
  const here = Temporal.Now.plainDateTimeISO('Australia/Melbourne')
  assert.ok(here.since(placedAt.replace(' ', 'T')).total('minutes') < 2, 'on the clock of the service')
  assert.ok(updateTimeStamp >= placedAt)
  const style = (sku: string) => ({
    sku,
    productCode: `C-${sku}`,
    productName: `Style ${sku}`,
    colourCode: 'BLK',
    colourName: 'Black',
    sizeCode: 'S',
  })
  assert.deepEqual(rest, {
    orderNumber: 'WEB-7',
    customerId: '65432',
    pickupStoreNumber: '101',
    billingAddress: address,
    deliveryAddress: address,
    currency: 'AUD',
    lines: [
      {
        id: '1',
        sequence: 1,
        ...style('HOOD-S'),
        quantity: 2,
        returned: 0,
        price: '29.99',
        discounts: [{ type: 'loyalty', reason: 'Gold member', amount: '4.00', percentage: '6.67' }],
        value: '55.98',
        status: 'shipped',
      },
      {
        id: '2',
        sequence: 2,
        ...style('TEE'),
        quantity: 1,
        returned: 0,
        price: '10.00',
        discounts: [],
        value: '10.00',
        status: 'shipped',
      },
    ],
    freight: '9.95',
    total: '75.93',
    payments: [
      { gateway: 'paypal', amount: '70.00', reference: 'PAYID-1', voucherNumber: null },
      { gateway: 'visa', amount: '5.93', reference: null, voucherNumber: null },
    ],
  })
  assert.deepEqual(faultsOf(Order, order, { currency: 'AUD' }), [])

  const read = await api.get(`/orders/${id}`)
  assert.deepEqual(read.json.data, order)
  assert.equal(read.headers.etag, answer.headers.etag)
  assert.equal((await api.get(`/orders/${id}`, { 'if-none-match': read.headers.etag })).status, 304)
})

test('an address without its optional fields has them as null', async () => {
  const short = { addressLine1: '1 High St', city: 'Leeds', country: 'United Kingdom' }
  const order = await placed(api, [{ sku: 'UNKEPT', quantity: 1 }], { deliveryAddress: { ...short, state: null } })
  assert.deepEqual(order.deliveryAddress, { ...short, addressLine2: null, state: null, postcode: null })
})

test('orders without a number are counted, past numbers that were given and past those of known sales', async () => {
  const own = await shop()
  await upsertTransactions(api.db, own.service, [
    {
      header: { id: '1', saleDate: '2024-05-26 00:00:00', orderNumber: 'W0000041' },
      line: { id: '1', quantity: 1, price: '1.00', value: '1.00' },
    },
  ])
  const number = async (more = {}) => (await placed(own, [{ sku: 'TEE', quantity: 1 }], more)).orderNumber
  assert.equal(await number(), 'W0000042')
  for (const taken of ['W0000043', 'W0000044', 'W0000045']) assert.equal(await number({ orderNumber: taken }), taken)
  assert.equal(await number(), 'W0000046')
  assert.equal(await number(), 'W0000047')
  assert.equal((await placed(await shop(), [{ sku: 'TEE', quantity: 1 }])).orderNumber, 'W0000001')
})

test('of twenty orders with one number at once one is taken, and the number is free in another service', async () => {
  const own = await shop()
  const body = orderOf([{ sku: 'TEE', quantity: 1 }], { orderNumber: 'RACE' })
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(own, '/orders', body)))
  assert.equal(answers.filter(answer => answer.status === 201).length, 1)
  for (const answer of answers.filter(({ status }) => status !== 201)) {
    isProblem(answer, 'order_number_taken', api.baseUrl, '/orders')
    assert.deepEqual(faultsIn(answer), ['/orderNumber order_number_taken'])
  }
  assert.equal((await stockOf(own))['1002 TEE'], 4)
  assert.equal((await salesOf(own, 'RACE')).length, 1)
  made(await post(await shop(), '/orders', body))
})

test('twenty orders at once without a number have twenty numbers, and each takes its stock', async () => {
  const own = await shop()
  const body = orderOf([
    { sku: 'TEE', quantity: 1 },
    { sku: 'HOOD-M', quantity: 2 },
  ])
  const reversed = { ...body, lines: body.lines.toReversed() }
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => post(own, '/orders', i % 2 ? body : reversed)))
  const numbers = answers.map(answer => made(answer).orderNumber)
  assert.equal(new Set(numbers).size, 20)
  for (const number of numbers) assert.match(number, /^W\d{7}$/)
  const stock = await stockOf(own)
  assert.deepEqual([stock['1002 TEE'], stock['1001 HOOD-M']], [5 - 20, 4 - 40])
})

test('generated and given numbers race without meeting', async () => {
  const own = await shop()
  const given = Array.from({ length: 10 }, (_, i) => `W${String(i + 1).padStart(7, '0')}`)
  const answers = await Promise.all(
    given.flatMap(orderNumber => [
      post(own, '/orders', orderOf([{ sku: 'TEE', quantity: 1 }], { orderNumber })),
      post(own, '/orders', orderOf([{ sku: 'TEE', quantity: 1 }])),
    ]),
  )
  const taken = answers.filter(answer => answer.status === 201).map(answer => answer.json.data.orderNumber)
  assert.equal(new Set(taken).size, taken.length)
  for (const [i, answer] of answers.entries())
    assert.ok(answer.status === 201 || (i % 2 === 0 && answer.json.code === 'order_number_taken'), answer.text)
  assert.ok(taken.length >= 10)
})

test('every fault of an order is told at once, each by its place, and nothing is left of it', async () => {
  const own = await shop()
  const before = await stockOf(own)
  const answer = await post(own, '/orders', {
    ...orderOf([
      { sku: 'HOOD-S', quantity: 1, price: '29.98' },
      { sku: 'hood-s', quantity: 1 },
      { sku: 'NONE', quantity: 1 },
      { sku: 'TEE', quantity: 1, discounts: [{ type: 'staff', amount: '10.01' }] },
    ]),
    customerId: 'nobody',
    pickupStoreNumber: '999',
    payments: [
      { gateway: 'paypaI', amount: '1.00' },
      { gateway: 'visa', amount: '0.00', voucher: { number: '1', validationId: 'x' } },
      { gateway: 'visa', amount: '1.00', voucher: { number: '1', validationId: 'x' } },
    ],
  })
  isProblem(answer, 'invalid_field', api.baseUrl, '/orders')
  assert.deepEqual(faultsIn(answer), [
    '/customerId invalid_field',
    '/pickupStoreNumber invalid_field',
    '/lines/0/price invalid_field',
    '/lines/1/sku unknown_sku',
    '/lines/2/sku unknown_sku',
    '/lines/3/discounts invalid_field',
    '/payments/0/gateway unknown_gateway',
    '/payments/1/amount invalid_field',
    '/payments/2/voucher/number invalid_field',
  ])
  assert.equal(detailAt(answer, '/lines/0/price'), 'The price of HOOD-S is 29.99 AUD.')
  assert.equal(detailAt(answer, '/lines/3/discounts'), 'The discounts are more than the 10.00 AUD that TEE costs.')
  assert.equal(detailAt(answer, '/payments/0/gateway'), 'There is no gateway paypaI; there are paypal, visa.')
  assert.deepEqual(await stockOf(own), before)
  assert.deepEqual((await own.get('/customers/65432/orders')).json.data, [])
  assert.deepEqual((await own.get('/orders/transactions/search')).json.data, [])
})

test('payments that are not what is due are refused with the amount that is', async () => {
  for (const [amount, told] of [
    ['69.92', '69.93 AUD are due, and 69.92 AUD are paid.'],
    ['69.94', '69.93 AUD are due, and 69.94 AUD are paid.'],
  ]) {
    const body = orderOf([{ sku: 'HOOD-S', quantity: 2 }], { freight: '9.95', payments: [{ gateway: 'visa', amount }] })
    const answer = await post(api, '/orders', body)
    isProblem(answer, 'payment_total_mismatch', api.baseUrl, '/orders')
    assert.equal(answer.json.detail, told)
  }
})

test('an order that costs nothing needs no payment', async () => {
  const free = [{ sku: 'TEE', quantity: 1, discounts: [{ type: 'gift', amount: '10.00' }] }]
  const order = await placed(api, free, { payments: [] })
  assert.deepEqual([order.total, order.lines[0].value, order.payments], ['0.00', '0.00', []])
  assert.equal((await post(api, '/orders', orderOf(free))).status, 201)
})

test('what breaks the shape is 400, what breaks a rule is 422, each with its place', async () => {
  const good = orderOf([{ sku: 'TEE', quantity: 1 }])
  const line = (quantity: unknown) => ({ ...good, lines: [{ sku: 'TEE', quantity }] })
  const { customerId: _, ...anonymous } = good
  const { country: __, ...nowhere } = address
  for (const [body, status, expected] of [
    [line(0), 422, '/lines/0/quantity invalid_field'],
    [line(-1), 422, '/lines/0/quantity invalid_field'],
    [line(10_000), 422, '/lines/0/quantity invalid_field'],
    [line(1.5), 400, '/lines/0/quantity invalid_body'],
    [line('1'), 400, '/lines/0/quantity invalid_body'],
    [anonymous, 400, '/customerId invalid_body'],
    [{ ...good, billingAddress: nowhere }, 400, '/billingAddress/country invalid_body'],
    [{ ...good, deliveryAddress: { ...address, city: '' } }, 422, '/deliveryAddress/city invalid_field'],
    [{ ...good, deliveryAddress: { ...address, city: ' ' } }, 422, '/deliveryAddress/city invalid_field'],
    [{ ...good, lines: [] }, 422, '/lines invalid_field'],
    [{ ...good, lines: Array(201).fill({ sku: 'TEE', quantity: 1 }) }, 422, '/lines invalid_field'],
    [{ ...good, orderNumber: ' W1' }, 422, '/orderNumber invalid_field'],
    [{ ...good, orderNumber: 'W'.repeat(31) }, 422, '/orderNumber invalid_field'],
    [{ ...good, freight: '-1.00' }, 422, '/freight invalid_field'],
    [{ ...good, freight: '1.001' }, 422, '/freight invalid_field'],
    [{ ...good, freight: '01.00' }, 422, '/freight invalid_field'],
    [{ ...good, payments: [{ gateway: 'visa', amount: 10 }] }, 400, '/payments/0/amount invalid_body'],
    [{ ...good, total: '10.00' }, 400, '/total invalid_body'],
  ] as const) {
    const answer = await post(api, '/orders', body)
    assert.equal(answer.status, status, answer.text)
    assert.deepEqual(faultsIn(answer), [expected])
  }
  assert.equal((await post(api, '/orders', JSON.stringify(line(2 ** 53)))).json.code, 'malformed_json')
})

test('placing needs the role of a maintainer, reading that of a visitor', async () => {
  const visitor = await api.account('visitor')
  const answer = await post(visitor, '/orders', orderOf([{ sku: 'TEE', quantity: 1 }]))
  isProblem(answer, 'insufficient_role', api.baseUrl, '/orders')
  const { id } = await placed(api, [{ sku: 'TEE', quantity: 1 }])
  assert.equal((await visitor.get(`/orders/${id}`)).status, 200)
})

test('stock leaves the pick-up store, else the store with most of it, and may fall below zero', async () => {
  const own = await shop()
  const before = await stockOf(own)
  const since = (await own.get('/inventory')).json.meta.asOf
  await placed(own, [
    { sku: 'HOOD-S', quantity: 3 },
    { sku: 'HOOD-S', quantity: 1 },
    { sku: 'UNKEPT', quantity: 2 },
  ])
  assert.deepEqual(await stockOf(own), { ...before, '1002 HOOD-S': 26 })
  await placed(own, [{ sku: 'HOOD-S', quantity: 11 }], { pickupStoreNumber: '101' })
  assert.deepEqual(await stockOf(own), { ...before, '1002 HOOD-S': 26, '1001 HOOD-S': -1 })
  // The pick-up store does not keep it.
  await placed(own, [{ sku: 'TEE', quantity: 1 }], { pickupStoreNumber: '101' })
  assert.equal((await stockOf(own))['1002 TEE'], 4)
  const changed = (await own.get(`/inventory?updated_after=${since}`)).json.data
  assert.deepEqual(
    changed.map((each: { id: string; sellable: number }) => [each.id, each.sellable]),
    [
      ['1002-HOOD-S', 26],
      ['1001-HOOD-S', 0],
      ['1002-TEE', 4],
    ],
  )
})

test('the sale of an order is in the retail history, for who polls and for the shopper', async () => {
  const own = await shop()
  const since = (await own.get('/orders/transactions/search')).json.meta.asOf
  const order = await placed(
    own,
    [
      { sku: 'HOOD-S', quantity: 2, discounts: [{ type: 'loyalty', amount: '4.00' }] },
      { sku: 'TEE', quantity: 1 },
    ],
    { freight: '9.95', payments: [{ gateway: 'visa', amount: '75.93' }] },
  )
  const [sale, ...more] = (await own.get(`/orders/transactions/search?updated_after=${since}`)).json.data
  assert.deepEqual(more, [])
  assert.deepEqual((await own.get('/customers/65432/transactions')).json.data, [sale])
  const { lines, saleDate, updateTimeStamp, ...rest } = sale
  assert.deepEqual(rest, {
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

test('an order that waits to be shipped is processing, and no sale yet', async () => {
  const own = await shop({ shipOrders: 'manually' })
  const order = await placed(own, [{ sku: 'TEE', quantity: 2 }])
  assert.equal(order.lines[0].status, 'processing')
  assert.deepEqual(await salesOf(own, order.orderNumber), [])
  assert.equal((await stockOf(own))['1002 TEE'], 3)
})

test("a customer's orders come the newest first, in pages", async () => {
  const own = await shop()
  const numbers = []
  for (let i = 0; i < 5; i++) numbers.push((await placed(own, [{ sku: 'TEE', quantity: 1 }])).orderNumber)
  await placed(own, [{ sku: 'TEE', quantity: 1 }], { customerId: '65433' })
  const found = []
  let path = '/customers/65432/orders?limit=2'
  for (;;) {
    const { status, json } = await own.get(path)
    assert.equal(status, 200)
    found.push(...json.data.map((order: { orderNumber: string }) => order.orderNumber))
    if (!json.meta.hasNextPage) break
    path = `/customers/65432/orders?limit=2&after_cursor=${json.meta.endCursor}`
  }
  assert.deepEqual(found, numbers.toReversed())
  isProblem(await own.get('/customers/none/orders'), 'not_found', api.baseUrl, '/customers/none/orders')
})

test("another service's order is not found, in the very words for one that there is not", async () => {
  const { id } = await placed(api, [{ sku: 'TEE', quantity: 1 }])
  const other = await shop()
  for (const path of ['', '/returns', '/returnable']) {
    const [foreign, unknown] = [await other.get(`/orders/${id}${path}`), await other.get(`/orders/none${path}`)]
    isProblem(foreign, 'not_found', api.baseUrl, `/orders/${id}${path}`)
    assert.equal(foreign.json.detail, 'There is no such order.')
    assert.equal(unknown.json.detail, foreign.json.detail)
  }
  assert.deepEqual((await other.get('/customers/65432/orders')).json.data, [])
})

test('an order that is repeated with its key is placed once, also when all repeats come at once', async () => {
  const own = await shop()
  const body = orderOf([{ sku: 'TEE', quantity: 1 }])
  const key = { 'idempotency-key': randomUUID() }
  const answers = await Promise.all(Array.from({ length: 8 }, () => post(own, '/orders', body, key)))
  for (const answer of answers)
    assert.ok(answer.status === 201 || answer.json.code === 'idempotency_in_progress', answer.text)
  const again = await post(own, '/orders', body, key)
  assert.equal(again.status, 201)
  assert.equal(again.headers['idempotent-replayed'], 'true')
  const ids = [...answers, again].filter(({ status }) => status === 201).map(({ json }) => json.data.id)
  assert.equal(new Set(ids).size, 1)
  assert.equal((await own.get('/customers/65432/orders')).json.data.length, 1)
  assert.equal((await stockOf(own))['1002 TEE'], 4)
})

test('what was paid for goods earns rewards, the freight does not', async () => {
  const own = await shop()
  await joinRewards(api, own)
  await placed(own, [{ sku: 'TEE', quantity: 3, discounts: [{ type: 'x', amount: '5.00' }] }], {
    freight: '9.00',
    payments: [{ gateway: 'visa', amount: '34.00' }],
  })
  assert.equal((await own.get('/customers/65432/rewards')).json.data.availablePoints, 25)
})
