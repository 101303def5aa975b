import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'
import { derivedNumber, markedNumber } from '../../src/backoffice/apparel21/records/numbers.ts'
import { isThisOrder, orderPayload, type PlacedOrder } from '../../src/backoffice/apparel21/records/order-write.ts'
import { sql } from '../../src/db.ts'
import { Order } from '../../src/domain/orders/orders.ts'
import { faultsOf } from '../../src/http/shape.ts'
import { created, isRefused, john } from '../support/customer-bodies.ts'
import { address, cents, dollars, made } from '../support/order-shop.ts'
import { isProblem } from '../support/problem.ts'
import { post } from '../support/write.ts'
import { documentOf } from '../support/xml-document.ts'
import { count, hostile, openShop, type Shop, type Sold } from './shop.ts'

let shop: Shop
let api: Shop['api']
let simulator: Shop['simulator']
/** Two SKUs with a price, and a shopper. */
let tee: Sold
let hat: Sold
let customerId: string
before(async () => {
  shop = await openShop()
  ;({ api, simulator } = shop)
  ;({ tee, hat } = shop.sold())
  customerId = (await created(api, john({ mobile: '0400 123 456' }))).id
  simulator.ledger.clear()
})
after(() => shop.stop())
afterEach(() => shop.settle())

const keyed = () => ({ 'idempotency-key': randomUUID() })
const sum = (...amounts: string[]) => dollars(amounts.reduce((total, each) => total + cents(each), 0))
/** An order of one tee, paid in full. */
const order = (more: object = {}) => ({
  customerId,
  billingAddress: address,
  deliveryAddress: address,
  lines: [{ sku: tee.sku, quantity: 1 }],
  payments: [{ gateway: 'paypal', amount: tee.price, reference: 'PAYID-1' }],
  ...more,
})
const upstream = (id: string) => simulator.state.orders.get(Number(id)) ?? assert.fail(`no order ${id}`)
const placed = () => simulator.ledger.effectsOf('order created').length
const posts = () => simulator.ledger.callsTo({ method: 'POST' })
const rows = () => count(api, api, 'sales_order')
const validated = async (number: string, pin: string, amount: string) => {
  const answer = await post(api, '/vouchers/validate', { number, pin, amount })
  assert.equal(answer.status, 200, answer.text)
  return { number, validationId: answer.json.data.validationId as string }
}
const voucher = (number: string) => simulator.state.vouchers.get(number) ?? assert.fail()

const sample: PlacedOrder = {
  number: 'W1',
  personId: '3001',
  decimals: 2,
  pickupStoreId: undefined,
  freight: 995n,
  total: 3994n,
  input: {
    billingAddress: address,
    deliveryAddress: { ...address, addressLine2: null, state: null },
    lines: [
      {
        sku: 'A',
        quantity: 2,
        discounts: [
          { type: 'loyalty', reason: 'Gold', amount: '4.00' },
          { type: 'none', amount: '0.00' },
        ],
      },
      { sku: 'B', quantity: 1, discounts: [] },
    ],
  },
  lines: [
    { price: 1500n, value: 2600n },
    { price: 399n, value: 399n },
  ],
  skuIds: new Map([
    ['A', '12001'],
    ['B', '12002'],
  ]),
  contact: { name: 'Jo Sample', email: 'jo@example.test', phones: { home: null, mobile: '0400', work: null } },
  payments: [['PaymentDetail', [['Origin', 'CreditCard']]]],
}

