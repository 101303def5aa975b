import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { parse } from 'graphql'
import { pino } from 'pino'
import { predictCost } from '../../simulator/shopify/cost.ts'
import { openVersion } from '../../simulator/shopify/execute.ts'
import { startShopifySimulator } from '../../simulator/shopify/simulator.ts'
import { sql } from '../../src/database/db.ts'
import { defaultConnection, type PlatformSyncName } from '../../src/domain/ecommerce/connection-settings.ts'
import { openPlatform } from '../../src/ecommerce/connections.ts'
import { runPlatformSync } from '../../src/ecommerce/run-platform-sync.ts'
import { operations } from '../../src/ecommerce/shopify/documents/documents.ts'
import { checkMappingsRegularly } from '../../src/jobs/check-mappings.ts'
import { listAlerts } from '../../src/store/alerts/alerts.ts'
import { deleteConnection, setConnection } from '../../src/store/ecommerce/connections.ts'
import { storeEvent } from '../../src/store/ecommerce/events.ts'
import { upsertPlatformItems } from '../../src/store/ecommerce/items.ts'
import { openItemImport, upsertItems } from '../../src/store/mappings/platform-items.ts'
import { createUnmappedShop } from '../support/mapping-shop.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'
import { post } from '../support/write.ts'

const log = pino({ level: 'silent' })
const simulator = await startShopifySimulator({ size: { locations: 2, variants: 0, customers: 0 } })
let api: TestApi
let shop: Caller
before(async () => {
  api = await startTestApi()
})
after(async () => {
  await simulator.close()
  await api?.stop()
})
beforeEach(async () => {
  simulator.reset()
  shop = await createUnmappedShop(api)
  await connect()
})

const connect = (settings: { autoMapping?: 'off' | 'exact'; url?: string } = {}) =>
  api.db.transaction(tx =>
    setConnection(
      tx,
      api.keys,
      shop.service,
      { ...defaultConnection, url: simulator.url, clientId: simulator.settings.clientId, ...settings },
      simulator.settings.clientSecret,
    ),
  )
const sync = (name: PlatformSyncName, options = {}) =>
  runPlatformSync(api.db, api.keys, shop.service, name, log, options)
const syncVariants = async (options = {}) =>
  (await sync('ecommerce-variants', options))?.result ?? assert.fail('no run')
const listItems = (kind: string) =>
  api.db.rows<{ id: string; other: string | null }>(
    sql`select ecommerce_id as id, other from ecommerce_item where service_id = ${shop.service.id} and kind = ${kind} order by 1`,
  )
const runMappingCheck = () =>
  checkMappingsRegularly({
    db: api.db,
    keys: api.keys,
    log,
    service: shop.service,
    signal: new AbortController().signal,
    reschedule() {},
  } as unknown as Parameters<typeof checkMappingsRegularly>[0])
const getSku = async (skuId: string) =>
  (
    await api.db.row<{ sku: string }>(
      sql`select sku from variant where service_id = ${shop.service.id} and sku_id = ${skuId}`,
    )
  )?.sku

test('the predicted cost of each operation is what the platform requests', () => {
  for (const { document, cost, name } of Object.values(operations))
    assert.equal(predictCost(openVersion('2026-07').schema, parse(document), {}), cost, name)
})

test('locations, variants and customers become platform items', async () => {
  simulator.change({ kind: 'variant', sku: 'MH01-S', barcode: '93001' })
  simulator.change({ kind: 'variant', sku: null })
  simulator.change({ kind: 'customer', email: 'john@example.com', firstName: 'John' })
  await sync('ecommerce-locations')
  const { read, inserted, notes } = await syncVariants()
  await sync('ecommerce-customers')
  assert.deepEqual([read, inserted, notes], [2, 1, { 'without a SKU: not stored': 1 }])
  assert.deepEqual(await listItems('skus'), [{ id: 'MH01-S', other: '93001' }])
  assert.deepEqual(
    (await listItems('stores')).map(({ other }) => other),
    ['Store 1', 'Store 2'],
  )
  assert.deepEqual(
    (await listItems('customers')).map(({ other }) => other),
    ['john@example.com'],
  )
  const syncs = (await shop.get('/syncs')).json.data.filter(({ origin }: { origin: string }) => origin === 'ecommerce')
  assert.deepEqual(
    syncs.map(({ sync: name, state, intervalSeconds }: Record<string, unknown>) => [name, state, intervalSeconds]),
    [
      ['ecommerce-locations', 'ok', 3_600],
      ['ecommerce-variants', 'ok', 300],
      ['ecommerce-customers', 'ok', 900],
    ],
  )
  const stored = JSON.stringify(await api.db.rows(sql`select to_json(e) as e from ecommerce_item e`))
  assert.doesNotMatch(stored, /"John"/)
})

