import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { sql } from '../../../src/database/db.ts'
import {
  buildOrder,
  cancelReturn,
  createReturn,
  getCreatedRecord,
  getReturnable,
  getSales,
  getStock,
  placeOrder,
  startOrderShop,
  toCents,
} from '../../support/order-shop.ts'
import { assertProblem, getErrorDetails, getFieldErrors } from '../../support/problem.ts'
import type { TestResponse } from '../../support/service.ts'
import { post } from '../../support/write.ts'

const { api, createShop } = await startOrderShop()
after(() => api.stop())

/** Asserts that `count` returns were created and the others were rejected because too few units remained. */
function assertCreatedCount(responses: TestResponse[], count: number) {
  assert.equal(responses.filter(response => response.status === 201).length, count)
  for (const response of responses)
    if (response.status !== 201) assert.equal(response.json.code, 'quantity_exceeds_returnable', response.text)
}

test('two SKUs that differ only in case are distinct', async () => {
  const { id, orderNumber } = await placeOrder(api, [{ sku: '85049a', quantity: 1 }])
  const response = await createReturn(api, id, { '85049A': 1 })
  assert.deepEqual(getErrorDetails(response), [`SKU 85049A isn't on order ${orderNumber}.`])
  const mixedOrder = await placeOrder(api, [
    { sku: '85049A', quantity: 2 },
    { sku: '85049a', quantity: 1 },
  ])
  assert.equal((await createReturn(api, mixedOrder.id, { '85049a': 2 })).status, 409)
  assert.equal(getCreatedRecord(await createReturn(api, mixedOrder.id, { '85049A': 2 })).total, '5.00')
})

test('one of two conflicting returns succeeds; the other gets the remaining quantity', async () => {
  const { id } = await placeOrder(api, [{ sku: 'HOOD-M', quantity: 3 }])
  const responses = await Promise.all([createReturn(api, id, { 'HOOD-M': 2 }), createReturn(api, id, { 'HOOD-M': 2 })])
  assertCreatedCount(responses, 1)
  const [rejected] = responses.filter(response => response.status === 409)
  assert.ok(rejected)
  assertProblem(rejected, 'quantity_exceeds_returnable', api.baseUrl, `/orders/${id}/returns`)
  assert.deepEqual(getErrorDetails(rejected), ['At most 1 of HOOD-M can be returned, not 2.'])
  assert.deepEqual(await getReturnable(api, id), [{ sku: 'HOOD-M', sold: 3, returned: 2, returnable: 1 }])
})

test('five of twenty concurrent returns of five sold units succeed', async () => {
  const shop = await createShop()
  const { id, orderNumber } = await placeOrder(shop, [
    { sku: 'HOOD-S', quantity: 2 },
    { sku: 'HOOD-S', quantity: 3, discounts: [{ type: 'staff', amount: '0.01' }] },
  ])
  const stock = await getStock(shop)
  const responses = await Promise.all(Array.from({ length: 20 }, () => createReturn(shop, id, { 'HOOD-S': 1 })))
  assertCreatedCount(responses, 5)
  const createdReturns = responses.filter(response => response.status === 201).map(getCreatedRecord)
  assert.equal(new Set(createdReturns.map(placedReturn => placedReturn.returnNumber)).size, 5)
  assert.equal(
    createdReturns.reduce((sum, placedReturn) => sum + toCents(placedReturn.total), 0),
    5 * 2999 - 1,
  )
  assert.deepEqual(await getStock(shop), stock, 'units of a requested return are not in stock')
  const sales = await getSales(shop, orderNumber)
  assert.equal(
    sales.reduce((sum: number, sale: { total: string }) => sum + toCents(sale.total), 0),
    0,
  )
  const lines = (await shop.get(`/orders/${id}`)).json.data.lines
  assert.deepEqual(
    lines.map((line: { status: string }) => line.status),
    ['shipped', 'shipped'],
    'units of a requested return are not returned yet',
  )
  for (const placedReturn of createdReturns)
    assert.equal((await post(shop, `/returns/${placedReturn.id}/receive`, {})).status, 200)
  assert.equal((await getStock(shop))['1002 HOOD-S'], (stock['1002 HOOD-S'] ?? 0) + 5)
  assert.deepEqual(
    (await shop.get(`/orders/${id}`)).json.data.lines.map((line: { status: string }) => line.status),
    ['returned', 'returned'],
  )
})

