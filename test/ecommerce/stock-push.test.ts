import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { startShopifySimulator } from '../../simulator/shopify/simulator.ts'
import { computeOnHand, findLevel } from '../../simulator/shopify/state.ts'
import { sql } from '../../src/database/db.ts'
import { pushStock } from '../../src/ecommerce/stock-push/push.ts'
import { listAlerts } from '../../src/store/alerts/alerts.ts'
import { storeCommitments } from '../../src/store/ecommerce/commitments.ts'
import { approvePush } from '../../src/store/ecommerce/push-state.ts'
import { readDatabaseTime } from '../../src/store/lists/change-timestamp.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { post, withKey } from '../support/write.ts'
import { type ConnectedShop, connectShop, log, options } from './connected-shop.ts'

const simulator = await startShopifySimulator({ size: { locations: 2, variants: 0, customers: 0 } })
let api: TestApi
let fixture: ConnectedShop
let shop: ConnectedShop['shop']
let locations: ConnectedShop['locations']
let items: ConnectedShop['items']

before(async () => {
  api = await startTestApi()
})
after(async () => {
  await simulator.close()
  await api?.stop()
})
beforeEach(async () => {
  fixture = await connectShop(api, simulator)
  ;({ shop, locations, items } = fixture)
})

const addVariant: ConnectedShop['addVariant'] = (...stepArgs) => fixture.addVariant(...stepArgs)
const sync: ConnectedShop['sync'] = (...stepArgs) => fixture.sync(...stepArgs)
const reconcile = () => fixture.reconcile()
const push = () => fixture.push()
const setStock: ConnectedShop['setStock'] = (...stepArgs) => fixture.setStock(...stepArgs)
const getLevel: ConnectedShop['getLevel'] = (...stepArgs) => fixture.getLevel(...stepArgs)
const sell: ConnectedShop['sell'] = (...stepArgs) => fixture.sell(...stepArgs)
const placeOrder: ConnectedShop['placeOrder'] = (...stepArgs) => fixture.placeOrder(...stepArgs)
const refresh: ConnectedShop['refresh'] = (...stepArgs) => fixture.refresh(...stepArgs)
const ageQuantities = () => fixture.ageQuantities()
const getOnHand = (sku: string, at = 0) => computeOnHand(getLevel(sku, at))
const getAvailable = (sku: string, at = 0) => getLevel(sku, at).available
const listSetCalls = () => simulator.calls.filter(({ operation }) => operation === 'SetQuantities')
const countSetLevels = () =>
  listSetCalls().flatMap(({ variables }) => (variables as { input: { quantities: object[] } }).input.quantities).length

async function readReconciliation() {
  const response = await shop.get('/ecommerce')
  assert.equal(response.status, 200, response.text)
  return response.json.data.reconciliation
}
const listLevels = () =>
  api.db.rows<{ sku: string; reason: string | null; isDue: boolean }>(sql`
    select coalesce(i.ecommerce_id, '-') as sku, hold_reason as reason, due_at is not null as "isDue"
      from ecommerce_level l left join ecommerce_item i on i.service_id = l.service_id and i.inventory_item_id = l.item_id
     where l.service_id = ${shop.service.id} order by 1, 2`)

test('a push sets the sellable stock of each location', async () => {
  await setStock('12001', 5)
  assert.equal(await push(), 'finished')
  assert.deepEqual([getOnHand('12001'), getOnHand('12001', 1), getOnHand('12003')], [5, 7, 7])
  assert.equal(listSetCalls().length, 1)
  // I7: without a change, nothing is written.
  await push()
  assert.equal(listSetCalls().length, 1)
  assert.deepEqual((await reconcile()).counts.drifted, 0)
})

test('I1: sold units are not given back', async () => {
  await push()
  const order = sell('12001', 2)
  assert.deepEqual([getOnHand('12001'), getAvailable('12001')], [7, 5])
  // The order is not placed with us yet, so only the platform has subtracted the units.
  await setStock('12001', 6)
  await push()
  assert.deepEqual([getOnHand('12001'), getAvailable('12001')], [6, 4])
  await placeOrder('12001', 2, order)
  // Our stock of 4 excludes the units, but Tillbridge hasn't read yet that the platform has subtracted them too.
  await push()
  assert.equal(getAvailable('12001'), 2)
  assert.equal(await refresh(order), 1)
  await push()
  assert.deepEqual([getOnHand('12001'), getAvailable('12001')], [6, 4])
})

test("I1: a cancellation on the platform does not return an order's units", async () => {
  const order = sell('12001', 2)
  await placeOrder('12001', 2, order)
  await refresh(order)
  await push()
  assert.equal(getAvailable('12001'), 5)
  simulator.change({ kind: 'cancel', orderId: order })
  await setStock('12001', 9)
  await push()
  assert.deepEqual([getAvailable('12001'), getOnHand('12001')], [7, 7])
})