test('an order is written in the order of the guide', () => {
  assert.equal(
    orderPayload(sample).replace(/^<\?.*?\?>/, ''),
    '<Order><OrderNumber>W1</OrderNumber><PersonId>3001</PersonId><Addresses>' +
      '<Billing><ContactName>Jo Sample</ContactName><AddressLine1>111 Collins St</AddressLine1><AddressLine2>Level 5</AddressLine2><City>Melbourne</City><State>VIC</State><Postcode>3000</Postcode><Country>Australia</Country></Billing>' +
      '<Delivery><ContactName>Jo Sample</ContactName><AddressLine1>111 Collins St</AddressLine1><City>Melbourne</City><Postcode>3000</Postcode><Country>Australia</Country></Delivery></Addresses>' +
      '<Contacts><Email>jo@example.test</Email><Phones><Mobile>0400</Mobile></Phones></Contacts><OrderDetails>' +
      '<OrderDetail><SkuId>12001</SkuId><Quantity>2</Quantity><Price>15.00</Price><Value>26.00</Value><Discounts><Discount><DiscountTypeId>1</DiscountTypeId><Description>loyalty: Gold</Description><Value>4.00</Value></Discount></Discounts></OrderDetail>' +
      '<OrderDetail><SkuId>12002</SkuId><Quantity>1</Quantity><Price>3.99</Price><Value>3.99</Value></OrderDetail></OrderDetails>' +
      '<SelectedFreightOption><Name>Freight</Name><Value>9.95</Value></SelectedFreightOption><Payments><PaymentDetail><Origin>CreditCard</Origin></PaymentDetail></Payments></Order>',
  )
  const collected = orderPayload({ ...sample, freight: 0n, pickupStoreId: '7101' })
  assert.match(
    collected,
    /<PickupStoreId>7101<\/PickupStoreId><DespatchType>ClickAndCollect<\/DespatchType><Addresses>/,
  )
  assert.doesNotMatch(collected, /SelectedFreightOption/)
})

test('an order is the one that was posted when person, units, values and total are the same', async () => {
  const line = (skuId: number, quantity: number, value: string) =>
    `<OrderDetail><SkuId>${skuId}</SkuId><Quantity>${quantity}</Quantity><Value>${value}</Value></OrderDetail>`
  const found = async (lines: string, personId = '3001', total = '39.94') => {
    const text = `<Order><PersonId>${personId}</PersonId><TotalDue>${total}</TotalDue><OrderDetails>${lines}</OrderDetails></Order>`
    return isThisOrder(await documentOf(text), sample)
  }
  const [a, b, freight] = [line(12001, 2, '26'), line(12002, 1, '3.990'), line(9002, 1, '9.95')]
  assert.equal(await found(b + a + freight), true)
  assert.equal(await found(a + b), true)
  for (const lines of [a, a + b + b, a + b + freight + freight, a + line(12003, 1, '3.99'), line(12001, 1, '26') + b])
    assert.equal(await found(lines), false, lines)
  assert.equal(await found(a + b, '3002'), false)
  assert.equal(await found(a + b, '3001', '39.95'), false)
})

test('numbers are made of the reference, short enough for the back office, and not of one another', () => {
  const first = derivedNumber('W', 'reference', 0)
  assert.match(first, /^W[0-9A-HJKMNP-TV-Z]{16}$/)
  assert.equal(derivedNumber('W', 'reference', 0), first)
  const others = [
    derivedNumber('W', 'reference', 1),
    derivedNumber('W', 'Reference', 0),
    derivedNumber('R', 'reference', 0),
  ]
  assert.equal(new Set([first, ...others].map(number => number.slice(1))).size, 4)
  const mark = (given: string, orderId = '1', id = 1) => markedNumber(api.keys, { ...api.service, id }, orderId, given)
  assert.match(mark('RMA-1'), /^RMA-1-[0-9A-HJKMNP-TV-Z]{6}$/)
  assert.equal(mark('RMA-1'), mark('RMA-1'))
  assert.equal(new Set([mark('RMA-1'), mark('rma-1'), mark('RMA-1', '2'), mark('RMA-1', '1', 2)]).size, 4)
  const long = 'x'.repeat(24)
  assert.ok(mark('é'.repeat(30)).length <= 30 && mark(`${'x'.repeat(22)}🦘`).isWellFormed())
  assert.notEqual(mark(`${long}a`), mark(`${long}b`))
})

