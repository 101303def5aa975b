import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { assertRejected } from '../../support/customer-bodies.ts'
import { buildReturn, getCreatedRecord, toCents, toDollars } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { post, withKey } from '../../support/write.ts'
import { openShop, startShopFixture } from '../shop.ts'
import { createOrderFixture } from './orders.ts'
import { createReturnFixture } from './returns.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const shopper = await createOrderFixture(shop)
const {
  tee,
  hat,
  customerId,
  buildOrder,
  findUpstreamOrder,
  countPlaced,
  listPosts,
  countOrders,
  validateVoucher,
  findVoucher,
} = shopper
const { postReturn } = createReturnFixture(shop, shopper)

test('an order with a lost response is unknown until its repeat', async () => {
  const [body, key, before] = [buildOrder(), withKey(), await countOrders()]
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl, '/orders')
  assert.deepEqual([countPlaced(), await countOrders()], [1, before])
  const repeat = getCreatedRecord(await post(api, '/orders', body, key))
  assert.deepEqual([countPlaced(), await countOrders()], [1, before + 1])
  assert.equal(findUpstreamOrder(repeat.id).number, repeat.orderNumber)
  assert.equal((await post(api, '/orders', body, key)).headers['idempotent-replayed'], 'true')
  assert.deepEqual(
    listPosts().map(({ errorCode }) => errorCode),
    [null, 5052],
  )
})

test('a repeat finishes a lost order despite a changed price or SKU', async () => {
  const { state } = simulator
  const [style] = [...state.styles.values()].filter(candidate => !candidate.special && candidate.code !== tee.sku)
  const sku = style?.colours[0]?.skus[0] ?? assert.fail()
  const price = sku.price.toFixed(2)
  const body = buildOrder({
    lines: [{ sku: String(sku.id), quantity: 1 }],
    payments: [{ gateway: 'visa', amount: price }],
  })
  const key = withKey()
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  simulator.change({ kind: 'edit-sku', id: sku.id, fields: { price: sku.price + 1 } })
  await shop.sync('products')
  assertRejected(api, await post(api, '/orders', body, withKey()), 'payment_total_mismatch', '/payments')
  const repeat = getCreatedRecord(await post(api, '/orders', body, key))
  assert.deepEqual([countPlaced(), repeat.total, repeat.lines[0]?.price], [1, price, price])
  assert.equal(findUpstreamOrder(repeat.id).number, repeat.orderNumber)
  await api.db.run(sql`delete from variant where service_id = ${api.service.id} and sku_id = ${String(sku.id)}`)
  assert.equal((await post(api, '/orders', body, key)).headers['idempotent-replayed'], 'true')
  assertRejected(api, await post(api, '/orders', body, withKey()), 'unknown_sku', '/lines/0/sku')
  simulator.change({ kind: 'edit-sku', id: sku.id, fields: { price: sku.price - 1 } })
  await shop.sync('products')
})

test('a repeat finds the order even without a web sales entry', async () => {
  const [body, key] = [buildOrder(), withKey()]
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  const [effect] = simulator.ledger.findEffects('order created')
  simulator.change({ kind: 'forget-order', id: Number(effect?.id) })
  assert.equal(getCreatedRecord(await post(api, '/orders', body, key)).id, effect?.id)
  assert.equal(countPlaced(), 1)
})

test('a repeat finishes an order that was rolled back only here', async () => {
  const [body, key, before] = [buildOrder(), withKey(), await countOrders()]
  shop.failCommits(1)
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  assert.deepEqual([countPlaced(), await countOrders()], [1, before])
  getCreatedRecord(await post(api, '/orders', body, key))
  assert.deepEqual([countPlaced(), await countOrders()], [1, before + 1])
})

test('a key reused for another order never returns the unknown first one', async () => {
  const [key, before] = [withKey(), await countOrders()]
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  assertProblem(await post(api, '/orders', buildOrder(), key), 'outcome_unknown', api.baseUrl)
  const payments = [{ gateway: 'visa', amount: hat.price }]
  const other = await post(api, '/orders', buildOrder({ lines: [{ sku: hat.sku, quantity: 1 }], payments }), key)
  assertProblem(other, 'idempotency_key_reused', api.baseUrl)
  assert.deepEqual([countPlaced(), await countOrders()], [1, before])
})

