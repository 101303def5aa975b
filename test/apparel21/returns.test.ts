import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'
import { orderFrom, statusesIn } from '../../src/backoffice/apparel21/records/order-read.ts'
import { returnPayload } from '../../src/backoffice/apparel21/records/return-write.ts'
import { Return } from '../../src/domain/orders/returns.ts'
import { faultsOf } from '../../src/http/shape.ts'
import { created, isRefused } from '../support/customer-bodies.ts'
import { address, cents, dollars, made, returnOf } from '../support/order-shop.ts'
import { faultsIn, isProblem } from '../support/problem.ts'
import { post } from '../support/write.ts'
import { documentOf } from '../support/xml-document.ts'
import { count, openShop, type Shop, type Sold } from './shop.ts'

let shop: Shop
let api: Shop['api']
let simulator: Shop['simulator']
let tee: Sold
let hat: Sold
let customerId: string
before(async () => {
  shop = await openShop()
  ;({ api, simulator } = shop)
  ;({ tee, hat } = shop.sold())
  customerId = (await created(api)).id
})
after(() => shop.stop())
afterEach(() => shop.settle())

const keyed = () => ({ 'idempotency-key': randomUUID() })
type Units = { [sku: string]: number }

/** Places an order, and has it despatched unless it is to wait. */
async function bought(units: Units, { isShipped = true } = {}) {
  const price = (sku: string) => cents([tee, hat].find(each => each.sku === sku)?.price ?? '0')
  const due = Object.entries(units).reduce((total, [sku, quantity]) => total + quantity * price(sku), 0)
  const order = made(
    await post(api, '/orders', {
      customerId,
      billingAddress: address,
      deliveryAddress: address,
      lines: Object.entries(units).map(([sku, quantity]) => ({ sku, quantity })),
      payments: [{ gateway: 'visa', amount: dollars(due) }],
    }),
  )
  if (isShipped) simulator.change({ kind: 'despatch-order', id: Number(order.id) })
  simulator.ledger.clear()
  return order
}
const giveBack = (orderId: string, units: Units, more: object = {}, headers = {}) =>
  post(api, `/orders/${encodeURIComponent(orderId)}/returns`, returnOf(units, more), headers)
const returnsThere = () => simulator.ledger.effectsOf('return created').length
const posts = () => simulator.ledger.callsTo({ method: 'POST' })
const rows = () => count(api, api, 'sales_return')
const returnable = async (orderId: string) => (await api.get(`/orders/${orderId}/returnable`)).json.data
const statuses = async (orderId: string) =>
  (await api.get(`/orders/${orderId}`)).json.data.lines.map((line: { status: string }) => line.status)
const lastReturn = () => [...simulator.state.returns.values()].at(-1) ?? assert.fail()

test('a return is written in the order of the guide', () => {
  const text = returnPayload({
    number: 'R-1',
    order: { number: 'W0000125', personId: '3001' },
    restock: false,
    lines: [
      { sku: 'A', quantity: 2, reasonCode: 'SIZE', notes: 'a < b\n& c' },
      { sku: 'B', quantity: 1, reasonCode: 'size ' },
    ],
    skuIds: new Map([
      ['A', '12001'],
      ['B', '12002'],
    ]),
    reasonIds: new Map([['size', '10366']]),
  })
  assert.equal(
    text.replace(/^<\?.*?\?>/, ''),
    '<ReturnOrder><OrderNumber>R-1</OrderNumber><OrigOrderNum>W0000125</OrigOrderNum><PersonId>3001</PersonId><StockUpdate>False</StockUpdate><OrderDetails>' +
      '<OrderDetail><SkuId>12001</SkuId><Quantity>-2</Quantity><ReturnReasonId>10366</ReturnReasonId><ReturnReasonNotes>a &lt; b\n&amp; c</ReturnReasonNotes></OrderDetail>' +
      '<OrderDetail><SkuId>12002</SkuId><Quantity>-1</Quantity><ReturnReasonId>10366</ReturnReasonId></OrderDetail></OrderDetails></ReturnOrder>',
  )
})