test('a full sync uses a bulk operation, the next run reads changes', async () => {
  for (let i = 0; i < 300; i++) simulator.change({ kind: 'variant', sku: `A${i}` })
  assert.equal((await syncVariants()).isFull, true)
  assert.deepEqual(
    simulator.calls.map(({ operation }) => operation),
    ['BulkQuery', 'Bulk'],
  )
  const [variant] = simulator.shop.variants.values()
  simulator.change({ kind: 'variant', id: variant?.id ?? 0, sku: 'A0', barcode: '77' })
  const second = await syncVariants()
  assert.deepEqual([second.isFull, second.changed], [false, 1])
  const { query } = (simulator.calls.at(-1) ?? assert.fail('no call')).variables as { query: string }
  assert.match(query, /^updated_at:>='\d{4}-\d\d-\d\dT[\d:]+Z'$/)
  assert.ok(simulator.calls.every(({ isThrottled }) => !isThrottled))
})

test('a deleted variant disappears with a full sync, unless most are missing', async () => {
  for (let i = 0; i < 50; i++) simulator.change({ kind: 'variant', sku: `A${String(i).padStart(2, '0')}` })
  await syncVariants()
  const ids = [...simulator.shop.variants.keys()]
  simulator.change({ kind: 'remove', type: 'variant', id: ids[0] ?? 0 })
  assert.equal((await syncVariants({ full: true })).removed, 1)
  for (const id of ids.slice(1, 40)) simulator.change({ kind: 'remove', type: 'variant', id })
  const { removed, notes } = await syncVariants({ full: true })
  assert.equal(removed, 0)
  assert.match(Object.keys(notes).join(), /missing from the ecommerce-skus list, but kept/)
  assert.equal((await listItems('skus')).length, 49)
})

test('an incomplete or failed bulk result changes nothing', async () => {
  for (let i = 0; i < 30; i++) simulator.change({ kind: 'variant', sku: `A${i}` })
  await syncVariants()
  for (const kind of ['bulk-half', 'bulk-expired'] as const) {
    simulator.faults.add({ kind, path: '/bulk-file', times: 1 })
    await assert.rejects(syncVariants({ full: true }), { name: 'PlatformFailure' })
  }
  simulator.faults.add({ kind: 'bulk-failed', path: '/Bulk', times: 1 })
  await assert.rejects(syncVariants({ full: true }), /ended as FAILED/)
  assert.equal((await listItems('skus')).length, 30)
})

test('repeated, shuffled and unfiltered pages lose nothing', async () => {
  for (let i = 0; i < 300; i++) simulator.change({ kind: 'variant', sku: `A${i}`, updatedAt: Date.now() - 3_600_000 })
  await syncVariants()
  for (const { id, sku } of [...simulator.shop.variants.values()])
    simulator.change({ kind: 'variant', id, sku, barcode: '1' })
  simulator.faults.add({ kind: 'page-repeated', path: '/Variants', times: 2 })
  await assert.rejects(syncVariants(), /returned a record twice/)
  simulator.faults.clear()
  simulator.faults.add({ kind: 'page-shuffled', path: '/Variants' })
  await syncVariants()
  assert.equal((await listItems('skus')).filter(({ other }) => other === '1').length, 300)
  simulator.faults.clear()
  for (let i = 0; i < 3; i++) simulator.change({ kind: 'variant', sku: `B${i}`, updatedAt: Date.now() - 3_600_000 })
  simulator.faults.add({ kind: 'filter-ignored', path: '/Variants' })
  await assert.rejects(syncVariants(), /outside the requested window/)
})

test('a lost response, a 502, throttling or a revoked token is retried', async () => {
  await syncVariants()
  // Faults are tested one by one, because several faults of one request would hide each other.
  for (const [at, kind] of (['lost-response', 'status', 'throttled', 'token-rejected'] as const).entries()) {
    simulator.change({ kind: 'variant', sku: `A${at}` })
    const fault = simulator.faults.add({ kind, path: '/Variants', times: 1 })
    await syncVariants()
    assert.equal(fault.matchCount, 1, kind)
    assert.equal((await listItems('skus')).length, at + 1, kind)
  }
})

