import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { Order } from '../../../src/domain/orders/orders.ts'
import { validateBody } from '../../../src/http/body/validate.ts'
import { assertRejected } from '../../support/customer-bodies.ts'
import { address, getCreatedRecord, toCents, toDollars } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { post } from '../../support/write.ts'
import { countRows, hostileTexts, type SaleItem, startShopFixture } from '../shop.ts'
import { createOrderFixture } from './orders.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const {
  tee,
  hat,
  customerId,
  buildOrder,
  buy,
  findUpstreamOrder,
  countPlaced,
  countOrders,
  validateVoucher,
  findVoucher,
} = await createOrderFixture(shop)

test('an order is placed in the back office and stored as processing', async () => {
  const stock = await countRows(api, api, 'stock')
  const discounts = [{ type: 'staff', amount: '0.50', reason: 'Gold & <Co>' }]
  const amountDue = toDollars(toCents(tee.price) + 2 * toCents(hat.price) - 50 + 995)
  const response = await post(api, '/orders', {
    ...buildOrder({ freight: '9.95', payments: [{ gateway: 'visa', amount: amountDue, reference: 'PAYID-2' }] }),
    lines: [
      { sku: tee.sku, quantity: 1, discounts },
      { sku: hat.sku, quantity: 2 },
    ],
  })
  const record = getCreatedRecord(response)
  assert.equal(response.headers.location, `/orders/${record.id}`)
  assert.deepEqual(validateBody(Order, record, { currency: 'AUD' }), [])
  assert.deepEqual([record.total, record.freight], [amountDue, '9.95'])
  assert.deepEqual(
    record.lines.map(({ sku, quantity, status }: { sku: string; quantity: number; status: string }) => [
      sku,
      quantity,
      status,
    ]),
    [
      [tee.sku, 1, 'processing'],
      [hat.sku, 2, 'processing'],
    ],
  )
  assert.deepEqual((await api.get(`/orders/${record.id}`)).json.data, record)
  const upstreamOrder = findUpstreamOrder(record.id)
  assert.equal(upstreamOrder.number, record.orderNumber)
  assert.equal(upstreamOrder.personId, Number(customerId))
  assert.deepEqual(
    upstreamOrder.lines.map(({ skuId, quantity, value }) => [skuId, quantity, value]),
    [
      [Number(tee.sku), 1, Number(toDollars(toCents(tee.price) - 50))],
      [Number(hat.sku), 2, Number(toDollars(2 * toCents(hat.price)))],
      [9101, 1, 9.95],
    ],
  )
  assert.equal(upstreamOrder.lines[0]?.discounts[0]?.description, 'staff: Gold & <Co>')
  const [payment] = upstreamOrder.payments
  assert.deepEqual(
    [payment?.origin, payment?.merchantId, payment?.cardType, payment?.stan, payment?.reference, payment?.amount],
    ['CreditCard', 'SIMPAY', 'VISA', 'PAYID-2', 'PAYID-2', Number(amountDue)],
  )
  assert.deepEqual([upstreamOrder.contacts.mobile, upstreamOrder.delivery.contactName], ['0400 123 456', 'John Smith'])
  assert.equal(await countRows(api, api, 'stock'), stock)
  assert.equal(await countRows(api, api, 'retail_transaction'), 0)
  assert.equal(simulator.ledger.calls.length, 1, 'one order is one call')
  const { json } = await api.get(`/customers/${customerId}/orders`)
  assert.equal(json.data[0].id, record.id)
})

test('stock changes with the next sync, not with the order', async () => {
  const loadStock = async () =>
    (await api.db.rows(
      sql`select store_id, sku_id, free_stock::float from stock where service_id = ${api.service.id} order by 1, 2`,
    )) as object[]
  const before = await loadStock()
  getCreatedRecord(await post(api, '/orders', buildOrder()))
  assert.deepEqual(await loadStock(), before)
})

/** Places an order with a line for each of these items. Returns its path and identifier. */
async function placeOrder(...items: SaleItem[]) {
  const { id } = await buy(items.map(({ sku }) => ({ sku, quantity: 1 })))
  return { id: Number(id), path: `/orders/${id}` }
}
const readOrder = async (path: string) => {
  const { json, headers } = await api.get(path)
  return { statuses: json.data.lines.map(({ status }: { status: string }) => status), etag: headers.etag }
}

