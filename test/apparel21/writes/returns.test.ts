import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Return } from '../../../src/domain/orders/returns.ts'
import { validateBody } from '../../../src/http/body/validate.ts'
import { assertRejected } from '../../support/customer-bodies.ts'
import { buildReturn, getCreatedRecord, toCents, toDollars } from '../../support/order-shop.ts'
import { assertProblem, getFieldErrors } from '../../support/problem.ts'
import { post, withKey } from '../../support/write.ts'
import { countRows, openShop, startShopFixture } from '../shop.ts'
import { createOrderFixture } from './orders.ts'
import { createReturnFixture } from './returns.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const shopper = await createOrderFixture(shop)
const { tee, hat, listPosts } = shopper
const { placeOrder, postReturn, countUpstreamReturns, countReturns, getReturnable, getStatuses, getLastReturn } =
  createReturnFixture(shop, shopper)

test("a return is created upstream and returns the shopper's number", async () => {
  const order = await placeOrder({ [tee.sku]: 3, [hat.sku]: 1 })
  const response = await postReturn(order.id, { [tee.sku]: 2 })
  const record = getCreatedRecord(response)
  assert.equal(response.headers.location, `/returns/${record.id}`)
  assert.deepEqual(validateBody(Return, record, { currency: 'AUD' }), [])
  const upstreamReturn = getLastReturn()
  assert.deepEqual(
    [upstreamReturn.number, upstreamReturn.originalNumber, upstreamReturn.authorisation, upstreamReturn.stockUpdate],
    [record.returnNumber, order.orderNumber, record.returnAuthorisationNumber, true],
  )
  assert.deepEqual(
    upstreamReturn.lines.map(({ skuId, quantity, returnReasonId }) => [skuId, quantity, returnReasonId]),
    [[Number(tee.sku), -2, '10366']],
  )
  assert.equal(record.total, toDollars(2 * toCents(tee.price)))
  assert.deepEqual(await getReturnable(order.id), [
    { sku: tee.sku, sold: 3, returned: 2, returnable: 1 },
    { sku: hat.sku, sold: 1, returned: 0, returnable: 1 },
  ])
  assert.deepEqual(await getStatuses(order.id), ['shipped', 'shipped'])
  getCreatedRecord(await postReturn(order.id, { [tee.sku]: 1 }))
  assert.deepEqual(await getStatuses(order.id), ['shipped', 'shipped'], 'announced units are not returned yet')
  assert.deepEqual((await api.get(`/returns/${record.id}`)).json.data, record)
  assert.equal(await countRows(api, api, 'retail_transaction'), 0)
})

test('unsellable returned items do not return to upstream stock', async () => {
  const order = await placeOrder({ [tee.sku]: 1 })
  assert.equal(getCreatedRecord(await postReturn(order.id, { [tee.sku]: 1 }, { restock: false })).restock, false)
  assert.equal(getLastReturn().stockUpdate, false)
})

test('unshipped and cancelled items cannot be returned', async () => {
  const order = await placeOrder({ [tee.sku]: 1 }, { isShipped: false })
  const early = await postReturn(order.id, { [tee.sku]: 1 })
  assertRejected(api, early, 'quantity_exceeds_returnable', '/lines/0/quantity')
  assert.match(early.json.detail, /not been shipped/)
  assert.deepEqual(await getStatuses(order.id), ['processing'])
  simulator.change({ kind: 'cancel-order', id: Number(order.id) })
  assertRejected(api, await postReturn(order.id, { [tee.sku]: 1 }), 'quantity_exceeds_returnable', '/lines/0/quantity')
  assert.equal(listPosts().length, 0)
})

test('a return never exceeds the sale, unlike in the back office', async () => {
  const order = await placeOrder({ [tee.sku]: 4 })
  getCreatedRecord(await postReturn(order.id, { [tee.sku]: 1 }))
  simulator.ledger.clear()
  const responses = await Promise.all(Array.from({ length: 8 }, () => postReturn(order.id, { [tee.sku]: 2 })))
  assert.equal(responses.filter(({ status }) => status === 201).length, 1)
  for (const response of responses.filter(({ status }) => status !== 201))
    assertRejected(api, response, 'quantity_exceeds_returnable', '/lines/0/quantity')
  assert.equal(countUpstreamReturns(), 1)
  assert.deepEqual(await getReturnable(order.id), [{ sku: tee.sku, sold: 4, returned: 3, returnable: 1 }])
  const twice = { lines: [1, 1].map(quantity => ({ sku: tee.sku, quantity, reasonCode: 'SIZE' })) }
  assertRejected(api, await postReturn(order.id, {}, twice), 'quantity_exceeds_returnable', '/lines/1/quantity')
})

