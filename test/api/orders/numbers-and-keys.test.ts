import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { upsertTransactions } from '../../../src/store/orders/transactions.ts'
import {
  buildOrder,
  createReturn,
  getCreatedRecord,
  getReturnable,
  getSales,
  getStock,
  placeOrder,
  startOrderShop,
} from '../../support/order-shop.ts'
import { assertProblem, getErrorDetails, getFieldErrors } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { post } from '../../support/write.ts'

const blockedQueries = sql`
  select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid()`

const { api, createShop } = await startOrderShop()
after(() => api.stop())

test('generated order numbers skip used numbers and numbers of imported sales', async () => {
  const shop = await createShop()
  await upsertTransactions(api.db, shop.service, [
    {
      header: { id: '1', saleDate: '2024-05-26 00:00:00', orderNumber: 'W0000041' },
      line: { id: '1', quantity: 1, price: '1.00', value: '1.00' },
    },
  ])
  const placeAndGetNumber = async (more = {}) =>
    (await placeOrder(shop, [{ sku: 'TEE', quantity: 1 }], more)).orderNumber
  assert.equal(await placeAndGetNumber(), 'W0000042')
  for (const accepted of ['W0000043', 'W0000044', 'W0000045'])
    assert.equal(await placeAndGetNumber({ orderNumber: accepted }), accepted)
  assert.equal(await placeAndGetNumber(), 'W0000046')
  assert.equal(await placeAndGetNumber(), 'W0000047')
  assert.equal((await placeOrder(await createShop(), [{ sku: 'TEE', quantity: 1 }])).orderNumber, 'W0000001')
})

test('an order number with an invisible character is rejected by its name', async () => {
  const shop = await createShop()
  const placeNumbered = (orderNumber: string) =>
    post(shop, '/orders', buildOrder([{ sku: 'TEE', quantity: 1 }], { orderNumber }))
  for (const [orderNumber, name] of [
    ['X-1\u200b', 'U+200B, which is invisible (character 4)'],
    ['X\u00ad-1', 'U+00AD, which is invisible (character 2)'],
    ['\u3164', 'U+3164, which is invisible (character 1)'],
  ] as const)
    assert.deepEqual(getErrorDetails(await placeNumbered(orderNumber)), [
      `\`orderNumber\` can't contain the character ${name}.`,
    ])
})

test('a taken order number is skipped before the order waits for stock', async () => {
  const shop = await createShop()
  const placeNumbered = (orderNumber: string) =>
    post(shop, '/orders', buildOrder([{ sku: 'HOOD-M', quantity: 1 }], { orderNumber }))
  assert.equal((await placeOrder(shop, [{ sku: 'TEE', quantity: 1 }])).orderNumber, 'W0000001')
  getCreatedRecord(await placeNumbered('W0000002'))
  const [generated, explicit] = await api.db.transaction(async tx => {
    await tx.run(sql`select from stock where service_id = ${shop.service.id} and sku_id = 'id-TEE' for update`)
    const countWaiting = async () => (await api.db.rows(blockedQueries)).length
    const first = post(shop, '/orders', buildOrder([{ sku: 'TEE', quantity: 1 }]))
    await waitUntil(async () => (await countWaiting()) === 1, 'the order waits for its stock')
    const second = placeNumbered('W0000003')
    let isAnswered = false
    second.then(() => {
      isAnswered = true
    })
    await waitUntil(async () => isAnswered || (await countWaiting()) === 2, 'the order with the same number waits')
    return [first, second]
  })
  assert.equal(getCreatedRecord(await generated).orderNumber, 'W0000003')
  assertProblem(await explicit, 'order_number_taken', api.baseUrl, '/orders')
})

test('one of twenty concurrent orders with one number succeeds in its service', async () => {
  const shop = await createShop()
  const body = buildOrder([{ sku: 'TEE', quantity: 1 }], { orderNumber: 'RACE' })
  const responses = await Promise.all(Array.from({ length: 20 }, () => post(shop, '/orders', body)))
  assert.equal(responses.filter(response => response.status === 201).length, 1)
  for (const response of responses.filter(({ status }) => status !== 201)) {
    assertProblem(response, 'order_number_taken', api.baseUrl, '/orders')
    assert.deepEqual(getFieldErrors(response), ['/orderNumber order_number_taken'])
  }
  assert.equal((await getStock(shop))['1002 TEE'], 4)
  assert.equal((await getSales(shop, 'RACE')).length, 1)
  getCreatedRecord(await post(await createShop(), '/orders', body))
})