test('I1: a cancelled order of ours raises the stock once', async () => {
  const order = sell('12001', 2)
  const id = await placeOrder('12001', 2, order)
  await refresh(order)
  await push()
  assert.equal((await post(shop, `/orders/${id}/cancel`, {}, withKey())).status, 200)
  await push()
  // The platform still has the units committed.
  assert.deepEqual([getOnHand('12001'), getAvailable('12001')], [7, 5])
})

test('a fulfilment by the merchant is noticed before the next push', async () => {
  const order = sell('12001', 2)
  await placeOrder('12001', 2, order)
  await refresh(order)
  await push()
  assert.equal(getOnHand('12001'), 7)
  simulator.change({ kind: 'fulfil', orderId: order })
  await setStock('12001', 6)
  await push()
  assert.deepEqual([getOnHand('12001'), getAvailable('12001')], [4, 4])
})

test('a quantity is not sent if its facts have changed since', async () => {
  const order = sell('12001', 2)
  await placeOrder('12001', 2, order)
  await refresh(order)
  await push()
  await setStock('12001', 8)
  const earlier = listSetCalls().length
  let renewals = 0
  // Runs between the computation and the call.
  const renewLease = async () => {
    if (renewals++) return true
    simulator.change({ kind: 'fulfil', orderId: order })
    simulator.change({ kind: 'count', itemId: items['12001'] ?? 0, locationId: locations[0], available: 7 })
    await fixture.confirmOrder(String(order))
    return true
  }
  await pushStock(api.db, api.keys, shop.service, log, { ...options, renewLease })
  const quantities = listSetCalls()
    .slice(earlier)
    .flatMap(({ variables }) =>
      (variables as { input: { quantities: { quantity: number }[] } }).input.quantities.map(({ quantity }) => quantity),
    )
  // A quantity of 8 would include the 2 units that have shipped.
  assert.deepEqual([quantities, getOnHand('12001')], [[6], 6])
})

test('held-back units are read before each push', async () => {
  simulator.change({ kind: 'hold', itemId: items['12001'] ?? 0, locationId: locations[0], name: 'damaged', units: 2 })
  await reconcile()
  await push()
  assert.deepEqual([getOnHand('12001'), getAvailable('12001')], [9, 7])
  simulator.change({ kind: 'hold', itemId: items['12001'] ?? 0, locationId: locations[0], name: 'damaged', units: -2 })
  await setStock('12001', 6)
  await push()
  assert.deepEqual([getOnHand('12001'), getAvailable('12001')], [6, 6])
})

test('a count by the merchant is corrected after the compare-and-set fails', async () => {
  await push()
  simulator.change({ kind: 'count', itemId: items['12001'] ?? 0, locationId: locations[0], available: 40 })
  await setStock('12001', 5)
  await push()
  assert.equal(getOnHand('12001'), 5)
  assert.ok(simulator.calls.some(({ operation }) => operation === 'Levels'))
})

test('a lost response repeats the call under its key', async () => {
  simulator.faults.add({ kind: 'lost-response', path: '/SetQuantities', times: 1 })
  await push()
  assert.equal(getOnHand('12001'), 7)
  const keys = listSetCalls().map(({ variables }) => (variables as { key: string }).key)
  assert.deepEqual([keys.length, new Set(keys).size], [2, 1])
})

test('one invalid row is held with its reason; others are set', async () => {
  const [variant] = [...simulator.shop.variants.values()].filter(({ sku }) => sku === '12002')
  // The sync doesn't know yet that the variant is a bundle.
  if (variant) variant.requiresComponents = true
  await push()
  assert.deepEqual([getOnHand('12001'), getOnHand('12002'), getOnHand('12003')], [7, 3, 7])
  assert.deepEqual(
    (await listLevels()).filter(({ reason }) => reason !== null),
    [
      { sku: '12002', reason: 'NON_MUTABLE_INVENTORY_ITEM', isDue: false },
      { sku: '12002', reason: 'NON_MUTABLE_INVENTORY_ITEM', isDue: false },
    ],
  )
})

test('I10: what is not pushed is held with a reason', async () => {
  addVariant('12002', 4)
  addVariant('OTHER', 4)
  for (const { sku, id } of [...simulator.shop.variants.values()])
    if (sku === '12003') simulator.change({ kind: 'variant', id, tracked: false })
  simulator.change({ kind: 'location', id: locations[1], isActive: false })
  await sync('ecommerce-variants', { full: true })
  await sync('ecommerce-locations')
  await reconcile()
  await push()
  assert.deepEqual([getOnHand('12001'), getOnHand('12001', 1), getOnHand('12002'), getOnHand('12003')], [7, 3, 3, 3])
  const reasons = Map.groupBy(await listLevels(), ({ reason }) => reason)
  assert.deepEqual(
    [...reasons].map(([reason, held]) => [reason, held.length]).toSorted(),
    [
      ['duplicate', 4],
      ['inactiveLocation', 1],
      [null, 1],
      ['unmapped', 2],
      ['untracked', 2],
    ].toSorted(),
  )
})

