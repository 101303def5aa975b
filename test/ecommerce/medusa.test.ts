import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { type MedusaSimulator, startMedusaSimulator } from '../../simulator/medusa/simulator.ts'
import { findMedusaLevel } from '../../simulator/medusa/state.ts'
import { sql } from '../../src/database/db.ts'
import { defaultConnection, fixedFields } from '../../src/domain/ecommerce/connection-settings.ts'
import { runPlatformSync } from '../../src/ecommerce/run-platform-sync.ts'
import { listAlerts } from '../../src/store/alerts/alerts.ts'
import { setConnection } from '../../src/store/ecommerce/connections.ts'
import { upsertGateways } from '../../src/store/tenancy/gateways.ts'
import { createUnmappedShop } from '../support/mapping-shop.ts'
import { captureLog } from '../support/servers.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'
import { put } from '../support/write.ts'
import { openStockSteps, type StockSteps } from './connected-shop.ts'

let api: TestApi
let simulator: MedusaSimulator
let shop: Caller
let steps: StockSteps
let productId: string
let locations: [string, string]
/** Variants and inventory items by SKU. */
let variants: Record<string, { id: string; itemId: string }>

before(async () => {
  api = await startTestApi()
})
after(() => api?.stop())
afterEach(() => simulator.close())

beforeEach(async () => {
  simulator = await startMedusaSimulator()
  shop = await createUnmappedShop(api, { fulfilment: 'manual' })
  await upsertGateways(api.db, shop.service, [{ name: 'paypal' }])
  steps = openStockSteps(api, shop)
  locations = [
    simulator.change({ kind: 'location', name: 'Collins Street' }),
    simulator.change({ kind: 'location', name: 'Bourke Street' }),
  ]
  productId = simulator.change({ kind: 'product', title: 'Hoodie' })
  variants = {}
  for (const sku of ['12001', '12002', '12003']) addVariant(sku, 3)
  for (const [at, storeId] of ['1001', '1002'].entries())
    await put(shop, `/mappings/stores/${storeId}`, { ecommerceLocationId: locations[at] })
  await connect()
  await sync('ecommerce-locations')
  await sync('ecommerce-variants')
  await reconcile()
  assert.equal(await push(), 'finished')
  simulator.calls.length = 0
})

function addVariant(sku: string, units: number, kitUnits?: number): string {
  const id = simulator.change({ kind: 'variant', productId, sku, ...(kitUnits !== undefined && { kitUnits }) })
  const itemId = simulator.shop.variants.get(id)?.inventory_items[0]?.inventory_item_id ?? assert.fail()
  for (const locationId of locations) simulator.change({ kind: 'count', itemId, locationId, units })
  variants[sku] = { id, itemId }
  return id
}

const connect = () =>
  api.db.transaction(tx =>
    setConnection(
      tx,
      api.keys,
      shop.service,
      { ...defaultConnection, ...fixedFields.medusa, driver: 'medusa', url: simulator.url, stockPush: 'on' },
      simulator.token,
    ),
  )
const sync: StockSteps['sync'] = (...stepArgs) => steps.sync(...stepArgs)
const reconcile = () => steps.reconcile()
const push = () => steps.push()
const setStock: StockSteps['setStock'] = (...stepArgs) => steps.setStock(...stepArgs)
const ageQuantities = () => steps.ageQuantities()
const findItemId = (sku: string) => variants[sku]?.itemId ?? assert.fail(`variant ${sku} not found`)
const getLevel = (sku: string, at = 0) =>
  findMedusaLevel(simulator.shop, findItemId(sku), locations[at] ?? '') ?? assert.fail(`${sku} has no level`)
const listWrites = () => simulator.calls.filter(({ method }) => method === 'POST')
const listItems = (kind: string) =>
  api.db.rows<{ id: string; value: string | null; other: string | null; isBundle: boolean | null; isActive: boolean }>(
    sql`select platform_id as id, ecommerce_id as value, other, is_bundle as "isBundle", is_active as "isActive"
          from ecommerce_item where service_id = ${shop.service.id} and kind = ${kind} order by item_key`,
  )

