import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { assertProblem } from '../../support/problem.ts'
import { post, put, remove } from '../../support/write.ts'
import { startShopFixture } from '../shop.ts'
import { createOrderFixture } from './orders.ts'

const shop = await startShopFixture({ oversell: 'refuse' })
const { api, simulator } = shop
const { tee, buildOrder } = await createOrderFixture(shop)
const admin = await api.createAccount('admin', api.service)

const path = `/Freestock/sku/${tee.sku}`
const stores = [...simulator.state.stores.values()]
const warehouse = stores.find(({ kind }) => kind === 'warehouse') ?? assert.fail('no warehouse')
const skuId = Number(tee.sku)

/** Sets the back office's stock of the tee: `units` in the warehouse and 0 in all other stores. */
async function setStock(units: number, { isSynced = true } = {}) {
  for (const { id } of stores)
    simulator.change({ kind: 'set-stock', skuId, storeId: id, quantity: id === warehouse.id ? units : 0 })
  if (isSynced) await shop.sync('stock', { full: false })
  simulator.ledger.clear()
}
/** IDs of reservations, which are released after each test. */
let reservations: string[] = []
afterEach(async () => {
  for (const id of reservations) await remove(api, `/reservations/${id}`)
  reservations = []
})
const sellAtTill = (quantity: number) =>
  simulator.change({ kind: 'sell-stock', skuId, storeId: warehouse.id, quantity })
async function reserve(quantity: number, more: object = { live: true }) {
  const response = await post(api, '/reservations', { lines: [{ sku: tee.sku, quantity }], ...more })
  if (response.status === 201) reservations.push(response.json.data.id)
  return response
}
const countCalls = () => simulator.ledger.findCalls({ path }).length
const getLevel = async () => {
  const { data } = (await api.get(`/inventory?sku=${tee.sku}`)).json
  const { id, freeStock, reserved } = data.find(({ storeId }: { storeId: string }) => storeId === String(warehouse.id))
  return { id, freeStock, reserved }
}
const getOversold = async () =>
  (await admin.get('/alerts')).json.data.filter(({ kind }: { kind: string }) => kind === 'stock_oversold')

test('a live reservation does not reserve units that a till has sold', async () => {
  await setStock(2)
  sellAtTill(2)
  const withoutLiveStock = await reserve(1, {})
  assert.equal(withoutLiveStock.status, 201, withoutLiveStock.text)
  assert.equal(countCalls(), 0)
  await remove(api, `/reservations/${withoutLiveStock.json.data.id}`)
  const rejected = await reserve(1)
  assertProblem(rejected, 'insufficient_stock', api.baseUrl, '/reservations')
  assert.equal(rejected.json.errors[0].available, 0)
  assert.equal(countCalls(), 1)
  await setStock(1, { isSynced: false })
  const reserved = await reserve(1)
  assert.equal(reserved.status, 201, reserved.text)
  sellAtTill(1)
  const url = `/reservations/${reserved.json.data.id}`
  assertProblem(await put(api, url, { live: true }), 'insufficient_stock', api.baseUrl)
  assert.equal((await remove(api, url)).status, 200)
})

for (const kind of ['hang', 'down', 'status', 'html', 'truncated'] as const)
  test(`a back office that fails (${kind}) leaves nothing reserved`, async () => {
    await setStock(3)
    simulator.faults.add({ kind, path })
    const start = performance.now()
    const response = await reserve(1)
    assert.ok(performance.now() - start < 4_000, `took ${performance.now() - start} ms`)
    assert.ok(['back_office_unavailable', 'back_office_error'].includes(response.json.code), response.text)
    assert.equal((await getLevel()).reserved, 0)
    const dryRun = await post(
      api,
      '/reservations',
      { lines: [{ sku: tee.sku, quantity: 1 }], live: true },
      { prefer: 'tx=rollback' },
    )
    assert.equal(dryRun.json.code, response.json.code)
    const withoutLive = await reserve(1, {})
    assert.equal(withoutLive.status, 201, withoutLive.text)
    await remove(api, `/reservations/${withoutLive.json.data.id}`)
  })

test('64 clients of a slow back office get only the last units', async () => {
  await setStock(5)
  sellAtTill(2)
  simulator.faults.add({ kind: 'latency', path, seconds: 0.5 })
  const responses = await Promise.all(Array.from({ length: 64 }, () => reserve(1)))
  const codes = responses.map(({ status, json }) => json.code ?? status)
  assert.equal(codes.filter(code => code === 201).length, 3, codes.join())
  assert.equal(codes.filter(code => code === 'insufficient_stock').length, 61, codes.join())
  assert.ok(countCalls() <= 4, `${countCalls()} calls`)
})

test('64 clients of a hanging back office hold nothing', async () => {
  await setStock(5)
  simulator.faults.add({ kind: 'hang', path })
  const hanging = Promise.all(Array.from({ length: 64 }, () => reserve(1)))
  const withoutLive = Promise.all(Array.from({ length: 20 }, () => reserve(1, {})))
  const first = await Promise.race([hanging.then(() => 'hanging'), withoutLive.then(() => 'others')])
  assert.equal(first, 'others', "reservations without `live` don't wait for the back office")
  assert.ok((await withoutLive).some(({ status }) => status === 201))
  for (const { status, json } of await hanging) assert.deepEqual([status, json.code], [503, 'back_office_unavailable'])
})

test("a till's sale of reserved units raises an alert until release", async () => {
  await setStock(2)
  assert.deepEqual(await getOversold(), [])
  const reserved = await reserve(2)
  assert.equal(reserved.status, 201, reserved.text)
  sellAtTill(1)
  await shop.sync('stock', { full: false })
  const [alert] = await getOversold()
  const level = await getLevel()
  assert.equal(alert?.subject, level.id)
  assert.equal(alert.path, `/inventory/${level.id}`)
  assert.match(
    alert.detail,
    /^1 units too many of SKU \S+ are sold or reserved at store \S+: free stock 1, reserved 2,/,
  )
  await remove(api, `/reservations/${reserved.json.data.id}`)
  assert.deepEqual(await getOversold(), [])
})

test('an order of sold units raises an alert at the next sync', async () => {
  await setStock(1)
  sellAtTill(1)
  assert.equal((await post(api, '/orders', buildOrder())).status, 201)
  await shop.sync('stock', { full: false })
  assert.equal((await getOversold()).length, 1)
  assert.equal((await getLevel()).freeStock, -1)
  await setStock(1)
  assert.deepEqual(await getOversold(), [])
})

test('stock requested before an order does not free its units', async () => {
  await setStock(1)
  simulator.faults.add({ kind: 'latency', path, seconds: 0.5, applied: true })
  const live = reserve(1)
  const ordered = await post(api, '/orders', buildOrder())
  assert.equal(ordered.status, 201, ordered.text)
  assertProblem(await live, 'insufficient_stock', api.baseUrl)
  assert.equal((await getLevel()).freeStock, 0)
})

test('a live reservation can have at most 20 lines', async () => {
  const lines = Array.from({ length: 21 }, (_, i) => ({ sku: `S${i}`, quantity: 1 }))
  const response = await post(api, '/reservations', { lines, live: true })
  assertProblem(response, 'invalid_field', api.baseUrl)
  assert.equal(countCalls(), 0)
})
