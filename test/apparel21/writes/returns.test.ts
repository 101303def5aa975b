import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Return } from '../../../src/domain/orders/returns.ts'
import { validateBody } from '../../../src/http/body/validate.ts'
import { isRefused } from '../../support/customer-bodies.ts'
import { cents, dollars, made, returnOf } from '../../support/order-shop.ts'
import { faultsIn, isProblem } from '../../support/problem.ts'
import { keyed, post } from '../../support/write.ts'
import { count, openShop, shopOfTests } from '../shop.ts'
import { ordersOf } from './orders.ts'
import { returnsOf } from './returns.ts'

const shop = await shopOfTests()
const { api, simulator } = shop
const shopper = await ordersOf(shop)
const { tee, hat, posts } = shopper
const { bought, giveBack, returnsThere, rows, returnable, statuses, lastReturn } = returnsOf(shop, shopper)

test('a return is made in the back office, and comes with the number that the shopper needs', async () => {
  const order = await bought({ [tee.sku]: 3, [hat.sku]: 1 })
  const answer = await giveBack(order.id, { [tee.sku]: 2 })
  const record = made(answer)
  assert.equal(answer.headers.location, `/returns/${record.id}`)
  assert.deepEqual(validateBody(Return, record, { currency: 'AUD' }), [])
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
  // What was learned meanwhile is kept: it has been sent.
  assert.deepEqual(await returnable(order.id), [{ sku: tee.sku, sold: 1, returned: 0, returnable: 1 }])
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

test('the same with a number that is given, which no return of another order has before or after that', async () => {
  const key = keyed()
  const [order, other] = [await bought({ [tee.sku]: 2 }), await bought({ [tee.sku]: 2 })]
  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons/*/Returns', times: 1 })
  const returnNumber = 'RMA-1'
  isProblem(await giveBack(order.id, { [tee.sku]: 1 }, { returnNumber }, key), 'outcome_unknown', api.baseUrl)
  const record = made(await giveBack(order.id, { [tee.sku]: 1 }, { returnNumber }, key))
  assert.deepEqual([record.returnNumber, returnsThere()], [returnNumber, 1])
  assert.match(lastReturn().number, /^RMA-1-/)
  isRefused(api, await giveBack(other.id, { [tee.sku]: 1 }, { returnNumber }), 'order_number_taken', '/returnNumber')
  assert.equal(returnsThere(), 1)

  const again = keyed()
  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons/*/Returns', times: 1 })
  const second = { returnNumber: 'RMA-2' }
  isProblem(await giveBack(order.id, { [tee.sku]: 1 }, second, again), 'outcome_unknown', api.baseUrl)
  isProblem(await giveBack(other.id, { [tee.sku]: 1 }, second), 'concurrent_update', api.baseUrl)
  assert.equal(made(await giveBack(order.id, { [tee.sku]: 1 }, second, again)).orderId, order.id)
  isRefused(api, await giveBack(other.id, { [tee.sku]: 1 }, second), 'order_number_taken', '/returnNumber')
  assert.equal(returnsThere(), 2)
})

test('of returns of two orders at once under one number one is made', async () => {
  const orders = [await bought({ [tee.sku]: 1 }), await bought({ [tee.sku]: 1 })]
  simulator.faults.add({ kind: 'latency', method: 'POST', path: '/Persons/*/Returns', seconds: 0.3 })
  const answers = await Promise.all(orders.map(({ id }) => giveBack(id, { [tee.sku]: 1 }, { returnNumber: 'RMA-3' })))
  const [refused = assert.fail(), ...others] = answers.filter(({ status }) => status !== 201)
  assert.equal(others.length, 0)
  isRefused(api, refused, 'order_number_taken', '/returnNumber')
  assert.equal(returnsThere(), 1)
})

test('while nobody knows what has become of a return its key is for nothing else, and nothing else of the order comes back', async () => {
  const [order, other] = [await bought({ [tee.sku]: 1 }), await bought({ [tee.sku]: 1 })]
  const key = keyed()
  simulator.faults.add({ kind: 'lost-answer', method: 'POST', path: '/Persons/*/Returns', times: 1 })
  isProblem(await giveBack(order.id, { [tee.sku]: 1 }, {}, key), 'outcome_unknown', api.baseUrl)
  isProblem(await giveBack(other.id, { [tee.sku]: 1 }, {}, key), 'idempotency_key_reused', api.baseUrl)
  isProblem(await giveBack(order.id, { [tee.sku]: 1 }), 'concurrent_update', api.baseUrl)
  made(await giveBack(order.id, { [tee.sku]: 1 }, {}, key))
  isProblem(await giveBack(order.id, { [tee.sku]: 1 }), 'quantity_exceeds_returnable', api.baseUrl)
  assert.equal(returnsThere(), 1)
})

test('what is undone here after the back office has done it is finished by the repeat', async () => {
  const order = await bought({ [tee.sku]: 1 })
  const [key, before] = [keyed(), await rows()]
  shop.undo(1)
  isProblem(await giveBack(order.id, { [tee.sku]: 1 }, {}, key), 'outcome_unknown', api.baseUrl)
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