test('several lines of one SKU in a body are added up', async () => {
  const { id } = await placeOrder(api, [{ sku: 'TEE', quantity: 3 }])
  const buildLine = (quantity: number, reasonCode = 'SIZE') => ({ sku: 'TEE', quantity, reasonCode })
  const response = await post(api, `/orders/${id}/returns`, { lines: [buildLine(2), buildLine(2)] })
  assertProblem(response, 'quantity_exceeds_returnable', api.baseUrl, `/orders/${id}/returns`)
  assert.deepEqual(getFieldErrors(response), ['/lines/1/quantity quantity_exceeds_returnable'])
  assert.deepEqual(getErrorDetails(response), ['At most 3 of TEE can be returned, not 4.'])
  const { lines } = getCreatedRecord(
    await post(api, `/orders/${id}/returns`, { lines: [buildLine(2), buildLine(1, 'FAULTY')] }),
  )
  assert.deepEqual(
    lines.map((returnedLine: { quantity: number; reasonCode: string }) => [
      returnedLine.quantity,
      returnedLine.reasonCode,
    ]),
    [
      [2, 'SIZE'],
      [1, 'FAULTY'],
    ],
  )
})

test('a double click without a key is checked against the remaining quantity', async () => {
  const { id } = await placeOrder(api, [{ sku: 'TEE', quantity: 3 }])
  assertCreatedCount([await createReturn(api, id, { TEE: 2 }), await createReturn(api, id, { TEE: 2 })], 1)
})

test('an unshipped unit cannot be returned', async () => {
  const shop = await createShop({ fulfilment: 'manual' })
  const { id } = await placeOrder(shop, [{ sku: 'TEE', quantity: 2 }])
  assert.deepEqual(await getReturnable(shop, id), [{ sku: 'TEE', sold: 0, returned: 0, returnable: 0 }])
  const response = await createReturn(shop, id, { TEE: 1 })
  assertProblem(response, 'quantity_exceeds_returnable', api.baseUrl, `/orders/${id}/returns`)
  assert.deepEqual(getErrorDetails(response), [
    'At most 0 of TEE can be returned, not 1, because it has not been shipped.',
  ])
})

test('a cancelled return restores units, stock, refund and history', async () => {
  const shop = await createShop()
  const { id, orderNumber } = await placeOrder(shop, [
    { sku: 'TEE', quantity: 3, discounts: [{ type: 'staff', amount: '0.01' }] },
  ])
  const stock = await getStock(shop)
  const first = getCreatedRecord(await createReturn(shop, id, { TEE: 1 }))
  const second = getCreatedRecord(await createReturn(shop, id, { TEE: 2 }))
  assert.equal((await shop.get(`/orders/${id}`)).json.data.lines[0].status, 'shipped')
  await cancelReturn(api, shop, first.returnNumber)
  const { status, updateTimeStamp, ...fields } = (await shop.get(`/returns/${first.id}`)).json.data
  assert.equal(status, 'cancelled')
  assert.ok(updateTimeStamp >= first.updateTimeStamp)
  assert.deepEqual({ ...fields, status: 'requested', updateTimeStamp: first.updateTimeStamp }, first)
  assert.deepEqual(await getReturnable(shop, id), [{ sku: 'TEE', sold: 3, returned: 2, returnable: 1 }])
  assert.equal((await shop.get(`/orders/${id}`)).json.data.lines[0].status, 'shipped')
  assert.equal((await post(shop, `/returns/${second.id}/receive`, {})).status, 200)
  assert.equal((await getStock(shop))['1002 TEE'], (stock['1002 TEE'] ?? 0) + 2)
  const third = getCreatedRecord(await createReturn(shop, id, { TEE: 1 }))
  assert.equal(toCents(second.total) + toCents(third.total), 2999)
  const sales = await getSales(shop, orderNumber)
  assert.equal(sales.length, 5)
  assert.equal(
    sales.reduce((sum: number, sale: { total: string }) => sum + toCents(sale.total), 0),
    0,
  )
})