test('a key reused after expiry creates its own order', async () => {
  const key = withKey()
  const first = getCreatedRecord(await post(api, '/orders', buildOrder(), key))
  await api.db.run(sql`update idempotent_response set created_at = created_at - interval '25 hours'`)
  const second = getCreatedRecord(await post(api, '/orders', buildOrder(), key))
  assert.notEqual(second.orderNumber, first.orderNumber)
  assert.equal(countPlaced(), 2)
})

test("a given number is the upstream number, and another order's is rejected", async () => {
  const input = getCreatedRecord(await post(api, '/orders', buildOrder({ orderNumber: 'WEB 1/ü' })))
  assert.equal(findUpstreamOrder(input.id).number, 'WEB 1/ü')
  assertRejected(
    api,
    await post(api, '/orders', buildOrder({ orderNumber: 'WEB 1/ü' })),
    'order_number_taken',
    '/orderNumber',
  )

  const [otherOrder] = [...simulator.state.orders.values()].filter(
    candidate => candidate.personId !== Number(customerId),
  )
  const orderNumber = otherOrder?.number ?? ''
  const before = await countOrders()
  assertRejected(api, await post(api, '/orders', buildOrder({ orderNumber })), 'order_number_taken', '/orderNumber')
  assert.equal(await countOrders(), before)

  const [body, key] = [buildOrder({ orderNumber: 'WEB 2/ü' }), withKey()]
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  const repeat = getCreatedRecord(await post(api, '/orders', body, key))
  assert.equal(repeat.orderNumber, 'WEB 2/ü')
  assert.equal([...simulator.state.orders.values()].filter(({ number }) => number === 'WEB 2/ü').length, 1)
})

for (const orderNumber of ['SHOP-1', undefined])
  test(`a repeat finishes an unknown order ${orderNumber ? 'with' : 'without'} a number despite look-ups`, async () => {
    const voucherPayment = await validateVoucher('6000001', '1234', '2.00')
    const usedBefore = findVoucher('6000001').used
    const payments = [
      { gateway: 'visa', amount: toDollars(toCents(tee.price) - 200) },
      { gateway: 'visa', amount: '2.00', voucher: voucherPayment },
    ]
    const [body, key, before] = [
      buildOrder({ payments, ...(orderNumber && { orderNumber }) }),
      withKey(),
      await countOrders(),
    ]
    simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Orders', times: 1 })
    assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
    const [effect] = simulator.ledger.findEffects('order created')
    const { id, number } = findUpstreamOrder(String(effect?.id))
    assert.deepEqual((await api.get(`/orders?order_number=${number}`)).json.data, [])
    for (const name of [id, number]) {
      assertProblem(await api.get(`/orders/${name}`), 'not_found', api.baseUrl)
      assertProblem(await postReturn(String(name), { [tee.sku]: 1 }), 'not_found', api.baseUrl)
    }
    const repeat = getCreatedRecord(await post(api, '/orders', body, key))
    assert.deepEqual([repeat.id, repeat.orderNumber], [String(id), number])
    assert.deepEqual([countPlaced(), await countOrders(), findVoucher('6000001').used], [1, before + 1, usedBefore + 2])
    assertRejected(
      api,
      await post(api, '/orders', buildOrder({ payments })),
      'validation_id_incorrect',
      '/payments/1/voucher',
    )
  })

test('one of ten concurrent orders with one number succeeds', async () => {
  const before = await countOrders()
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => post(api, '/orders', buildOrder({ orderNumber: 'RACE' }))),
  )
  assert.equal(responses.filter(({ status }) => status === 201).length, 1)
  for (const response of responses.filter(({ status }) => status !== 201))
    assertProblem(response, 'order_number_taken', api.baseUrl)
  assert.deepEqual([countPlaced(), await countOrders()], [1, before + 1])
})

test("a voucher pays once even if the order's response is lost", async () => {
  const voucherPayment = await validateVoucher('6000001', '1234', '2.00')
  const usedBefore = findVoucher('6000001').used
  const payments = [
    { gateway: 'visa', amount: toDollars(toCents(tee.price) - 200) },
    { gateway: 'visa', amount: '2.00', voucher: voucherPayment },
  ]
  const [body, key] = [buildOrder({ payments }), withKey()]
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  // A back office can check the voucher, which has already paid, before it checks the order number.
  simulator.faults.add({ kind: 'error', method: 'POST', path: '/Persons/*/Orders', status: 403, code: 5061, times: 1 })
  getCreatedRecord(await post(api, '/orders', body, key))
  assert.equal(findVoucher('6000001').used, usedBefore + 2)
  assert.deepEqual([countPlaced(), simulator.ledger.findEffects('voucher drawn').length], [1, 1])
})