test('an order is placed in the back office, under its identifier, and kept as processing', async () => {
  const stock = await count(api, api, 'stock')
  const discounts = [{ type: 'staff', amount: '0.50', reason: 'Gold & <Co>' }]
  const due = dollars(cents(tee.price) + 2 * cents(hat.price) - 50 + 995)
  const answer = await post(api, '/orders', {
    ...order({ freight: '9.95', payments: [{ gateway: 'visa', amount: due, reference: 'PAYID-2' }] }),
    lines: [
      { sku: tee.sku, quantity: 1, discounts },
      { sku: hat.sku, quantity: 2 },
    ],
  })
  const record = made(answer)
  assert.equal(answer.headers.location, `/orders/${record.id}`)
  assert.deepEqual(faultsOf(Order, record, { currency: 'AUD' }), [])
  assert.deepEqual([record.total, record.freight], [due, '9.95'])
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
  const there = upstream(record.id)
  assert.equal(there.number, record.orderNumber)
  assert.equal(there.personId, Number(customerId))
  assert.deepEqual(
    there.lines.map(({ skuId, quantity, value }) => [skuId, quantity, value]),
    [
      [Number(tee.sku), 1, Number(dollars(cents(tee.price) - 50))],
      [Number(hat.sku), 2, Number(dollars(2 * cents(hat.price)))],
      [9101, 1, 9.95],
    ],
  )
  assert.equal(there.lines[0]?.discounts[0]?.description, 'staff: Gold & <Co>')
  const [payment] = there.payments
  assert.deepEqual(
    [payment?.origin, payment?.merchantId, payment?.cardType, payment?.stan, payment?.reference, payment?.amount],
    ['CreditCard', 'SIMPAY', 'VISA', 'PAYID-2', 'PAYID-2', Number(due)],
  )
  assert.deepEqual([there.contacts.mobile, there.delivery.contactName], ['0400 123 456', 'John Smith'])
  assert.equal(await count(api, api, 'stock'), stock)
  assert.equal(await count(api, api, 'retail_transaction'), 0)
  assert.equal(simulator.ledger.calls.length, 1, 'one order is one call')
  const { json } = await api.get(`/customers/${customerId}/orders`)
  assert.equal(json.data[0].id, record.id)
})

test('stock moves when a feed tells of it, and not by the order itself', async () => {
  const stored = async () =>
    (await api.db.rows(
      sql`select store_id, sku_id, free_stock from stock where service_id = ${api.service.id} order by 1, 2`,
    )) as object[]
  const before = await stored()
  made(await post(api, '/orders', order()))
  assert.deepEqual(await stored(), before)
})

test('texts that mean something to XML arrive as they are', async () => {
  for (const text of hostile) {
    const there = { ...address, addressLine1: text, city: text }
    const record = made(await post(api, '/orders', order({ billingAddress: there, deliveryAddress: there })))
    const { billing, delivery } = upstream(record.id)
    assert.deepEqual([billing.line1, delivery.city], [text, text])
    assert.equal(record.deliveryAddress.addressLine1, text)
  }
})

test('what is picked up says where, and has no freight', async () => {
  const [store] = [...simulator.state.stores.values()].filter(({ kind }) => kind === 'shop')
  const pickupStoreNumber = store?.number
  const record = made(await post(api, '/orders', order({ pickupStoreNumber })))
  const { pickupStoreId, despatchType } = upstream(record.id)
  assert.deepEqual([pickupStoreId, despatchType], [String(store?.id), 'ClickAndCollect'])
  assert.equal(record.pickupStoreNumber, pickupStoreNumber)
  const payments = [{ gateway: 'visa', amount: sum(tee.price, '5.00') }]
  const refused = await post(api, '/orders', order({ pickupStoreNumber, freight: '5.00', payments }))
  isRefused(api, refused, 'invalid_field', '/freight')
})