test('an unknown SKU and an unknown reason are reported together', async () => {
  const order = await placeOrder({ [tee.sku]: 1 })
  const response = await post(api, `/orders/${order.id}/returns`, {
    lines: [
      { sku: tee.sku, quantity: 1, reasonCode: 'WRONG', notes: 'x'.repeat(251) },
      { sku: hat.sku, quantity: 1, reasonCode: 'NONE' },
    ],
  })
  assertProblem(response, 'sku_not_on_order', api.baseUrl)
  assert.deepEqual(getFieldErrors(response).sort(), [
    '/lines/0/notes invalid_field',
    '/lines/0/reasonCode invalid_field',
    '/lines/1/reasonCode invalid_field',
    '/lines/1/sku sku_not_on_order',
  ])
  assert.equal(listPosts().length, 0)
})

test('upstream rejections have stable codes and quote the original code', async () => {
  const order = await placeOrder({ [tee.sku]: 1 })
  for (const [code, errorCode] of [
    [5139, 'sku_not_on_order'],
    [5140, 'invalid_field'],
    [5143, 'invalid_field'],
    [5085, 'invalid_field'],
  ] as const) {
    simulator.faults.add({
      kind: 'error',
      method: 'POST',
      status: 403,
      code,
      description: 'text of the back office',
      times: 1,
    })
    const response = await postReturn(order.id, { [tee.sku]: 1 })
    assertRejected(api, response, errorCode, '/lines')
    assert.match(response.json.detail, new RegExp(String(code)))
    assert.doesNotMatch(response.text, /text of the back office/)
  }
  // Facts that the back office returned are stored, because the request was sent.
  assert.deepEqual(await getReturnable(order.id), [{ sku: tee.sku, sold: 1, returned: 0, returnable: 1 }])
  getCreatedRecord(await postReturn(order.id, { [tee.sku]: 1 }))
})

test('a return with a lost response is unknown until its repeat', async () => {
  const order = await placeOrder({ [tee.sku]: 3 })
  const [key, before] = [withKey(), await countReturns()]
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Returns', times: 1 })
  assertProblem(await postReturn(order.id, { [tee.sku]: 2 }, {}, key), 'outcome_unknown', api.baseUrl)
  assert.deepEqual([countUpstreamReturns(), await countReturns()], [1, before])
  const record = getCreatedRecord(await postReturn(order.id, { [tee.sku]: 2 }, {}, key))
  assert.deepEqual([countUpstreamReturns(), await countReturns()], [1, before + 1])
  assert.equal(record.returnNumber, getLastReturn().number)
  assert.equal(record.returnAuthorisationNumber, getLastReturn().authorisation)
  assert.deepEqual(await getReturnable(order.id), [{ sku: tee.sku, sold: 3, returned: 2, returnable: 1 }])
  assert.equal((await postReturn(order.id, { [tee.sku]: 2 }, {}, key)).headers['idempotent-replayed'], 'true')
  assert.deepEqual(
    listPosts().map(({ errorCode }) => errorCode),
    [null, 5052],
  )
})

test('a proxy page with status 200 is unknown and the repeat returns', async () => {
  const order = await placeOrder({ [tee.sku]: 1 })
  const key = withKey()
  simulator.faults.add({ kind: 'html', status: 200, method: 'POST', path: '/Persons/*/Returns', times: 1 })
  assertProblem(await postReturn(order.id, { [tee.sku]: 1 }, {}, key), 'outcome_unknown', api.baseUrl)
  assert.equal(countUpstreamReturns(), 0)
  getCreatedRecord(await postReturn(order.id, { [tee.sku]: 1 }, {}, key))
  assert.equal(countUpstreamReturns(), 1)
})

test('a lost return with a given number keeps the number unique', async () => {
  const key = withKey()
  const [order, other] = [await placeOrder({ [tee.sku]: 2 }), await placeOrder({ [tee.sku]: 2 })]
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Returns', times: 1 })
  const returnNumber = 'RMA-1'
  assertProblem(await postReturn(order.id, { [tee.sku]: 1 }, { returnNumber }, key), 'outcome_unknown', api.baseUrl)
  const record = getCreatedRecord(await postReturn(order.id, { [tee.sku]: 1 }, { returnNumber }, key))
  assert.deepEqual([record.returnNumber, countUpstreamReturns()], [returnNumber, 1])
  assert.match(getLastReturn().number, /^RMA-1-/)
  assertRejected(
    api,
    await postReturn(other.id, { [tee.sku]: 1 }, { returnNumber }),
    'order_number_taken',
    '/returnNumber',
  )
  assert.equal(countUpstreamReturns(), 1)

  const again = withKey()
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Returns', times: 1 })
  const second = { returnNumber: 'RMA-2' }
  assertProblem(await postReturn(order.id, { [tee.sku]: 1 }, second, again), 'outcome_unknown', api.baseUrl)
  assertProblem(await postReturn(other.id, { [tee.sku]: 1 }, second), 'concurrent_update', api.baseUrl)
  assert.equal(getCreatedRecord(await postReturn(order.id, { [tee.sku]: 1 }, second, again)).orderId, order.id)
  assertRejected(api, await postReturn(other.id, { [tee.sku]: 1 }, second), 'order_number_taken', '/returnNumber')
  assert.equal(countUpstreamReturns(), 2)
})