test('an order shows shipment and cancellation after a sync', async () => {
  const [shipped, cancelled, waiting] = [await placeOrder(tee, hat), await placeOrder(hat), await placeOrder(tee)]
  const before = await readOrder(shipped.path)
  assert.deepEqual(before.statuses, ['processing', 'processing'])
  simulator.change({ kind: 'despatch-order', id: shipped.id })
  simulator.change({ kind: 'cancel-order', id: cancelled.id })
  await shop.sync('orders')
  const now = await readOrder(shipped.path)
  assert.deepEqual(now.statuses, ['shipped', 'shipped'])
  assert.notEqual(now.etag, before.etag)
  assert.deepEqual((await readOrder(cancelled.path)).statuses, ['cancelled'])
  assert.deepEqual((await readOrder(waiting.path)).statuses, ['processing'])
  const listed = (await api.get(`/customers/${customerId}/orders`)).json.data
  assert.equal(listed.find(({ id }: { id: string }) => id === String(cancelled.id)).lines[0].status, 'cancelled')
})

test('two lines of one SKU have separate statuses', async () => {
  const two = await placeOrder(tee, tee)
  const lines = simulator.state.orders.get(two.id)?.lines ?? []
  const [first, second] = lines
  assert.ok(first && second)
  first.status = 'Shipped'
  await shop.sync('orders')
  assert.deepEqual((await readOrder(two.path)).statuses, ['shipped', 'processing'])
  await shop.sync('orders')
  assert.deepEqual((await readOrder(two.path)).statuses, ['shipped', 'processing'])
  second.status = 'Cancelled'
  await shop.sync('orders')
  assert.deepEqual((await readOrder(two.path)).statuses, ['shipped', 'cancelled'])
})

test('only customers with open orders cause a call', async () => {
  const open = await placeOrder(hat)
  await shop.sync('orders')
  simulator.ledger.clear()
  simulator.change({ kind: 'despatch-order', id: open.id })
  simulator.faults.add({ kind: 'truncated', path: '/Persons/*/Orders' })
  await shop.sync('orders').catch(() => {})
  assert.deepEqual((await readOrder(open.path)).statuses, ['processing'])
  simulator.faults.clear()
  await shop.sync('orders')
  assert.deepEqual((await readOrder(open.path)).statuses, ['shipped'])
  const paths = new Set(simulator.ledger.calls.map(({ path }) => path))
  const expected = [`/Persons/${customerId}/Orders`, `/Persons/${customerId}/Shipments/${open.id}`]
  assert.ok(
    [...paths].every(path => expected.some(part => path.includes(part))),
    [...paths].join(),
  )
})

test('XML special characters in an order arrive unchanged', async () => {
  for (const text of hostileTexts) {
    const hostileAddress = { ...address, addressLine1: text, city: text }
    const record = getCreatedRecord(
      await post(api, '/orders', buildOrder({ billingAddress: hostileAddress, deliveryAddress: hostileAddress })),
    )
    const { billing, delivery } = findUpstreamOrder(record.id)
    assert.deepEqual([billing.line1, delivery.city], [text, text])
    assert.equal(record.deliveryAddress.addressLine1, text)
  }
})

test('a pick-up order has its store and no freight', async () => {
  const [store] = [...simulator.state.stores.values()].filter(({ kind }) => kind === 'shop')
  const pickupStoreNumber = store?.number
  const record = getCreatedRecord(await post(api, '/orders', buildOrder({ pickupStoreNumber })))
  const { pickupStoreId, despatchType } = findUpstreamOrder(record.id)
  assert.deepEqual([pickupStoreId, despatchType], [String(store?.id), 'ClickAndCollect'])
  assert.equal(record.pickupStoreNumber, pickupStoreNumber)
  const payments = [{ gateway: 'visa', amount: toDollars(toCents(tee.price) + 500) }]
  const rejected = await post(api, '/orders', buildOrder({ pickupStoreNumber, freight: '5.00', payments }))
  assertRejected(api, rejected, 'invalid_field', '/freight')
})

test('a free order or a gateway without merchant uses a plain card', async () => {
  const discounts = [{ type: 'gift', amount: tee.price }]
  const free = getCreatedRecord(
    await post(api, '/orders', buildOrder({ lines: [{ sku: tee.sku, quantity: 1, discounts }], payments: [] })),
  )
  assert.deepEqual(
    findUpstreamOrder(free.id).payments.map(({ origin, amount, merchantId }) => [origin, amount, merchantId]),
    [['CreditCard', 0, '']],
  )
  const cash = getCreatedRecord(
    await post(api, '/orders', buildOrder({ payments: [{ gateway: 'cash', amount: tee.price }] })),
  )
  const [payment] = findUpstreamOrder(cash.id).payments
  assert.deepEqual([payment?.origin, payment?.cardType, payment?.merchantId], ['CreditCard', 'cash', ''])
})