test('an order with nothing to pay, and a gateway without a merchant, are cards without one', async () => {
  const discounts = [{ type: 'gift', amount: tee.price }]
  const free = made(
    await post(api, '/orders', order({ lines: [{ sku: tee.sku, quantity: 1, discounts }], payments: [] })),
  )
  assert.deepEqual(
    upstream(free.id).payments.map(({ origin, amount, merchantId }) => [origin, amount, merchantId]),
    [['CreditCard', 0, '']],
  )
  const cash = made(await post(api, '/orders', order({ payments: [{ gateway: 'cash', amount: tee.price }] })))
  const [payment] = upstream(cash.id).payments
  assert.deepEqual([payment?.origin, payment?.cardType, payment?.merchantId], ['CreditCard', 'cash', ''])
})

test('all that is wrong with an order is told at once, and nobody is asked', async () => {
  const answer = await post(api, '/orders', {
    ...order({ billingAddress: { ...address, country: 'x'.repeat(21) } }),
    lines: [
      { sku: 'NONE', quantity: 1 },
      { sku: tee.sku, quantity: 1, price: '0.01' },
    ],
    payments: [{ gateway: 'gold', amount: '1.00' }],
  })
  isRefused(
    api,
    answer,
    'unknown_sku',
    ...['/lines/0/sku', '/lines/1/price', '/payments/0/gateway', '/billingAddress/country'],
  )
  isRefused(
    api,
    await post(api, '/orders', order({ payments: [{ gateway: 'visa', amount: '0.01' }] })),
    'payment_total_mismatch',
    '/payments',
  )
  assert.equal(simulator.ledger.calls.length, 0)
})

test('a customer that only the back office knows yet can order; one that it does not have cannot', async () => {
  const person = [...simulator.state.persons.values()].find(({ email }) => email !== '') ?? assert.fail()
  await api.db.run(sql`delete from customer where service_id = ${api.service.id} and id = ${String(person.id)}`)
  const record = made(await post(api, '/orders', order({ customerId: String(person.id) })))
  assert.equal(upstream(record.id).personId, person.id)
  assert.equal((await api.get(`/customers/${person.id}`)).status, 200)
  isRefused(api, await post(api, '/orders', order({ customerId: '99999' })), 'invalid_field', '/customerId')
  simulator.change({ kind: 'edit-person', id: person.id, fields: { email: '' } })
  await shop.sync('customers')
  isRefused(api, await post(api, '/orders', order({ customerId: String(person.id) })), 'invalid_field', '/customerId')
  assert.equal(placed(), 1)
})

test('a merchant that the back office has not set up is an unknown gateway', async () => {
  const before = await rows()
  isProblem(
    await post(api, '/orders', order({ payments: [{ gateway: 'wrong', amount: tee.price }] })),
    'unknown_gateway',
    api.baseUrl,
  )
  assert.equal(await rows(), before)
})

test('an order whose answer is lost is an unknown outcome, and its repeat finds it', async () => {
  const [body, key, before] = [order(), keyed(), await rows()]
  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  isProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl, '/orders')
  assert.deepEqual([placed(), await rows()], [1, before])
  const repeat = made(await post(api, '/orders', body, key))
  assert.deepEqual([placed(), await rows()], [1, before + 1])
  assert.equal(upstream(repeat.id).number, repeat.orderNumber)
  assert.equal((await post(api, '/orders', body, key)).headers['idempotent-replayed'], 'true')
  assert.deepEqual(
    posts().map(({ errorCode }) => errorCode),
    [null, 5052],
  )
})