test('the first push sets absolute quantities in one batch', async () => {
  for (const sku of Object.keys(variants)) for (const at of [0, 1]) assert.equal(getLevel(sku, at).stocked_quantity, 7)
  await setStock('12001', 4)
  await setStock('12002', 5)
  assert.equal(await push(), 'finished')
  const [write, ...repeated] = listWrites()
  assert.deepEqual(repeated, [])
  assert.equal(write?.path, '/admin/inventory-items/location-levels/batch')
  const { update } = write.body as { update: object[] }
  assert.deepEqual(
    update.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    [
      { inventory_item_id: findItemId('12001'), location_id: locations[0], stocked_quantity: 4 },
      { inventory_item_id: findItemId('12002'), location_id: locations[0], stocked_quantity: 5 },
    ],
  )
  const { json } = await shop.get('/ecommerce')
  const { driver, apiVersion, due, points, subscriptions } = json.data
  assert.deepEqual([driver, apiVersion, due, points, subscriptions], ['medusa', null, 0, null, null])
})

test('a quantity that another system changed is read and corrected', async () => {
  simulator.change({ kind: 'count', itemId: findItemId('12001'), locationId: locations[0], units: 50 })
  await setStock('12001', 4)
  assert.equal(await push(), 'finished')
  assert.equal(getLevel('12001').stocked_quantity, 4)
  assert.equal(listWrites().length, 1)
})

test('a change between the read and the write is overwritten', async () => {
  const change = { kind: 'count', itemId: findItemId('12001'), locationId: locations[0], units: 50 } as const
  await setStock('12001', 4)
  simulator.faults.add({ kind: 'concurrent-change', method: 'POST', times: 1, change })
  assert.equal(await push(), 'finished')
  // Medusa has no compare-and-set, so the write overwrites the change.
  assert.equal(getLevel('12001').stocked_quantity, 4)
  await ageQuantities()
  assert.equal((await reconcile()).counts.drifted, 0)
})

test('reconciliation finds a change by another system', async () => {
  simulator.change({ kind: 'count', itemId: findItemId('12001'), locationId: locations[0], units: 50 })
  await ageQuantities()
  const { counts } = await reconcile()
  assert.deepEqual([counts.drifted, counts.falling], [1, 1])
  assert.equal(await push(), 'finished')
  await ageQuantities()
  assert.equal((await reconcile()).counts.drifted, 0)
  assert.equal(getLevel('12001').stocked_quantity, 7)
})

test('a fulfilment between the read and the write is corrected', async () => {
  const orderId = simulator.change({ kind: 'sell', itemId: findItemId('12001'), locationId: locations[0], units: 2 })
  await setStock('12001', 5)
  simulator.faults.add({ kind: 'concurrent-change', method: 'POST', times: 1, change: { kind: 'fulfil', id: orderId } })
  assert.equal(await push(), 'finished')
  assert.deepEqual([getLevel('12001').stocked_quantity, getLevel('12001').reserved_quantity], [5, 0])
  const rows = await api.db.rows<{ committed: number }>(
    sql`select observed_committed as committed from ecommerce_level
         where service_id = ${shop.service.id} and item_id = ${findItemId('12001')} and location_id = ${locations[0]}`,
  )
  assert.deepEqual(rows, [{ committed: 0 }])
})

test('units of a placed order stay on hand until they ship', async () => {
  const orderId = simulator.change({ kind: 'sell', itemId: findItemId('12001'), locationId: locations[0], units: 2 })
  await steps.placeOrder('12001', 2, orderId)
  assert.equal(await steps.confirmOrder(orderId), 1)
  assert.equal(await push(), 'finished')
  // Shoppers see 5 units, because 2 of the 7 on hand are reserved.
  assert.deepEqual([getLevel('12001').stocked_quantity, getLevel('12001').reserved_quantity], [7, 2])
  simulator.change({ kind: 'fulfil', id: orderId })
  assert.equal(await steps.confirmOrder(orderId), 0)
  assert.equal(await push(), 'finished')
  assert.equal(getLevel('12001').stocked_quantity, 5)
})