test('twenty concurrent orders get twenty numbers and each takes its stock', async () => {
  const shop = await createShop()
  const body = buildOrder([
    { sku: 'TEE', quantity: 1 },
    { sku: 'HOOD-M', quantity: 2 },
  ])
  const reversed = { ...body, lines: body.lines.toReversed() }
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, i) => post(shop, '/orders', i % 2 ? body : reversed)),
  )
  const numbers = responses.map(response => getCreatedRecord(response).orderNumber)
  assert.equal(new Set(numbers).size, 20)
  for (const number of numbers) assert.match(number, /^W\d{7}$/)
  const stock = await getStock(shop)
  assert.deepEqual([stock['1002 TEE'], stock['1001 HOOD-M']], [5 - 20, 4 - 40])
})

test('concurrent generated and explicit order numbers never collide', async () => {
  const shop = await createShop()
  const input = Array.from({ length: 10 }, (_, i) => `W${String(i + 1).padStart(7, '0')}`)
  const responses = await Promise.all(
    input.flatMap(orderNumber => [
      post(shop, '/orders', buildOrder([{ sku: 'TEE', quantity: 1 }], { orderNumber })),
      post(shop, '/orders', buildOrder([{ sku: 'TEE', quantity: 1 }])),
    ]),
  )
  const accepted = responses.filter(response => response.status === 201).map(response => response.json.data.orderNumber)
  assert.equal(new Set(accepted).size, accepted.length)
  for (const [i, response] of responses.entries())
    assert.ok(response.status === 201 || (i % 2 === 0 && response.json.code === 'order_number_taken'), response.text)
  assert.ok(accepted.length >= 10)
})

test('return numbers are generated uniquely, and explicit ones are used once', async () => {
  const shop = await createShop()
  const { id } = await placeOrder(shop, [{ sku: 'TEE', quantity: 20 }])
  const { id: second } = await placeOrder(shop, [{ sku: 'TEE', quantity: 20 }])
  assert.equal(getCreatedRecord(await createReturn(shop, id, { TEE: 1 })).returnNumber, 'R0000001')
  getCreatedRecord(await createReturn(shop, id, { TEE: 1 }, { returnNumber: 'R0000002' }))
  assert.equal(getCreatedRecord(await createReturn(shop, id, { TEE: 1 })).returnNumber, 'R0000003')
  const responses = await Promise.all(
    Array.from({ length: 10 }, (_, i) => createReturn(shop, i % 2 ? id : second, { TEE: 1 }, { returnNumber: 'SAME' })),
  )
  assert.equal(responses.filter(response => response.status === 201).length, 1)
  for (const response of responses.filter(({ status }) => status !== 201)) {
    assert.deepEqual(getFieldErrors(response), ['/returnNumber order_number_taken'])
    assert.deepEqual(getErrorDetails(response), ['Return number SAME is already used.'])
  }
  const other = await createShop()
  const { id: otherOrderId } = await placeOrder(other, [{ sku: 'TEE', quantity: 1 }])
  getCreatedRecord(await createReturn(other, otherOrderId, { TEE: 1 }, { returnNumber: 'SAME' }))
})

test('an order repeated with its key is placed once, even concurrently', async () => {
  const shop = await createShop()
  const body = buildOrder([{ sku: 'TEE', quantity: 1 }])
  const key = { 'idempotency-key': randomUUID() }
  const responses = await Promise.all(Array.from({ length: 8 }, () => post(shop, '/orders', body, key)))
  for (const response of responses)
    assert.ok(response.status === 201 || response.json.code === 'idempotency_in_progress', response.text)
  const again = await post(shop, '/orders', body, key)
  assert.equal(again.status, 201)
  assert.equal(again.headers['idempotent-replayed'], 'true')
  const ids = [...responses, again].filter(({ status }) => status === 201).map(({ json }) => json.data.id)
  assert.equal(new Set(ids).size, 1)
  assert.equal((await shop.get('/customers/65432/orders')).json.data.length, 1)
  assert.equal((await getStock(shop))['1002 TEE'], 4)
})

test('a return repeated with its key is created once, even concurrently', async () => {
  const { id } = await placeOrder(api, [{ sku: 'TEE', quantity: 5 }])
  const key = { 'idempotency-key': randomUUID() }
  const responses = await Promise.all(Array.from({ length: 6 }, () => createReturn(api, id, { TEE: 1 }, {}, key)))
  for (const response of responses)
    assert.ok(response.status === 201 || response.json.code === 'idempotency_in_progress', response.text)
  const again = await createReturn(api, id, { TEE: 1 }, {}, key)
  assert.equal(again.headers['idempotent-replayed'], 'true')
  assert.equal((await api.get(`/orders/${id}/returns`)).json.data.length, 1)
  assert.deepEqual(await getReturnable(api, id), [{ sku: 'TEE', sold: 5, returned: 1, returnable: 4 }])
  assertProblem(await createReturn(api, id, { TEE: 2 }, {}, key), 'idempotency_key_reused', api.baseUrl)
})