test('an item is stocked only at locations with sellable units', async () => {
  await setStock('12002', 0)
  for (const sku of ['12001', '12002']) simulator.shop.levels.get(items[sku] ?? 0)?.delete(locations[0])
  await reconcile()
  await push()
  assert.equal(getOnHand('12001'), 7)
  assert.equal(findLevel(simulator.shop, items['12002'] ?? 0, locations[0]), undefined)
})

test('falling quantities are sent before rising ones', async () => {
  for (let i = 0; i < 300; i++) addVariant(`X${i}`, 0)
  await push()
  simulator.set({ bucketPoints: 2_000 })
  await setStock('12001', 9)
  await setStock('12002', 0)
  await api.db.run(
    sql`update ecommerce_level set due_at = now() - interval '1 hour' where service_id = ${shop.service.id} and due_rank = 2`,
  )
  await push()
  assert.deepEqual([getOnHand('12001'), getOnHand('12002')], [9, 0])
})

test('a push that would empty most levels stops until it is approved', async () => {
  await setStock('12001', 7)
  await api.db.run(sql`
    insert into ecommerce_level (service_id, connection_id, location_id, item_id, known_on_hand, due_at, due_rank)
    select ${shop.service.id}, 'main', 'gid://shopify/Location/1', 'gid://shopify/InventoryItem/' || i, 5, now(), 0 from generate_series(1, 30) i`)
  const listAlertKinds = async () =>
    (await listAlerts(api.db)).filter(({ service }) => service === shop.service.name).map(({ kind }) => kind)
  assert.equal(await push(), 'stopped')
  assert.deepEqual([getOnHand('12001'), await listAlertKinds()], [3, ['stock_push_stopped']])
  await approvePush(api.db, shop.service)
  assert.equal(await push(), 'finished')
  assert.deepEqual([getOnHand('12001'), await listAlertKinds()], [7, []])
})

test('a killed push is finished under its key; older ones are read', async () => {
  await setStock('12001', 5)
  const controller = new AbortController()
  simulator.faults.add({ kind: 'lost-response', path: '/SetQuantities' })
  setTimeout(() => controller.abort(), 1_500)
  await assert.rejects(pushStock(api.db, api.keys, shop.service, log, { ...options, signal: controller.signal }))
  const getLastKey = () => (listSetCalls().at(-1)?.variables as { key: string } | undefined)?.key
  const sentKey = getLastKey()
  simulator.faults.clear()
  await push()
  assert.deepEqual([getLastKey(), getOnHand('12001')], [sentKey, 5])
  await setStock('12001', 4)
  simulator.faults.add({ kind: 'reset-before', path: '/SetQuantities' })
  const again = new AbortController()
  setTimeout(() => again.abort(), 1_500)
  await assert.rejects(pushStock(api.db, api.keys, shop.service, log, { ...options, signal: again.signal }))
  const lost = getLastKey()
  simulator.faults.clear()
  await api.db.run(
    sql`update ecommerce_level set sent_at = now() - interval '1 hour' where idempotency_key is not null`,
  )
  await push()
  assert.notEqual(getLastKey(), lost)
  assert.equal(getOnHand('12001'), 4)
})

test('I6: nothing is throttled, and costs are as predicted', async () => {
  for (let i = 0; i < 400; i++) addVariant(`Y${i}`, 1)
  await push()
  assert.ok(countSetLevels() >= 6)
  assert.ok(simulator.calls.every(({ isThrottled }) => !isThrottled))
})

test('I9: an older read of an order never replaces a newer one', async () => {
  const order = sell('12001', 2)
  await placeOrder('12001', 2, order)
  const [orderIds, earlier] = [[String(order)], await readDatabaseTime(api.db)]
  await refresh(order)
  simulator.change({ kind: 'cancel', orderId: order })
  const units = [{ orderId: String(order), lineId: '1', locationId: 'l', itemId: 'i', units: 2 }]
  await refresh(order)
  await api.db.transaction(tx => storeCommitments(tx, shop.service, { orderIds, readAt: earlier, commitments: units }))
  assert.deepEqual(
    await api.db.rows(sql`select units from ecommerce_commitment where service_id = ${shop.service.id}`),
    [],
  )
})