test('a lost response is never repeated: the level is read first', async () => {
  await setStock('12001', 4)
  simulator.faults.add({ kind: 'lost-response', method: 'POST', times: 1 })
  await assert.rejects(push(), { kind: 'unavailable' })
  assert.equal(getLevel('12001').stocked_quantity, 4)
  simulator.calls.length = 0
  assert.equal(await push(), 'finished')
  assert.deepEqual(listWrites(), [])
  await ageQuantities()
  assert.equal((await reconcile()).counts.drifted, 0)
})

test('a write that never arrived is computed and sent again', async () => {
  await setStock('12001', 4)
  simulator.faults.add({ kind: 'reset-before', method: 'POST', times: 1 })
  await assert.rejects(push(), { kind: 'unavailable' })
  await setStock('12001', 2)
  assert.equal(await push(), 'finished')
  assert.equal(getLevel('12001').stocked_quantity, 2)
})

test('an error from a proxy holds no level', async () => {
  await setStock('12001', 4)
  simulator.faults.add({ kind: 'status', status: 404, method: 'POST', times: 1 })
  await assert.rejects(push(), { kind: 'invalid' })
  assert.equal(await push(), 'finished')
  assert.equal(getLevel('12001').stocked_quantity, 4)
})

test('an item that is not stocked is stocked once there are units', async () => {
  const id = simulator.change({ kind: 'variant', productId, sku: 'NEW-1' })
  const itemId = simulator.shop.variants.get(id)?.inventory_items[0]?.inventory_item_id ?? assert.fail()
  await put(shop, '/mappings/skus/12001', { ecommerceSku: 'NEW-1' })
  await sync('ecommerce-variants')
  await setStock('12001', 0, '1002')
  assert.equal(await push(), 'finished')
  assert.equal(findMedusaLevel(simulator.shop, itemId, locations[0])?.stocked_quantity, 7)
  assert.equal(findMedusaLevel(simulator.shop, itemId, locations[1]), undefined)
})

test('a variant deleted during a push does not stop the others', async () => {
  const change = { kind: 'remove', list: 'variants', id: variants['12001']?.id ?? '' } as const
  await setStock('12001', 4)
  await setStock('12002', 5)
  simulator.faults.add({ kind: 'concurrent-change', method: 'POST', times: 1, change })
  assert.equal(await push(), 'finished')
  assert.equal(getLevel('12002').stocked_quantity, 5)
  const heldLevels = await shop.get('/ecommerce/levels?state=held')
  assert.deepEqual(
    heldLevels.json.data.map(({ itemId, reason }: { itemId: string; reason: string }) => [itemId, reason]),
    [[findItemId('12001'), 'not_found']],
  )
})

test('a change of a product reaches its variants in the next window', async () => {
  await sync('ecommerce-variants', { full: true })
  simulator.change({ kind: 'product', id: productId, title: 'Hoodie', status: 'draft' })
  assert.equal((await sync('ecommerce-variants'))?.result?.isFull, false)
  assert.deepEqual(
    (await listItems('skus')).map(({ isActive }) => isActive),
    [false, false, false],
  )
})

test('a full sync removes deleted customers and maps kits as bundles', async () => {
  const ids = ['a', 'b'].map(name => simulator.change({ kind: 'customer', email: `${name}@example.com` }))
  await sync('ecommerce-customers')
  simulator.change({ kind: 'remove', list: 'customers', id: ids[0] ?? '' })
  await sync('ecommerce-customers')
  assert.equal((await listItems('customers')).length, 2)
  await sync('ecommerce-customers', { full: true })
  assert.deepEqual(
    (await listItems('customers')).map(({ id, value, other }) => [id, value, other]),
    [[ids[1], ids[1], 'b@example.com']],
  )
  const kit = addVariant('KIT-1', 2, 3)
  await sync('ecommerce-variants')
  assert.deepEqual(
    (await listItems('skus')).filter(({ isBundle }) => isBundle).map(({ id }) => id),
    [kit],
  )
})