test('an order that is read has its goods without the freight, and what was taken back in exchange is none of them', async () => {
  const line = (skuId: number, quantity: number, value: string, status = 'Shipped') =>
    `<OrderDetail><SkuId>${skuId}</SkuId><Quantity>${quantity}</Quantity><Price>9.95</Price><Value>${value}</Value><Status>${status}</Status></OrderDetail>`
  const order = await documentOf(
    `<Order><Id>7</Id><OrderNumber>W7</OrderNumber><PersonId>3001</PersonId><OrderDateTime>2026-01-02T03:04:05</OrderDateTime><OrderDetails>
     ${line(1, 1, '9.95')}${line(2, -1, '-5')}${line(1, 2, '19.9', 'Returned')}${line(9, 1, '9.95')}</OrderDetails>
     <SelectedFreightOption><Value>9.95</Value></SelectedFreightOption><Currency><Code>nzd</Code></Currency>
     <Payments><PaymentDetail><Amount>39.8</Amount><CardType>VISA</CardType></PaymentDetail></Payments></Order>`,
  )
  const read = orderFrom(order, 'AUD')
  assert.deepEqual(
    read.lines.map(({ skuId, quantity, value, status }) => [skuId, quantity, value, status]),
    [
      ['1', 1, 995n, 'shipped'],
      ['1', 2, 1990n, 'returned'],
    ],
  )
  assert.deepEqual([read.currency, read.freight, read.placed], ['NZD', 995n, '2026-01-02T03:04:05'])
  assert.deepEqual(read.payments, [{ gateway: 'VISA', amount: '39.80', reference: null, voucherNumber: null }])
  const ours = [
    { sequence: 1, skuId: '1' },
    { sequence: 2, skuId: '1' },
    { sequence: 3, skuId: '5' },
  ]
  assert.deepEqual(
    [...statusesIn(order, ours)],
    [
      [1, 'shipped'],
      [2, 'returned'],
    ],
  )
})

test('a return is made in the back office, and comes with the number that the shopper needs', async () => {
  const order = await bought({ [tee.sku]: 3, [hat.sku]: 1 })
  const answer = await giveBack(order.id, { [tee.sku]: 2 })
  const record = made(answer)
  assert.equal(answer.headers.location, `/returns/${record.id}`)
  assert.deepEqual(faultsOf(Return, record, { currency: 'AUD' }), [])
  const there = lastReturn()
  assert.deepEqual(
    [there.number, there.originalNumber, there.authorisation, there.stockUpdate],
    [record.returnNumber, order.orderNumber, record.returnAuthorisationNumber, true],
  )
  assert.deepEqual(
    there.lines.map(({ skuId, quantity, returnReasonId }) => [skuId, quantity, returnReasonId]),
    [[Number(tee.sku), -2, '10366']],
  )
  assert.equal(record.total, dollars(2 * cents(tee.price)))
  assert.deepEqual(await returnable(order.id), [
    { sku: tee.sku, sold: 3, returned: 2, returnable: 1 },
    { sku: hat.sku, sold: 1, returned: 0, returnable: 1 },
  ])
  assert.deepEqual(await statuses(order.id), ['shipped', 'shipped'])
  made(await giveBack(order.id, { [tee.sku]: 1 }))
  assert.deepEqual(await statuses(order.id), ['returned', 'shipped'])
  assert.deepEqual((await api.get(`/returns/${record.id}`)).json.data, record)
  assert.equal(await count(api, api, 'retail_transaction'), 0)
})

test('goods that cannot be sold again do not come back to the stock there', async () => {
  const order = await bought({ [tee.sku]: 1 })
  assert.equal(made(await giveBack(order.id, { [tee.sku]: 1 }, { restock: false })).restock, false)
  assert.equal(lastReturn().stockUpdate, false)
})

