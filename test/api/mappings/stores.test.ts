import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { renderStaleStock } from '../../../src/jobs/render-stock.ts'
import { upsertProducts } from '../../../src/store/catalog/products.ts'
import { upsertStock } from '../../../src/store/inventory/stock.ts'
import { assertRejected } from '../../support/customer-bodies.ts'
import { createUnmappedShop } from '../../support/mapping-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/service.ts'
import { put } from '../../support/write.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.stop())

const path = '/mappings/stores/1001'
const mapStore = (caller: Caller, id: string, ecommerceLocationId: string | null, headers = {}) =>
  put(caller, `/mappings/stores/${id}`, { ecommerceLocationId }, headers)
/** Lists the locations of inventory records as `SKU ID in store: location`. */
const listLocations = async (caller: Caller, query = '') =>
  (await caller.get(`/inventory${query}`)).json.data
    .map((record: Record<string, string>) => `${record.skuId} in ${record.storeNumber}: ${record.ecommerceLocationId}`)
    .sort()

test('a mapped store shows its location in the store and all inventory', async () => {
  const caller = await createUnmappedShop(api)
  assert.deepEqual((await caller.get(path)).json.data, {
    storeId: '1001',
    storeNumber: '101',
    name: 'Collins Street',
    ecommerceLocationId: null,
  })
  const { asOf } = (await caller.get('/inventory?limit=1')).json.meta
  const mapped = await mapStore(caller, '1001', '6884556842')
  assert.equal(mapped.status, 200, mapped.text)
  assert.equal(mapped.json.data.ecommerceLocationId, '6884556842')
  const response = await caller.get(path)
  assert.deepEqual([response.json, response.headers.etag], [mapped.json, mapped.headers.etag])
  assert.equal((await caller.get('/stores/101')).json.data.ecommerceLocationId, '6884556842')
  assert.equal((await caller.get('/stores/102')).json.data.ecommerceLocationId, null)
  const changed = ['12001', '12002', '12003'].map(skuId => `${skuId} in 101: 6884556842`)
  assert.deepEqual(await listLocations(caller, '?store_number=101'), changed)
  assert.deepEqual(await listLocations(caller, `?updated_after=${asOf}`), changed, 'only this stock must have changed')
})

test('several stores can share a location and null removes it', async () => {
  const caller = await createUnmappedShop(api)
  const listSharingStores = async () =>
    (await caller.get('/stores?ecommerce_location_id=one')).json.data.map((store: { storeId: string }) => store.storeId)
  for (const id of ['1001', '1002']) assert.equal((await mapStore(caller, id, 'one')).status, 200)
  assert.deepEqual(await listSharingStores(), ['1001', '1002'])
  const { asOf } = (await caller.get('/inventory?limit=1')).json.meta
  assert.equal((await mapStore(caller, '1002', null)).json.data.ecommerceLocationId, null)
  assert.deepEqual(await listSharingStores(), ['1001'])
  assert.deepEqual(
    await listLocations(caller, `?updated_after=${asOf}`),
    ['12001', '12002', '12003'].map(skuId => `${skuId} in 102: null`),
  )
})

test('large inventory is updated after the response, which does not wait', async () => {
  const caller = await createUnmappedShop(api)
  const skuIds = Array.from({ length: 2_001 }, (_, i) => `m${i}`)
  const more = {
    product: { productId: 'm', productCode: 'M', name: 'Many' },
    colour: { productId: 'm', colourId: 'c' },
  }
  const variants = skuIds.map(skuId => ({ productId: 'm', colourId: 'c', skuId, sizeCode: skuId, price: '1.00' }))
  await upsertProducts(
    api.db,
    caller.service,
    variants.map(variant => ({ ...more, variant })),
  )
  await upsertStock(
    api.db,
    caller.service,
    skuIds.map(skuId => ({ storeId: '1001', skuId, freeStock: 7 })),
  )
  const readInventory = async () => {
    const { text } = await caller.get('/inventory', { accept: 'application/x-ndjson' })
    const lines = text.trimEnd().split('\n')
    assert.equal(lines.length, skuIds.length + 6)
    const records = lines.map(line => JSON.parse(line))
    return new Set(records.map(record => [record.storeNumber, record.ecommerceLocationId, record.sellable].join()))
  }
  assert.equal((await mapStore(caller, '1001', '6884556842')).json.data.ecommerceLocationId, '6884556842')
  assert.equal((await put(caller, '/settings', { inventoryBuffer: 2 })).status, 200)
  assert.equal((await caller.get('/stores/101')).json.data.ecommerceLocationId, '6884556842')
  assert.deepEqual(await readInventory(), new Set(['101,,7', '102,,7']))
  await renderStaleStock(api.db, AbortSignal.timeout(60_000))
  assert.deepEqual(await readInventory(), new Set(['101,6884556842,5', '102,,5']))
})