test('an order whose answer is lost is finished by its repeat although its price, or its SKU, is another one by now', async () => {
  const { state } = simulator
  const [style] = [...state.styles.values()].filter(one => !one.special && one.code !== tee.sku)
  const sku = style?.colours[0]?.skus[0] ?? assert.fail()
  const price = sku.price.toFixed(2)
  const body = order({ lines: [{ sku: String(sku.id), quantity: 1 }], payments: [{ gateway: 'visa', amount: price }] })
  const key = keyed()
  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  isProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  await api.db.run(
    sql`update variant set price = price + 1 where service_id = ${api.service.id} and sku_id = ${String(sku.id)}`,
  )
  isRefused(api, await post(api, '/orders', body, keyed()), 'payment_total_mismatch', '/payments')
  const repeat = made(await post(api, '/orders', body, key))
  assert.deepEqual([placed(), repeat.total, repeat.lines[0]?.price], [1, price, price])
  assert.equal(upstream(repeat.id).number, repeat.orderNumber)
  await api.db.run(sql`delete from variant where service_id = ${api.service.id} and sku_id = ${String(sku.id)}`)
  assert.equal((await post(api, '/orders', body, key)).headers['idempotent-replayed'], 'true')
  isRefused(api, await post(api, '/orders', body, keyed()), 'unknown_sku', '/lines/0/sku')
  await shop.sync('products')
})

test('the repeat finds the order also where the table of web sales has forgotten it', async () => {
  const [body, key] = [order(), keyed()]
  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  isProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  const [effect] = simulator.ledger.effectsOf('order created')
  simulator.change({ kind: 'forget-order', id: Number(effect?.id) })
  assert.equal(made(await post(api, '/orders', body, key)).id, effect?.id)
  assert.equal(placed(), 1)
})

test('what is undone here after the back office has done it is finished by the repeat', async () => {
  const [body, key, before] = [order(), keyed(), await rows()]
  shop.undo(1)
  isProblem(await post(api, '/orders', body, key), 'internal_error', api.baseUrl)
  assert.deepEqual([placed(), await rows()], [1, before])
  made(await post(api, '/orders', body, key))
  assert.deepEqual([placed(), await rows()], [1, before + 1])
})

test('a key that is used for another order after an unknown outcome does not pass off one for the other', async () => {
  const [key, before] = [keyed(), await rows()]
  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  isProblem(await post(api, '/orders', order(), key), 'outcome_unknown', api.baseUrl)
  const payments = [{ gateway: 'visa', amount: hat.price }]
  const other = await post(api, '/orders', order({ lines: [{ sku: hat.sku, quantity: 1 }], payments }), key)
  isProblem(other, 'idempotency_key_reused', api.baseUrl)
  assert.deepEqual([placed(), await rows()], [1, before])
})

test('a key that comes back after its answer was forgotten makes an order of its own', async () => {
  const key = keyed()
  const first = made(await post(api, '/orders', order(), key))
  await api.db.run(sql`update idempotent_answer set created_at = created_at - interval '25 hours'`)
  const second = made(await post(api, '/orders', order(), key))
  assert.notEqual(second.orderNumber, first.orderNumber)
  assert.equal(placed(), 2)
})

test('a given number is the number there; taken by another order it is refused, by the same one it is done', async () => {
  const given = made(await post(api, '/orders', order({ orderNumber: 'WEB 1/ü' })))
  assert.equal(upstream(given.id).number, 'WEB 1/ü')
  isRefused(api, await post(api, '/orders', order({ orderNumber: 'WEB 1/ü' })), 'order_number_taken', '/orderNumber')

  const [theirs] = [...simulator.state.orders.values()].filter(each => each.personId !== Number(customerId))
  const orderNumber = theirs?.number ?? ''
  const before = await rows()
  isRefused(api, await post(api, '/orders', order({ orderNumber })), 'order_number_taken', '/orderNumber')
  assert.equal(await rows(), before)

  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  isProblem(await post(api, '/orders', order({ orderNumber: 'WEB 2/ü' })), 'outcome_unknown', api.baseUrl)
  const repeat = made(await post(api, '/orders', order({ orderNumber: 'WEB 2/ü' })))
  assert.equal(repeat.orderNumber, 'WEB 2/ü')
  assert.equal([...simulator.state.orders.values()].filter(({ number }) => number === 'WEB 2/ü').length, 1)
})