test('all errors of an order are reported at once without a call', async () => {
  const response = await post(api, '/orders', {
    ...buildOrder({ billingAddress: { ...address, country: 'x'.repeat(21) } }),
    lines: [
      { sku: 'NONE', quantity: 1 },
      { sku: tee.sku, quantity: 1, price: '0.01' },
    ],
    payments: [{ gateway: 'gold', amount: '1.00' }],
  })
  assertRejected(
    api,
    response,
    'unknown_sku',
    ...['/lines/0/sku', '/lines/1/price', '/payments/0/gateway', '/billingAddress/country'],
  )
  assertRejected(
    api,
    await post(api, '/orders', buildOrder({ payments: [{ gateway: 'visa', amount: '0.01' }] })),
    'payment_total_mismatch',
    '/payments',
  )
  assert.deepEqual(
    simulator.ledger.calls
      .filter(({ path }) => !/ReferenceTypes/.test(path))
      .map(({ path }) => path.replace(/\d+\?.*/, '')),
    ['/Products/'],
    'the only call reads the price of the product',
  )
})

test('a customer known only to the back office can order', async () => {
  const person = [...simulator.state.persons.values()].find(({ email }) => email !== '') ?? assert.fail()
  await api.db.run(sql`delete from customer where service_id = ${api.service.id} and id = ${String(person.id)}`)
  const record = getCreatedRecord(await post(api, '/orders', buildOrder({ customerId: String(person.id) })))
  assert.equal(findUpstreamOrder(record.id).personId, person.id)
  assert.equal((await api.get(`/customers/${person.id}`)).status, 200)
  assertRejected(api, await post(api, '/orders', buildOrder({ customerId: '99999' })), 'invalid_field', '/customerId')
  simulator.change({ kind: 'edit-person', id: person.id, fields: { email: '' } })
  await shop.sync('customers')
  assertRejected(
    api,
    await post(api, '/orders', buildOrder({ customerId: String(person.id) })),
    'invalid_field',
    '/customerId',
  )
  assert.equal(countPlaced(), 1)
})

test('a merchant missing in the back office is an unknown gateway', async () => {
  const before = await countOrders()
  assertProblem(
    await post(api, '/orders', buildOrder({ payments: [{ gateway: 'wrong', amount: tee.price }] })),
    'unknown_gateway',
    api.baseUrl,
  )
  assert.equal(await countOrders(), before)
})

test('a validated gift voucher pays once', async () => {
  const voucherPayment = await validateVoucher('6000001', '1234', '1.00')
  const payments = [
    { gateway: 'visa', amount: toDollars(toCents(tee.price) - 100) },
    { gateway: 'visa', amount: '1.00', voucher: voucherPayment },
  ]
  const record = getCreatedRecord(await post(api, '/orders', buildOrder({ payments })))
  assert.equal(findVoucher('6000001').used, 1)
  assert.equal(record.payments[1].voucherNumber, '6000001')
  const [, payment] = findUpstreamOrder(record.id).payments
  assert.deepEqual([payment?.origin, payment?.voucherNumber, payment?.amount], ['GiftVoucher', '6000001', 1])
  assertRejected(
    api,
    await post(api, '/orders', buildOrder({ payments })),
    'validation_id_incorrect',
    '/payments/1/voucher',
  )
  assert.equal(findVoucher('6000001').used, 1)
})

test('a voucher emptied by a till is rejected with its pointer', async () => {
  const voucherPayment = await validateVoucher('6000002', '0042', '10.00')
  simulator.change({ kind: 'edit-voucher', number: '6000002', fields: { used: 45 } })
  const buildPayments = (amount: string) => [
    { gateway: 'visa', amount: toDollars(toCents(tee.price) - toCents(amount)) },
    { gateway: 'visa', amount, voucher: voucherPayment },
  ]
  const before = await countOrders()
  const rejected = await post(api, '/orders', buildOrder({ payments: buildPayments('10.00') }))
  assertRejected(api, rejected, 'insufficient_voucher_balance', '/payments/1/voucher')
  assert.equal(await countOrders(), before)
  getCreatedRecord(await post(api, '/orders', buildOrder({ payments: buildPayments('5.00') })))
  assert.equal(findVoucher('6000002').used, 50)
})