test('rejected credentials and a missing scope raise alerts that resolve', async () => {
  const listAlertKinds = async () =>
    (await listAlerts(api.db))
      .filter(({ service }) => service === shop.service.name)
      .map(({ kind }) => kind)
      .toSorted()
  simulator.set({ scopes: ['read_products'] })
  await assert.rejects(sync('ecommerce-customers'), /FAILED \(ACCESS_DENIED\)/)
  simulator.revokeTokens()
  simulator.set({ clientSecret: 'other' })
  await assert.rejects(sync('ecommerce-customers'), /rejected the client ID or the secret/)
  assert.deepEqual(await listAlertKinds(), ['ecommerce_denied', 'scope_missing'])
  simulator.reset()
  await sync('ecommerce-customers')
  assert.deepEqual(await listAlertKinds(), [])
})

test('only the sync that lacked a scope resolves its alert', async () => {
  const listAlertKinds = async () =>
    (await listAlerts(api.db))
      .filter(({ service }) => service === shop.service.name)
      .map(({ kind, subject }) => [kind, subject])
  simulator.set({ scopes: ['read_products', 'read_inventory', 'read_locations'] })
  await assert.rejects(sync('ecommerce-customers'), /FAILED \(ACCESS_DENIED\)/)
  await sync('ecommerce-locations')
  assert.deepEqual(await listAlertKinds(), [['scope_missing', 'ecommerce-customers']])
  simulator.reset()
  await sync('ecommerce-customers')
  assert.deepEqual(await listAlertKinds(), [])
})

test('concurrent runs work while the token is renewed', async () => {
  await Promise.all([sync('ecommerce-locations'), sync('ecommerce-variants'), sync('ecommerce-customers')])
  simulator.clock.advance(90_000)
  const platforms = await Promise.all([1, 2, 3].map(() => openPlatform(api.db, api.keys, shop.service, log)))
  await api.db.run(
    sql`update ecommerce_connection set token_expires_at = now() - interval '1 s' where service_id = ${shop.service.id}`,
  )
  const signal = AbortSignal.timeout(30_000)
  await Promise.all(platforms.map(opened => opened?.platform.probe(signal)))
  assert.ok(simulator.calls.every(({ status }) => status === 200))
})

test('a renamed SKU keeps its mapping by an undoable fix', async () => {
  const id = simulator.change({ kind: 'variant', sku: '12001' })
  await syncVariants()
  await runMappingCheck()
  simulator.change({ kind: 'variant', id, sku: 'NEW-1' })
  await syncVariants()
  assert.equal(await getSku('12001'), 'NEW-1')
  const [fix] = (await shop.get('/mappings/fixes')).json.data
  assert.deepEqual([fix.recordId, fix.username, fix.after.ecommerceSku], ['12001', 'tillbridge (e-commerce)', 'NEW-1'])
  assert.equal((await post(shop, `/mappings/fixes/${fix.id}/undo`, {})).status, 200)
  assert.equal(await getSku('12001'), '12001')
})

test('autoMapping maps a unique barcode once, and not after it was undone', async () => {
  await api.db.run(
    sql`update variant set barcode = case sku_id when '12001' then '111' else '222' end where service_id = ${shop.service.id}`,
  )
  simulator.change({ kind: 'variant', sku: 'P-1', barcode: '111' })
  simulator.change({ kind: 'variant', sku: 'P-2', barcode: '222' })
  await syncVariants()
  await runMappingCheck()
  assert.equal(await getSku('12001'), '12001')
  await connect({ autoMapping: 'exact' })
  await runMappingCheck()
  // Two SKUs have the barcode 222.
  assert.deepEqual([await getSku('12001'), await getSku('12002')], ['P-1', '12002'])
  const audit = (await shop.get('/audit')).json.data.find(({ username }: { username: string }) =>
    username.includes('e-commerce'),
  )
  assert.equal(audit.subject, '/mappings/skus/12001')
  const [fix] = (await shop.get('/mappings/fixes')).json.data
  await post(shop, `/mappings/fixes/${fix.id}/undo`, {})
  await runMappingCheck()
  assert.equal(await getSku('12001'), '12001')
})

test('an older state never replaces a newer one', async () => {
  const id = simulator.change({ kind: 'variant', sku: 'A1', barcode: 'new' })
  await syncVariants()
  simulator.change({ kind: 'variant', id, barcode: 'old', updatedAt: Date.now() - 60_000 })
  await syncVariants({ full: true })
  assert.deepEqual(await listItems('skus'), [{ id: 'A1', other: 'new' }])
})