test('of ten orders at once with one number one is placed', async () => {
  const before = await rows()
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => post(api, '/orders', order({ orderNumber: 'RACE' }))),
  )
  assert.equal(answers.filter(({ status }) => status === 201).length, 1)
  for (const answer of answers.filter(({ status }) => status !== 201))
    isProblem(answer, 'order_number_taken', api.baseUrl)
  assert.deepEqual([placed(), await rows()], [1, before + 1])
})

test('a gift voucher that was validated pays, once', async () => {
  const pays = await validated('6000001', '1234', '1.00')
  const payments = [
    { gateway: 'visa', amount: dollars(cents(tee.price) - 100) },
    { gateway: 'visa', amount: '1.00', voucher: pays },
  ]
  const record = made(await post(api, '/orders', order({ payments })))
  assert.equal(voucher('6000001').used, 1)
  assert.equal(record.payments[1].voucherNumber, '6000001')
  const [, payment] = upstream(record.id).payments
  assert.deepEqual([payment?.origin, payment?.voucherNumber, payment?.amount], ['GiftVoucher', '6000001', 1])
  isRefused(api, await post(api, '/orders', order({ payments })), 'validation_id_incorrect', '/payments/1/voucher')
  assert.equal(voucher('6000001').used, 1)
})

test('a voucher pays once also where the answer of its order is lost', async () => {
  const pays = await validated('6000001', '1234', '2.00')
  const used = voucher('6000001').used
  const payments = [
    { gateway: 'visa', amount: dollars(cents(tee.price) - 200) },
    { gateway: 'visa', amount: '2.00', voucher: pays },
  ]
  const [body, key] = [order({ payments }), keyed()]
  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  isProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  // A back office may look at the voucher, which has paid by now, before it looks at the number.
  simulator.faults.add({ kind: 'error', method: 'POST', path: '/Persons/*/Orders', status: 403, code: 5061, times: 1 })
  made(await post(api, '/orders', body, key))
  assert.equal(voucher('6000001').used, used + 2)
  assert.deepEqual([placed(), simulator.ledger.effectsOf('voucher drawn').length], [1, 1])
})

test('a voucher that a till has emptied meanwhile is told with its place, and its validation is not spent', async () => {
  const pays = await validated('6000002', '0042', '10.00')
  simulator.change({ kind: 'edit-voucher', number: '6000002', fields: { used: 45 } })
  const payments = (amount: string) => [
    { gateway: 'visa', amount: dollars(cents(tee.price) - cents(amount)) },
    { gateway: 'visa', amount, voucher: pays },
  ]
  const before = await rows()
  const refused = await post(api, '/orders', order({ payments: payments('10.00') }))
  isRefused(api, refused, 'insufficient_voucher_balance', '/payments/1/voucher')
  assert.equal(await rows(), before)
  made(await post(api, '/orders', order({ payments: payments('5.00') })))
  assert.equal(voucher('6000002').used, 50)
})

test('a back office that is away is 503 with Retry-After, and nothing is written', async () => {
  const before = await rows()
  await simulator.refuse()
  const answer = await post(api, '/orders', order(), keyed())
  isProblem(answer, 'back_office_unavailable', api.baseUrl, '/orders')
  assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/)
  assert.equal(await rows(), before)
})

test('a page instead of an answer is an unknown outcome, whether it was done or not', async () => {
  for (const applied of [false, true]) {
    const key = keyed()
    simulator.ledger.clear()
    simulator.faults.add({ kind: 'html', method: 'POST', path: '/Persons/*/Orders', times: 1, applied })
    const answer = await post(api, '/orders', order(), key)
    isProblem(answer, 'outcome_unknown', api.baseUrl)
    assert.doesNotMatch(answer.text, /<|html/i)
    made(await post(api, '/orders', order(), key))
    assert.equal(placed(), 1)
  }
})
