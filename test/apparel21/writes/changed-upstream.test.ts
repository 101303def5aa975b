import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import type { Order } from '../../../src/domain/orders/orders.ts'
import { settings } from '../../drivers/apparel21.ts'
import { getCreatedRecord } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { gift } from '../../support/voucher-shop.ts'
import { post, withKey } from '../../support/write.ts'
import { startShopFixture } from '../shop.ts'
import { createOrderFixture } from './orders.ts'
import { createReturnFixture } from './returns.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const shopper = await createOrderFixture(shop)
const { customerId, buildOrder, tee, findUpstreamOrder } = shopper
const { placeOrder, postReturn } = createReturnFixture(shop, shopper)

const listOrders = async (id: string) => (await api.get(`/customers/${id}/orders`)).json.data as Order[]
const getStatus = async (id: string) =>
  (await listOrders(customerId)).find(candidate => candidate.id === id)?.lines[0]?.status

/** Places an order of two tees, then replaces its lines in the back office. Returns its identifier. */
async function placeChangedOrder(
  ...lines: (readonly [quantity: number, status: 'Processing' | 'Shipped' | 'Cancelled'])[]
) {
  const { id } = await placeOrder({ [tee.sku]: 2 }, { isShipped: false })
  const upstreamOrder = findUpstreamOrder(id)
  const [line = assert.fail()] = upstreamOrder.lines
  upstreamOrder.lines = lines.map(([quantity, status], i) => ({
    ...line,
    id: line.id + 100_000 * i,
    quantity,
    value: line.price * quantity,
    status,
  }))
  return id
}

for (const [label, lines, status, returnable] of [
  ['of which the back office sends one only', [[1, 'Shipped']], 'shipped', 1],
  [
    'of which one is cancelled',
    [
      [1, 'Cancelled'],
      [1, 'Shipped'],
    ],
    'shipped',
    1,
  ],
  [
    'of which one waits',
    [
      [1, 'Shipped'],
      [1, 'Processing'],
    ],
    'processing',
    0,
  ],
  [
    'that are sent one by one',
    [
      [1, 'Shipped'],
      [1, 'Shipped'],
    ],
    'shipped',
    2,
  ],
] as const)
  test(`${returnable || 'none'} of two units ${label} can be returned`, async () => {
    const id = await placeChangedOrder(...lines)
    assert.equal(await getStatus(id), status)
    assert.equal((await postReturn(id, { [tee.sku]: returnable + 1 })).status, 409)
    for (let unit = 0; unit < returnable; unit++) assert.equal((await postReturn(id, { [tee.sku]: 1 })).status, 201)
    assert.equal((await postReturn(id, { [tee.sku]: 1 })).status, 409)
    const back = [...simulator.state.returns.values()].filter(({ orderId }) => String(orderId) === id)
    assert.equal(back.flatMap(({ lines: orderLines }) => orderLines).length, returnable)
  })

test('an order shipped after a year shows as shipped', async () => {
  const { id } = await placeOrder({ [tee.sku]: 1 }, { isShipped: false })
  await api.db.run(sql`update sales_order set changed_at = changed_at - interval '1 year' where id = ${id}`)
  simulator.change({ kind: 'despatch-order', id: Number(id) })
  assert.equal(await getStatus(id), 'shipped')
})

test('a gift order is not listed for its recipient', async () => {
  const sold = await post(api, '/vouchers', gift)
  assert.equal(sold.status, 202, sold.text)
  const { location = '' } = sold.headers
  await shop.sync('customers')
  const [customer] = (await api.get('/customers?email=ann.lee@example.com')).json.data
  assert.deepEqual(await listOrders(customer.id), [])
  assert.equal((await api.get(String(location))).status, 200)
  assert.deepEqual(await listOrders(customer.id), [])
})

test('an order found upstream uses our gateway name', async () => {
  const { id } = getCreatedRecord(await post(api, '/orders', buildOrder()))
  for (const table of [sql`order_payment`, sql`order_line`])
    await api.db.run(sql`delete from ${table} where order_id = ${id}`)
  await api.db.run(sql`delete from sales_order where id = ${id}`)
  const listedOrder = (await listOrders(customerId)).find(candidate => candidate.id === id)
  assert.equal(listedOrder?.payments[0]?.gateway, 'paypal')
})

test('an order being placed by another service upstream is not listed', async () => {
  const other = await api.createService({ ...settings, returnReasons: api.service.settings.returnReasons })
  await api.db.run(sql`
    insert into customer select (jsonb_populate_record(c, jsonb_build_object('service_id', ${other.service.id}::integer))).*
      from customer c where c.service_id = ${api.service.id} and c.id = ${customerId}`)
  const [body, key] = [buildOrder(), withKey()]
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  const listForeign = async () =>
    (await other.get(`/customers/${customerId}/orders`)).json.data.map(({ id: orderId }: Order) => orderId)
  const before = await listForeign()
  const { id } = getCreatedRecord(await post(api, '/orders', body, key))
  assert.deepEqual([before.includes(id), (await listForeign()).includes(id)], [false, false])
})

test('orders of a merged customer move to the other and stay returnable', async () => {
  const [into] = [...simulator.state.persons.keys()].map(String).filter(id => id !== customerId)
  assert.ok(into)
  const shippedOrder = await placeOrder({ [tee.sku]: 1 })
  const openOrder = await placeOrder({ [tee.sku]: 1 }, { isShipped: false })
  for (const candidate of simulator.state.orders.values())
    if (String(candidate.personId) === customerId) candidate.personId = Number(into)
  simulator.change({ kind: 'remove-person', id: Number(customerId) })
  await shop.sync('customers')
  assert.equal((await postReturn(shippedOrder.id, { [tee.sku]: 1 })).status, 201)
  simulator.change({ kind: 'despatch-order', id: Number(openOrder.id) })
  const orders = await listOrders(into)
  for (const { id } of [shippedOrder, openOrder])
    assert.equal(orders.find(candidate => candidate.id === id)?.customerId, into)
  assert.equal(orders.find(candidate => candidate.id === openOrder.id)?.lines[0]?.status, 'shipped')
  assert.equal((await postReturn(openOrder.id, { [tee.sku]: 1 })).status, 201)
})