test('an unavailable back office is 503 with Retry-After without an order', async () => {
  const before = await countOrders()
  await simulator.stopAccepting()
  const response = await post(api, '/orders', buildOrder(), withKey())
  assertProblem(response, 'back_office_unavailable', api.baseUrl, '/orders')
  assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/)
  assert.equal(await countOrders(), before)
})

test('a web page in response to an order is an unknown outcome', async () => {
  for (const applied of [false, true]) {
    const key = withKey()
    simulator.ledger.clear()
    simulator.faults.add({ kind: 'html', method: 'POST', path: '/Persons/*/Orders', times: 1, applied })
    const response = await post(api, '/orders', buildOrder(), key)
    assertProblem(response, 'outcome_unknown', api.baseUrl)
    assert.doesNotMatch(response.text, /<|html/i)
    getCreatedRecord(await post(api, '/orders', buildOrder(), key))
    assert.equal(countPlaced(), 1)
  }
})

test('an earlier upstream order is found by identifier or number and stored', async () => {
  const orders = [...simulator.state.orders.values()].filter(
    ({ personId, lines }) => personId !== Number(customerId) && lines.every(({ status }) => status === 'Shipped'),
  )
  const byId = orders[0] ?? assert.fail()
  const sku = String(byId.lines[0]?.skuId)
  const record = getCreatedRecord(await postReturn(String(byId.id), { [sku]: 1 }))
  assert.deepEqual([record.orderId, record.orderNumber], [String(byId.id), byId.number])
  const current = (await api.get(`/orders/${byId.id}`)).json.data
  assert.equal(current.customerId, String(byId.personId))
  assert.equal(current.lines.length, byId.lines.length)
  assert.deepEqual(
    current.lines.map(({ sku: lineSku, quantity, value }: { sku: string; quantity: number; value: string }) => [
      lineSku,
      quantity,
      value,
    ]),
    byId.lines.map(({ skuId, quantity, value }) => [String(skuId), quantity, value.toFixed(2)]),
  )
  assert.equal(current.placedAt.slice(0, 10), new Date(byId.placedAt).toISOString().slice(0, 10))
})

test('GET finds earlier upstream orders with one call if not stored', async () => {
  const [first, second] = [...simulator.state.orders.values()].filter(
    ({ personId, inWebTable }) => personId !== Number(customerId) && inWebTable,
  )
  assert.ok(first && second)
  assert.equal((await api.get(`/orders/${first.id}`)).json.data.orderNumber, first.number)
  assert.equal((await api.get(`/orders?order_number=${second.number}`)).json.data[0].id, String(second.id))
  for (const { id, number, personId } of [first, second]) {
    simulator.ledger.clear()
    const { data } = (await api.get(`/orders/${number}`)).json
    assert.deepEqual([data.id, data.customerId], [String(id), String(personId)])
    assert.equal(simulator.ledger.calls.length, 0)
  }
  const otherService = await api.createService()
  assertProblem(await otherService.get(`/orders/${first.id}`), 'not_found', api.baseUrl)
  await simulator.stopAccepting()
  assert.equal((await api.get(`/orders/${first.id}`)).status, 200)
  for (const path of ['/orders/4711', '/orders/4711/returnable', '/orders?order_number=4711'])
    assertProblem(await api.get(path), 'back_office_unavailable', api.baseUrl)
})

test('an older version finds earlier upstream orders by number only', async () => {
  const oldShop = await openShop({}, { release: '2021.3' })
  try {
    const old = [...oldShop.simulator.state.orders.values()].find(({ inWebTable }) => inWebTable) ?? assert.fail()
    oldShop.simulator.change({ kind: 'despatch-order', id: old.id })
    const body = buildReturn({ [String(old.lines[0]?.skuId)]: 1 })
    assertProblem(await post(oldShop.api, `/orders/${old.id}/returns`, body), 'not_found', oldShop.api.baseUrl)
    const record = getCreatedRecord(await post(oldShop.api, `/orders/${old.number}/returns`, body))
    assert.equal(record.orderId, String(old.id))
    assert.equal(oldShop.simulator.ledger.findCalls({ path: '/Orders' }).length, 0)
    getCreatedRecord(
      await post(oldShop.api, `/orders/${old.id}/returns`, buildReturn({ [String(old.lines.at(-1)?.skuId)]: 1 })),
    )
  } finally {
    await oldShop.stop()
  }
})