test('database constraints prevent returning or refunding more than was sold', async () => {
  const { id } = await placeOrder(api, [{ sku: 'TEE', quantity: 2 }])
  const { service } = api
  for (const [change, constraint] of [
    [sql`returned = 3`, /order_line_returned/],
    [sql`returned = -1`, /order_line_returned/],
    [sql`refunded = 20.01`, /order_line_refunded/],
    [sql`status = 'returned'`, /order_line_sold/],
    [sql`status = 'cancelled', returned = 1`, /order_line_sold/],
    [sql`status = 'processing', cancelled = -1`, /order_line_units/],
    [sql`status = 'processing'`, /order_line_sold/],
  ] as const)
    await assert.rejects(
      api.db.run(sql`update order_line set ${change} where service_id = ${service.id} and order_id = ${id}`),
      constraint,
    )
})

test('returned plus returnable always equals sold over returns and cancellations', async () => {
  const shop = await createShop()
  const sku = fc.constantFrom('TEE', 'HOOD-S', 'HOOD-M')
  const line = fc.record({ sku, quantity: fc.integer({ min: 1, max: 4 }) })
  const action = fc.oneof(
    { weight: 3, arbitrary: fc.record({ items: fc.array(line, { minLength: 1, maxLength: 3 }) }) },
    { weight: 1, arbitrary: fc.record({ cancel: fc.nat(10) }) },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 4 }),
      fc.array(action, { minLength: 1, maxLength: 8 }),
      async (bought, actions) => {
        const before = await getStock(shop)
        const order = getCreatedRecord(await post(shop, '/orders', buildOrder(bought)))
        const sold = new Map<string, number>()
        for (const boughtLine of bought) sold.set(boughtLine.sku, (sold.get(boughtLine.sku) ?? 0) + boughtLine.quantity)
        const open: { id: string; returnNumber: string; total: string; units: Map<string, number> }[] = []
        const countReturned = (soldSku: string) =>
          open.reduce((sum, openReturn) => sum + (openReturn.units.get(soldSku) ?? 0), 0)
        for (const performed of actions) {
          if ('cancel' in performed) {
            const [cancelled] = open.splice(performed.cancel % (open.length || 1), 1)
            if (cancelled) await cancelReturn(api, shop, cancelled.returnNumber)
          } else {
            const units = new Map<string, number>()
            for (const { sku: returnedSku, quantity } of performed.items)
              units.set(returnedSku, (units.get(returnedSku) ?? 0) + quantity)
            const lines = performed.items.map(item => ({ ...item, reasonCode: 'SIZE' }))
            const { status, json } = await post(shop, `/orders/${order.id}/returns`, { lines })
            const hasUnknownSku = [...units.keys()].some(unitSku => !sold.has(unitSku))
            const isTooMany = [...units].some(
              ([unitSku, count]) => countReturned(unitSku) + count > (sold.get(unitSku) ?? 0),
            )
            assert.equal(status, hasUnknownSku ? 422 : isTooMany ? 409 : 201)
            if (status === 201) open.push({ ...json.data, units })
          }
          const remaining = await getReturnable(shop, order.id)
          assert.deepEqual(
            remaining,
            [...sold].map(([soldSku, count]) => ({
              sku: soldSku,
              sold: count,
              returned: countReturned(soldSku),
              returnable: count - countReturned(soldSku),
            })),
          )
        }
        // Return and receive the remaining units too. The refunds must equal the order's total, and the stock must be as before.
        for (const [soldSku, count] of sold) {
          const units = new Map([[soldSku, count - countReturned(soldSku)]])
          if (units.get(soldSku))
            open.push({ ...getCreatedRecord(await createReturn(shop, order.id, Object.fromEntries(units))), units })
        }
        assert.equal(
          open.reduce((sum, openReturn) => sum + toCents(openReturn.total), 0),
          toCents(order.total),
        )
        for (const openReturn of open)
          assert.equal((await post(shop, `/returns/${openReturn.id}/receive`, {})).status, 200)
        assert.deepEqual(await getStock(shop), before)
      },
    ),
    { numRuns: 25 },
  )
})