test('what the back office has not shipped cannot be returned, and what it has cancelled neither', async () => {
  const order = await bought({ [tee.sku]: 1 }, { isShipped: false })
  const early = await giveBack(order.id, { [tee.sku]: 1 })
  isRefused(api, early, 'quantity_exceeds_returnable', '/lines/0/quantity')
  assert.match(early.json.detail, /not been shipped/)
  assert.deepEqual(await statuses(order.id), ['processing'])
  simulator.change({ kind: 'cancel-order', id: Number(order.id) })
  isRefused(api, await giveBack(order.id, { [tee.sku]: 1 }), 'quantity_exceeds_returnable', '/lines/0/quantity')
  assert.equal(posts().length, 0)
})

test('no more comes back than was sold, which the back office itself would take', async () => {
  const order = await bought({ [tee.sku]: 4 })
  made(await giveBack(order.id, { [tee.sku]: 1 }))
  simulator.ledger.clear()
  const answers = await Promise.all(Array.from({ length: 8 }, () => giveBack(order.id, { [tee.sku]: 2 })))
  assert.equal(answers.filter(({ status }) => status === 201).length, 1)
  for (const answer of answers.filter(({ status }) => status !== 201))
    isRefused(api, answer, 'quantity_exceeds_returnable', '/lines/0/quantity')
  assert.equal(returnsThere(), 1)
  assert.deepEqual(await returnable(order.id), [{ sku: tee.sku, sold: 4, returned: 3, returnable: 1 }])
  const twice = { lines: [1, 1].map(quantity => ({ sku: tee.sku, quantity, reasonCode: 'SIZE' })) }
  isRefused(api, await giveBack(order.id, {}, twice), 'quantity_exceeds_returnable', '/lines/1/quantity')
})

test('a SKU that is not on the order and a reason that the back office lacks are told at once, and nothing is made', async () => {
  const order = await bought({ [tee.sku]: 1 })
  const answer = await post(api, `/orders/${order.id}/returns`, {
    lines: [
      { sku: tee.sku, quantity: 1, reasonCode: 'WRONG', notes: 'x'.repeat(251) },
      { sku: hat.sku, quantity: 1, reasonCode: 'NONE' },
    ],
  })
  isProblem(answer, 'sku_not_on_order', api.baseUrl)
  assert.deepEqual(faultsIn(answer).sort(), [
    '/lines/0/notes invalid_field',
    '/lines/0/reasonCode invalid_field',
    '/lines/1/reasonCode invalid_field',
    '/lines/1/sku sku_not_on_order',
  ])
  assert.equal(posts().length, 0)
})

test('what the back office refuses all the same has stable codes, with its own in the words', async () => {
  const order = await bought({ [tee.sku]: 1 })
  for (const [code, ours] of [
    [5139, 'sku_not_on_order'],
    [5140, 'invalid_field'],
    [5143, 'invalid_field'],
    [5085, 'invalid_field'],
  ] as const) {
    simulator.faults.add({ kind: 'error', method: 'POST', status: 403, code, description: 'words of theirs', times: 1 })
    const answer = await giveBack(order.id, { [tee.sku]: 1 })
    isRefused(api, answer, ours, '/lines')
    assert.match(answer.json.detail, new RegExp(String(code)))
    assert.doesNotMatch(answer.text, /words of theirs/)
  }
  assert.deepEqual(await returnable(order.id), [{ sku: tee.sku, sold: 0, returned: 0, returnable: 0 }])
  made(await giveBack(order.id, { [tee.sku]: 1 }))
})