test('a list that shifts during the read loses no record', async () => {
  const ids = Array.from({ length: 250 }, (_, at) => simulator.change({ kind: 'customer', email: `${at}@example.com` }))
  const removed = ids.slice(0, 5)
  for (const id of removed)
    simulator.faults.add({
      kind: 'concurrent-change',
      path: '/admin/customers',
      offset: 99,
      change: { kind: 'remove', list: 'customers', id },
    })
  await sync('ecommerce-customers', { full: true })
  const stored = new Set((await listItems('customers')).map(({ id }) => id))
  for (const id of ids.slice(removed.length)) assert.ok(stored.has(id), `${id} is missing`)
})

test('a repeated page fails the sync and removes nothing', async () => {
  for (let at = 0; at < 150; at++) simulator.change({ kind: 'customer', email: `${at}@example.com` })
  await sync('ecommerce-customers', { full: true })
  simulator.faults.add({ kind: 'page-repeated', path: '/admin/customers' })
  await assert.rejects(sync('ecommerce-customers', { full: true }), { name: 'PlatformFailure' })
  assert.equal((await listItems('customers')).length, 150)
})

test('a fulfilment of a placed order is no drift', async () => {
  const orderId = simulator.change({ kind: 'sell', itemId: findItemId('12001'), locationId: locations[0], units: 2 })
  await steps.placeOrder('12001', 2, orderId)
  assert.equal(await steps.confirmOrder(orderId), 1)
  assert.equal(await push(), 'finished')
  simulator.change({ kind: 'fulfil', id: orderId })
  await ageQuantities()
  assert.equal((await reconcile()).counts.drifted, 0)
  assert.equal(await push(), 'finished')
  assert.equal(getLevel('12001').stocked_quantity, 5)
})

test('I7: nothing is written after the stock is in step', async () => {
  for (const name of ['ecommerce-locations', 'ecommerce-variants', 'ecommerce-customers'] as const)
    await sync(name, { full: true })
  await ageQuantities()
  await reconcile()
  assert.equal(await push(), 'finished')
  assert.ok(simulator.calls.length > 3)
  assert.deepEqual(listWrites(), [])
})

test('I8: the log has neither the key nor personal data', async () => {
  const captured = captureLog('trace')
  const email = 'canary@example.com'
  simulator.change({ kind: 'customer', email })
  simulator.faults.add({ kind: 'status', path: '/admin/customers', times: 1 })
  await runPlatformSync(api.db, api.keys, shop.service, 'ecommerce-customers', captured.log)
  simulator.revokeToken()
  await assert.rejects(runPlatformSync(api.db, api.keys, shop.service, 'ecommerce-customers', captured.log), {
    kind: 'denied',
  })
  const text = captured.text + JSON.stringify(await listAlerts(api.db))
  assert.match(text, /platform call failed, will retry/)
  for (const secret of [email, simulator.token, Buffer.from(`${simulator.token}:`).toString('base64')])
    assert.ok(!text.includes(secret))
})

test('I9: an older state never replaces a newer one', async () => {
  const id = simulator.change({ kind: 'customer', email: 'new@example.com' })
  await sync('ecommerce-customers')
  await api.db.run(sql`
    update ecommerce_item set platform_updated_at = platform_updated_at + interval '1 min'
     where service_id = ${shop.service.id} and platform_id = ${id}`)
  simulator.change({ kind: 'customer', id, email: 'old@example.com' })
  await sync('ecommerce-customers', { full: true })
  assert.deepEqual(
    (await listItems('customers')).map(({ other }) => other),
    ['new@example.com'],
  )
})

test('a revoked key raises an alert', async () => {
  await steps.runHourlyCheck()
  simulator.revokeToken()
  await assert.rejects(steps.runHourlyCheck(), { kind: 'denied' })
  const alerts = (await listAlerts(api.db)).filter(({ service }) => service === shop.service.name)
  assert.deepEqual(
    alerts.map(({ kind }) => kind),
    ['ecommerce_denied'],
  )
})
