import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Order } from '../../../src/domain/orders/orders.ts'
import { connectToBackOffice } from '../../drivers/apparel21.ts'
import { getWarningCodes } from '../../support/customer-bodies.ts'
import { getCreatedRecord } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { startTestApi } from '../../support/service.ts'
import { post, remove, withKey } from '../../support/write.ts'
import { startShopFixture } from '../shop.ts'
import { createOrderFixture } from './orders.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const { customerId, buildOrder, countOrders } = await createOrderFixture(shop)

/** Orders that were in the back office before the test, by customer. */
const upstreamOrders = Map.groupBy([...simulator.state.orders.values()], ({ personId }) => String(personId))
const shoppers = [...upstreamOrders].map(([id, orders]) => ({
  id,
  orders: orders.map(placed => String(placed.id)).sort(),
}))
let next = 0
const takeNextPerson = () => shoppers[next++] ?? assert.fail('no shopper with orders is left')

async function listOrders(id: string, query = '') {
  const { status, json, text } = await api.get(`/customers/${id}/orders${query}`)
  assert.equal(status, 200, text)
  return { data: json.data as Order[], meta: json.meta }
}
const getIds = (orders: Order[]) => orders.map(({ id }) => id).sort()
const countReads = (id: string) => simulator.ledger.findCalls({ method: 'GET', path: `/Persons/${id}/Orders` }).length

test("a customer's list shows orders placed in the back office, newest first", async () => {
  const { id, orders } = takeNextPerson()
  const { data, meta } = await listOrders(id)
  assert.deepEqual(getIds(data), orders)
  const times = data.map(({ placedAt }) => placedAt)
  assert.deepEqual(times, times.toSorted().reverse())
  assert.deepEqual([meta.warnings, Date.parse(meta.syncedAt) <= Date.now()], [undefined, true])
  await simulator.stopAccepting()
  const later = await listOrders(id)
  assert.deepEqual(later.data, data)
  assert.deepEqual([getWarningCodes(later), later.meta.syncedAt], [['back_office_unavailable'], undefined])
})

test('a line shipped in the back office is shown as shipped', async () => {
  const ownOrder = getCreatedRecord(await post(api, '/orders', buildOrder()))
  const otherShopper = takeNextPerson()
  for (const id of [ownOrder.id, ...otherShopper.orders]) simulator.change({ kind: 'despatch-order', id: Number(id) })
  for (const id of [customerId, otherShopper.id]) {
    const statuses = (await listOrders(id)).data.flatMap(({ lines }) => lines.map(({ status }) => status))
    assert.deepEqual(new Set(statuses), new Set(['shipped']))
  }
})

test('only the first page or export causes a back office call', async () => {
  const { id, orders } =
    shoppers.find(shopper => shopper.orders.length > 1) ?? assert.fail('no shopper has ordered twice')
  const first = await listOrders(id, '?limit=1')
  const before = countReads(id)
  const second = await listOrders(id, `?limit=1&after_cursor=${first.meta.endCursor}`)
  assert.equal(countReads(id), before)
  assert.notEqual(second.data[0]?.id, first.data[0]?.id)
  const bulkExport = await api.get(`/customers/${id}/orders`, { accept: 'application/x-ndjson' })
  assert.equal(bulkExport.text.trim().split('\n').length, orders.length)
  assert.equal(countReads(id), before + 1)
})

test('concurrent requests for one customer share a call and store orders once', async () => {
  const { id, orders } = takeNextPerson()
  simulator.ledger.clear()
  simulator.faults.add({ kind: 'latency', seconds: 0.5, path: '/Persons/*/Orders' })
  const before = await countOrders()
  const responses = await Promise.all(Array.from({ length: 20 }, () => listOrders(id)))
  for (const { data } of responses) assert.deepEqual(getIds(data), orders)
  assert.deepEqual([countReads(id), await countOrders()], [1, before + orders.length])
})

test('each page is stored as it arrives, even if late', async t => {
  const { client, backOffice } = connectToBackOffice(simulator, { limits: { pageRows: 2 } })
  const slowServer = await startTestApi({ sharedWith: api, backOffice })
  t.after(async () => {
    await slowServer.stop()
    client.close()
  })
  const { id, orders } = takeNextPerson()
  const before = await countOrders()
  const template = simulator.state.orders.get(Number(orders[0])) ?? assert.fail()
  for (let i = orders.length; i < 6; i++) {
    const more = 900_000 + i
    simulator.state.orders.set(more, { ...template, id: more, number: `MORE${i}` })
  }
  simulator.faults.add({ kind: 'latency', seconds: 1.3, path: `/Persons/${id}/Orders` })
  const { json } = await slowServer.get(`/customers/${id}/orders`)
  assert.deepEqual(getWarningCodes(json), ['back_office_unavailable'])
  assert.ok(json.data.length > 0 && json.data.length < 6, `${json.data.length} of 6`)
  await waitUntil(async () => (await countOrders()) === before + 6, 'the late pages are stored', 30_000)
})

test('an order with an unknown outcome is hidden until it is reconciled', async () => {
  const [body, key] = [buildOrder(), withKey()]
  const before = getIds((await listOrders(customerId)).data)
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  assert.deepEqual(getIds((await listOrders(customerId)).data), before)
  const placed = getCreatedRecord(await post(api, '/orders', body, key))
  const listedOrder = (await listOrders(customerId)).data.find(({ id }) => id === placed.id)
  assert.equal(listedOrder?.payments[0]?.reference, 'PAYID-1')
})

test('an unreadable response keeps the stored orders and adds a warning', async () => {
  const { id } = takeNextPerson()
  simulator.faults.add({ kind: 'malformed', path: `/Persons/${id}/Orders` })
  const { data, meta } = await listOrders(id)
  assert.deepEqual([data, getWarningCodes({ meta })], [[], ['back_office_error']])
  assert.match(meta.warnings[0].detail, /Orders that were placed elsewhere may be missing/)
})

test('late orders of an erased customer are not stored', async () => {
  const admin = await api.createAccount('admin')
  const { id } = takeNextPerson()
  const before = await countOrders()
  simulator.faults.add({ kind: 'latency', seconds: 1, path: `/Persons/${id}/Orders`, times: 1 })
  const pending = api.get(`/customers/${id}/orders`)
  await delay(300)
  simulator.change({ kind: 'remove-person', id: Number(id) })
  const erased = await remove(admin, `/customers/${id}`)
  assert.equal(erased.status, 200, erased.text)
  assert.equal((await pending).status, 200)
  assert.equal(await countOrders(), before)
})