test('a return whose answer is lost is an unknown outcome, and its repeat is that return', async () => {
  const order = await bought({ [tee.sku]: 3 })
  const [key, before] = [keyed(), await rows()]
  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons/*/Returns', times: 1 })
  isProblem(await giveBack(order.id, { [tee.sku]: 2 }, {}, key), 'outcome_unknown', api.baseUrl)
  assert.deepEqual([returnsThere(), await rows()], [1, before])
  const record = made(await giveBack(order.id, { [tee.sku]: 2 }, {}, key))
  assert.deepEqual([returnsThere(), await rows()], [1, before + 1])
  assert.equal(record.returnNumber, lastReturn().number)
  // The one there cannot be looked up by its number: the head office finds it by that number as well.
  assert.equal(record.returnAuthorisationNumber, record.returnNumber)
  assert.deepEqual(await returnable(order.id), [{ sku: tee.sku, sold: 3, returned: 2, returnable: 1 }])
  assert.equal((await giveBack(order.id, { [tee.sku]: 2 }, {}, key)).headers['idempotent-replayed'], 'true')
  assert.deepEqual(
    posts().map(({ errorCode }) => errorCode),
    [null, 5052],
  )
})

test('a page of a proxy, of status 200, is no return: it is an unknown outcome, and the repeat makes it', async () => {
  const order = await bought({ [tee.sku]: 1 })
  const key = keyed()
  simulator.faults.add({ kind: 'html', status: 200, method: 'POST', path: '/Persons/*/Returns', times: 1 })
  isProblem(await giveBack(order.id, { [tee.sku]: 1 }, {}, key), 'outcome_unknown', api.baseUrl)
  assert.equal(returnsThere(), 0)
  made(await giveBack(order.id, { [tee.sku]: 1 }, {}, key))
  assert.equal(returnsThere(), 1)
})

test('the same with a number that is given, also without a key; another order with that number is another return', async () => {
  const [order, other] = [await bought({ [tee.sku]: 2 }), await bought({ [tee.sku]: 2 })]
  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons/*/Returns', times: 1 })
  const returnNumber = 'RMA-1'
  isProblem(await giveBack(order.id, { [tee.sku]: 1 }, { returnNumber }), 'outcome_unknown', api.baseUrl)
  const record = made(await giveBack(order.id, { [tee.sku]: 1 }, { returnNumber }))
  assert.deepEqual([record.returnNumber, returnsThere()], [returnNumber, 1])
  assert.match(lastReturn().number, /^RMA-1-/)
  isRefused(api, await giveBack(other.id, { [tee.sku]: 1 }, { returnNumber }), 'order_number_taken', '/returnNumber')
  assert.equal(returnsThere(), 1)

  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons/*/Returns', times: 1 })
  isProblem(await giveBack(order.id, { [tee.sku]: 1 }, { returnNumber: 'RMA-2' }), 'outcome_unknown', api.baseUrl)
  made(await giveBack(other.id, { [tee.sku]: 1 }, { returnNumber: 'RMA-2' }))
  assert.equal(lastReturn().orderId, Number(other.id))
})