test('reconciliation finds drift, names both sides, and the push corrects it', async () => {
  await push()
  await ageQuantities()
  simulator.change({ kind: 'count', itemId: items['12001'] ?? 0, locationId: locations[0], available: 40 })
  const { counts } = await reconcile()
  assert.deepEqual([counts.compared, counts.drifted, counts.falling], [6, 1, 1])
  const listAlertKinds = async () =>
    (await listAlerts(api.db)).filter(({ service }) => service === shop.service.name).map(({ kind }) => kind)
  assert.deepEqual(await listAlertKinds(), ['stock_drift'])
  const afterDrift = await readReconciliation()
  assert.deepEqual(
    await api.db.rows(
      sql`select known_on_hand as known, observed_on_hand as observed from ecommerce_drift where service_id = ${shop.service.id}`,
    ),
    [{ known: 7, observed: 40 }],
  )
  assert.deepEqual(
    afterDrift.digests.map(({ known, observed }: Record<string, string>) => known === observed),
    [false, true],
  )
  await push()
  assert.equal(getOnHand('12001'), 7)
  await ageQuantities()
  // I2: after quiet, nothing differs and the digests are equal.
  assert.equal((await reconcile()).counts.drifted, 0)
  const afterCorrection = await readReconciliation()
  assert.ok(afterCorrection.digests.every(({ known, observed }: Record<string, string>) => known === observed))
  assert.deepEqual([afterCorrection.compared, await listAlertKinds()], [6, []])
})

test('a fulfilment by the merchant is no drift', async () => {
  const order = sell('12001', 2)
  await placeOrder('12001', 2, order)
  await refresh(order)
  await push()
  await ageQuantities()
  simulator.change({ kind: 'fulfil', orderId: order })
  assert.equal((await reconcile()).counts.drifted, 0)
  await push()
  assert.deepEqual([getOnHand('12001'), getAvailable('12001')], [5, 5])
})

test('an incomplete bulk result changes nothing', async () => {
  await push()
  await ageQuantities()
  simulator.change({ kind: 'count', itemId: items['12001'] ?? 0, locationId: locations[0], available: 40 })
  const previous = await listLevels()
  for (const kind of ['bulk-half', 'bulk-expired'] as const) {
    simulator.faults.add({ kind, path: '/bulk-file', times: 1 })
    await assert.rejects(reconcile(), { name: 'PlatformFailure' })
  }
  assert.deepEqual(await listLevels(), previous)
  const failed = await readReconciliation()
  assert.equal(failed.state, 'failed')
})

test('I10: the API counts what is due and held', async () => {
  const maintainer = await api.createAccount('maintainer', shop.service)
  assert.equal((await maintainer.get('/ecommerce')).status, 403)
  const order = sell('12001', 2)
  await placeOrder('12001', 2, order)
  await refresh(order)
  await push()
  const { data } = (await shop.get('/ecommerce')).json
  assert.deepEqual(
    [data.stockPush, data.isStopped, data.due, data.held, data.inFlight, data.inStep, data.openCommitments],
    ['on', false, 0, [], 0, 6, 1],
  )
  const queued = await post(shop, '/ecommerce/reconciliations', {}, withKey())
  assert.deepEqual([queued.status, queued.json.data.reconciliation.state], [202, 'queued'])
  await reconcile()
  const done = await readReconciliation()
  assert.equal(done.state, 'completed')
  const other = await api.createService()
  assert.equal((await other.get('/ecommerce')).status, 409)
})

test('the hourly check warns of missing scopes and an ending API version', async context => {
  const listAlertKinds = async () =>
    (await listAlerts(api.db))
      .filter(({ service }) => service === shop.service.name)
      .map(({ kind }) => kind)
      .toSorted()
  await fixture.runHourlyCheck()
  assert.deepEqual(await listAlertKinds(), [])
  simulator.set({ scopes: simulator.settings.scopes.filter(scope => scope !== 'write_inventory') })
  await fixture.runHourlyCheck()
  assert.deepEqual(await listAlertKinds(), ['scope_missing'])
  simulator.set({ scopes: [...simulator.settings.scopes, 'write_inventory'] })
  await fixture.runHourlyCheck()
  assert.deepEqual(await listAlertKinds(), [])
  // API version 2026-07 is supported until 2027-07-01.
  context.mock.timers.enable({ apis: ['Date'], now: Date.parse('2027-05-01') })
  await fixture.runHourlyCheck()
  context.mock.timers.reset()
  assert.deepEqual(await listAlertKinds(), ['api_version_ending'])
})

test('one of two processes renews an expired token', async () => {
  await push()
  simulator.revokeTokens()
  await api.db.run(
    sql`update ecommerce_connection set token_expires_at = now() - interval '1 s' where service_id = ${shop.service.id}`,
  )
  const granted = simulator.grantedTokens
  await setStock('12001', 3)
  // Each run has its own driver, as separate processes have. The token lease is in the database.
  await Promise.all([push(), reconcile()])
  assert.equal(simulator.grantedTokens - granted, 1)
  assert.equal(getOnHand('12001'), 3)
})