test('an unchanged mapping updates no change timestamp', async () => {
  const caller = await createUnmappedShop(api)
  await mapStore(caller, '1001', 'one')
  const { asOf } = (await caller.get('/inventory?limit=1')).json.meta
  assert.equal((await mapStore(caller, '1001', 'one')).status, 200)
  assert.equal((await put(caller, path, {})).json.data.ecommerceLocationId, 'one')
  assert.deepEqual(await listLocations(caller, `?updated_after=${asOf}`), [])
  assert.equal((await mapStore(caller, '1001', '')).json.data.ecommerceLocationId, null)
})

test('a mapping changed by another account is not overwritten', async () => {
  const caller = await createUnmappedShop(api, { requireIfMatch: true })
  const { etag } = (await caller.get(path)).headers
  assert.equal((await caller.get(path, { 'if-none-match': etag })).status, 304)
  assertProblem(await mapStore(caller, '1001', 'one'), 'precondition_required', api.baseUrl)
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_, i) => mapStore(caller, '1001', `location ${i}`, { 'if-match': etag })),
  )
  const [winner, ...losers] = responses.toSorted((a, b) => a.status - b.status)
  assert.equal(winner?.status, 200)
  for (const response of losers) assertProblem(response, 'precondition_failed', api.baseUrl)
  assert.deepEqual((await caller.get(path)).json, winner?.json)
})

test('an invalid location is rejected by name', async () => {
  const caller = await createUnmappedShop(api)
  const putLocation = (body: unknown) => put(caller, path, body)
  assertRejected(api, await putLocation({ ecommerceLocationId: 6884556842 }), 'invalid_body', '/ecommerceLocationId')
  const more = { ecommerceLocationId: '1', storeId: '1002', name: 'Other' }
  assertRejected(api, await putLocation(more), 'invalid_body', '/storeId', '/name')
  for (const ecommerceLocationId of ['x'.repeat(101), 'a\u0000b'])
    assertRejected(api, await putLocation({ ecommerceLocationId }), 'invalid_field', '/ecommerceLocationId')
  assert.equal((await caller.get(path)).json.data.ecommerceLocationId, null)
})

test('only an admin can map, and the audit records the account', async () => {
  const adminCaller = await createUnmappedShop(api)
  for (const role of ['visitor', 'maintainer'] as const) {
    const caller = await api.createAccount(role, adminCaller.service)
    for (const response of [
      await caller.get('/mappings/stores'),
      await caller.get(path),
      await mapStore(caller, '1001', 'one'),
    ])
      assertProblem(response, 'insufficient_role', api.baseUrl)
  }
  assertProblem(await mapStore(adminCaller, '101', 'one'), 'not_found', api.baseUrl)
  await mapStore(adminCaller, '1001', 'one', { 'x-request-id': 'mapping' })
  const [{ id: _, at: __, ...entry }, ...more] = (await adminCaller.get('/audit')).json.data
  assert.deepEqual(
    [entry, more],
    [
      {
        username: adminCaller.username,
        operation: 'PUT /mappings/stores/:id',
        subject: path,
        fields: ['ecommerceLocationId'],
        changes: [{ field: 'ecommerceLocationId', before: null, after: 'one' }],
        requestId: 'mapping',
        agent: null,
        apiKey: null,
      },
      [],
    ],
  )
})