test('clear removes the items and keeps the mappings', async () => {
  const id = simulator.change({ kind: 'variant', sku: '12001' })
  await syncVariants()
  simulator.change({ kind: 'variant', id, sku: 'NEW-1' })
  await syncVariants()
  simulator.revokeTokens()
  simulator.set({ clientSecret: 'other' })
  await assert.rejects(syncVariants(), /rejected the client ID or the secret/)
  await api.db.transaction(tx => deleteConnection(tx, shop.service))
  assert.deepEqual([await listItems('skus'), await getSku('12001')], [[], 'NEW-1'])
  assert.ok(!(await listAlerts(api.db)).some(({ service }) => service === shop.service.name))
  assert.equal(await sync('ecommerce-variants'), undefined)
})

test('another shop is read completely, and its items replace the previous ones', async () => {
  for (let i = 0; i < 30; i++) simulator.change({ kind: 'variant', sku: `A${i}` })
  await syncVariants()
  const other = await startShopifySimulator({ size: { locations: 0, variants: 1, customers: 0 }, seed: '2' })
  try {
    await connect({ url: other.url })
    assert.equal((await syncVariants()).isFull, true)
    assert.deepEqual(
      (await listItems('skus')).map(({ id }) => id),
      ['SIM-000001'],
    )
  } finally {
    await other.close()
  }
})

test('a file import that began before the connection removes no synced item', async () => {
  simulator.change({ kind: 'variant', sku: 'A1', barcode: '1' })
  await syncVariants()
  const endImport = await openItemImport('skus')(api.db, shop.service)
  await upsertItems('skus')(api.db, shop.service, [{ itemKey: 'B1', ecommerceId: 'B1', name: null, other: null }])
  assert.equal(await endImport({ isComplete: true, hasImportedLines: true }), 0)
  assert.deepEqual(
    (await listItems('skus')).map(({ id }) => id),
    ['A1', 'B1'],
  )
  await syncVariants({ full: true })
  assert.deepEqual(
    (await listItems('skus')).map(({ id }) => id),
    ['A1'],
  )
})

test('a file is rejected while the connection keeps the items current', async () => {
  const response = await shop.request('/imports?type=ecommerce-variants', {
    method: 'POST',
    headers: { 'content-type': 'text/csv' },
    body: 'sku\nA1\n',
  })
  assert.deepEqual(
    [response.status, response.json.errors?.[0]?.code ?? response.json.code],
    [409, 'capability_unavailable'],
  )
})

test('I9: an older list never restores a deleted item', async () => {
  const id = simulator.change({ kind: 'variant', sku: '12001' })
  const variant = simulator.shop.variants.get(id) ?? assert.fail()
  const product = simulator.shop.products.get(variant.productId) ?? assert.fail()
  await syncVariants()
  simulator.change({ kind: 'remove', type: 'variant', id })
  const subjectId = `gid://shopify/Product/${product.id}`
  await api.db.transaction(tx => storeEvent(tx, shop.service, { id: 'e1', target: 'ecommerce-variants', subjectId }))
  await syncVariants()
  assert.deepEqual(await listItems('skus'), [])
  // The search index of the platform still lists the variant.
  simulator.shop.variants.set(id, { ...variant, updatedAt: simulator.clock.now() })
  simulator.shop.products.set(product.id, product)
  await syncVariants()
  await syncVariants({ full: true })
  assert.deepEqual(await listItems('skus'), [])
})

test('I9: an item that only a full sync lacked can return', async () => {
  const id = simulator.change({ kind: 'variant', sku: '12001' })
  const variant = simulator.shop.variants.get(id) ?? assert.fail()
  simulator.change({ kind: 'variant', sku: '12002' })
  await syncVariants({ full: true })
  simulator.shop.variants.delete(id)
  await syncVariants({ full: true })
  assert.deepEqual(
    (await listItems('skus')).map(item => item.id),
    ['12002'],
  )
  const older = {
    kind: 'skus',
    itemKey: String(id),
    ecommerceId: '12001',
    name: null,
    other: null,
    platformId: `gid://shopify/ProductVariant/${id}`,
    updatedAt: new Date(simulator.clock.now()).toISOString(),
  } as const
  await upsertPlatformItems(api.db, shop.service, [older], { requestedAt: '2026-01-01T00:00:00Z' })
  assert.equal((await listItems('skus')).length, 1)
  simulator.shop.variants.set(id, variant)
  await syncVariants({ full: true })
  assert.deepEqual(
    (await listItems('skus')).map(item => item.id),
    ['12001', '12002'],
  )
})