test('one of two concurrent returns with one number succeeds', async () => {
  const orders = [await placeOrder({ [tee.sku]: 1 }), await placeOrder({ [tee.sku]: 1 })]
  simulator.faults.add({ kind: 'latency', method: 'POST', path: '/Persons/*/Returns', seconds: 0.3 })
  const responses = await Promise.all(
    orders.map(({ id }) => postReturn(id, { [tee.sku]: 1 }, { returnNumber: 'RMA-3' })),
  )
  const [rejected = assert.fail(), ...otherResponses] = responses.filter(({ status }) => status !== 201)
  assert.equal(otherResponses.length, 0)
  assertRejected(api, rejected, 'order_number_taken', '/returnNumber')
  assert.equal(countUpstreamReturns(), 1)
})

test("an unknown return reserves its key and its order's items", async () => {
  const [order, other] = [await placeOrder({ [tee.sku]: 1 }), await placeOrder({ [tee.sku]: 1 })]
  const key = withKey()
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Returns', times: 1 })
  assertProblem(await postReturn(order.id, { [tee.sku]: 1 }, {}, key), 'outcome_unknown', api.baseUrl)
  assertProblem(await postReturn(other.id, { [tee.sku]: 1 }, {}, key), 'idempotency_key_reused', api.baseUrl)
  assertProblem(await postReturn(order.id, { [tee.sku]: 1 }), 'concurrent_update', api.baseUrl)
  getCreatedRecord(await postReturn(order.id, { [tee.sku]: 1 }, {}, key))
  assertProblem(await postReturn(order.id, { [tee.sku]: 1 }), 'quantity_exceeds_returnable', api.baseUrl)
  assert.equal(countUpstreamReturns(), 1)
})

test('a repeat finishes a return that was rolled back only here', async () => {
  const order = await placeOrder({ [tee.sku]: 1 })
  const [key, before] = [withKey(), await countReturns()]
  shop.failCommits(1)
  assertProblem(await postReturn(order.id, { [tee.sku]: 1 }, {}, key), 'outcome_unknown', api.baseUrl)
  assert.deepEqual([countUpstreamReturns(), await countReturns()], [1, before])
  getCreatedRecord(await postReturn(order.id, { [tee.sku]: 1 }, {}, key))
  assert.deepEqual([countUpstreamReturns(), await countReturns()], [1, before + 1])
})

test('a created return succeeds even if it cannot be read back', async () => {
  const order = await placeOrder({ [tee.sku]: 1 })
  simulator.faults.add({ kind: 'html', method: 'GET', path: '/Persons/*/Returns/*' })
  const record = getCreatedRecord(await postReturn(order.id, { [tee.sku]: 1 }))
  assert.equal(record.returnAuthorisationNumber, record.returnNumber)
})

test('an unknown order is 404, and unavailable during an outage', async () => {
  for (const id of ['99999999', 'NONE', '../Stores', 'a b'])
    assertProblem(await postReturn(id, { [tee.sku]: 1 }), 'not_found', api.baseUrl)
  const order = await placeOrder({ [tee.sku]: 1 })
  const before = await countReturns()
  await simulator.stopAccepting()
  for (const id of ['99999998', order.id]) {
    const response = await postReturn(id, { [tee.sku]: 1 })
    assertProblem(response, 'back_office_unavailable', api.baseUrl)
    assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/)
  }
  assert.equal(await countReturns(), before)
})

test('returns require a back office version that supports them', async () => {
  const oldShop = await openShop({}, { release: '2017.1' })
  try {
    const response = await post(oldShop.api, '/orders/1/returns', buildReturn({ [tee.sku]: 1 }))
    assertProblem(response, 'capability_unavailable', oldShop.api.baseUrl)
    assert.match(response.json.detail, /2017\.2.*2017\.1/)
    assert.equal(oldShop.simulator.ledger.findCalls({ method: 'POST' }).length, 0)
  } finally {
    await oldShop.stop()
  }
})