test('a key that is used for the return of another order makes one there', async () => {
  const [order, other] = [await bought({ [tee.sku]: 1 }), await bought({ [tee.sku]: 1 })]
  const key = keyed()
  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons/*/Returns', times: 1 })
  isProblem(await giveBack(order.id, { [tee.sku]: 1 }, {}, key), 'outcome_unknown', api.baseUrl)
  made(await giveBack(other.id, { [tee.sku]: 1 }, {}, key))
  assert.deepEqual([lastReturn().orderId, returnsThere()], [Number(other.id), 2])
})

test('what is undone here after the back office has done it is finished by the repeat', async () => {
  const order = await bought({ [tee.sku]: 1 })
  const [key, before] = [keyed(), await rows()]
  shop.undo(1)
  isProblem(await giveBack(order.id, { [tee.sku]: 1 }, {}, key), 'internal_error', api.baseUrl)
  assert.deepEqual([returnsThere(), await rows()], [1, before])
  made(await giveBack(order.id, { [tee.sku]: 1 }, {}, key))
  assert.deepEqual([returnsThere(), await rows()], [1, before + 1])
})

test('a return that is made is made, whatever can be read of it', async () => {
  const order = await bought({ [tee.sku]: 1 })
  simulator.faults.add({ kind: 'html', method: 'GET', path: '/Persons/*/Returns/*' })
  const record = made(await giveBack(order.id, { [tee.sku]: 1 }))
  assert.equal(record.returnAuthorisationNumber, record.returnNumber)
})

test('an order that was placed before is found by its identifier or its number, and is one of ours from then on', async () => {
  const orders = [...simulator.state.orders.values()].filter(
    ({ personId, lines }) => personId !== Number(customerId) && lines.every(({ status }) => status === 'Shipped'),
  )
  const byId = orders[0] ?? assert.fail()
  const sku = String(byId.lines[0]?.skuId)
  isProblem(await api.get(`/orders/${byId.id}`), 'not_found', api.baseUrl)
  const record = made(await giveBack(String(byId.id), { [sku]: 1 }))
  assert.deepEqual([record.orderId, record.orderNumber], [String(byId.id), byId.number])
  const order = (await api.get(`/orders/${byId.id}`)).json.data
  assert.equal(order.customerId, String(byId.personId))
  assert.equal(order.lines.length, byId.lines.length)
  assert.deepEqual(
    order.lines.map(({ sku, quantity, value }: { sku: string; quantity: number; value: string }) => [
      sku,
      quantity,
      value,
    ]),
    byId.lines.map(({ skuId, quantity, value }) => [String(skuId), quantity, value.toFixed(2)]),
  )
  assert.equal(order.placedAt.slice(0, 10), new Date(byId.placed).toISOString().slice(0, 10))
})

test('below the release that finds any order by its identifier one from before is found by its number', async () => {
  const own = await openShop({}, { release: '2021.3' })
  try {
    const old = [...own.simulator.state.orders.values()].find(({ inWebTable }) => inWebTable) ?? assert.fail()
    own.simulator.change({ kind: 'despatch-order', id: old.id })
    const body = returnOf({ [String(old.lines[0]?.skuId)]: 1 })
    isProblem(await post(own.api, `/orders/${old.id}/returns`, body), 'not_found', own.api.baseUrl)
    const record = made(await post(own.api, `/orders/${old.number}/returns`, body))
    assert.equal(record.orderId, String(old.id))
    assert.equal(own.simulator.ledger.callsTo({ path: '/Orders' }).length, 0)
    made(await post(own.api, `/orders/${old.id}/returns`, returnOf({ [String(old.lines.at(-1)?.skuId)]: 1 })))
  } finally {
    await own.stop()
  }
})

test('an order that there is not is not found; while the back office is away nobody knows', async () => {
  for (const id of ['99999999', 'NONE', '../Stores', 'a b'])
    isProblem(await giveBack(id, { [tee.sku]: 1 }), 'not_found', api.baseUrl)
  const order = await bought({ [tee.sku]: 1 })
  const before = await rows()
  await simulator.refuse()
  for (const id of ['99999998', order.id]) {
    const answer = await giveBack(id, { [tee.sku]: 1 })
    isProblem(answer, 'back_office_unavailable', api.baseUrl)
    assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/)
  }
  assert.equal(await rows(), before)
})

test('what came back some other way is not returned again', async () => {
  const order = await bought({ [tee.sku]: 2, [hat.sku]: 1 })
  const there = simulator.state.orders.get(Number(order.id)) ?? assert.fail()
  for (const line of there.lines) if (line.skuId === Number(tee.sku)) line.status = 'Returned'
  isRefused(api, await giveBack(order.id, { [tee.sku]: 1 }), 'quantity_exceeds_returnable', '/lines/0/quantity')
  made(await giveBack(order.id, { [hat.sku]: 1 }))
  // Of our own returns the back office says the same, when it has received them.
  const own = await bought({ [tee.sku]: 2 })
  made(await giveBack(own.id, { [tee.sku]: 1 }))
  simulator.change({ kind: 'receive-return', id: lastReturn().id })
  made(await giveBack(own.id, { [tee.sku]: 1 }))
})

test('returns need a release that has them', async () => {
  const own = await openShop({}, { release: '2017.1' })
  try {
    const answer = await post(own.api, '/orders/1/returns', returnOf({ [tee.sku]: 1 }))
    isProblem(answer, 'capability_unavailable', own.api.baseUrl)
    assert.match(answer.json.detail, /2017\.2.*2017\.1/)
    assert.equal(own.simulator.ledger.callsTo({ method: 'POST' }).length, 0)
  } finally {
    await own.stop()
  }
})
