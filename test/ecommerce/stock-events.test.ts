import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { startShopifySimulator } from '../../simulator/shopify/simulator.ts'
import { computeOnHand } from '../../simulator/shopify/state.ts'
import { sql } from '../../src/database/db.ts'
import { getEventUrl, openPlatform } from '../../src/ecommerce/connections.ts'
import { waitUntil } from '../support/processes.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { type ConnectedShop, connectShop, log, signal } from './connected-shop.ts'
import { type PlatformWorker, startPlatformWorker } from './platform-worker.ts'

const simulator = await startShopifySimulator({ size: { locations: 2, variants: 0, customers: 0 } })
let api: TestApi
let fixture: ConnectedShop
let worker: PlatformWorker

before(async () => {
  api = await startTestApi()
  worker = await startPlatformWorker(api, { jobNames: ['schedule-stock-push', 'push-stock', 'check-levels'] })
})
after(async () => {
  await worker?.stop()
  await simulator.close()
  await api?.stop()
})
beforeEach(async () => {
  fixture = await connectShop(api, simulator)
  simulator.set({ trustedCertificate: api.ca })
  await fixture.connect({ stockPush: 'on', events: 'on' })
  await fixture.setStock('12001', 5)
  await waitUntil(() => getOnHand() === 5, 'the stock is pushed', 60_000)
  await waitUntil(async () => (await getLevelState()) === 'inStep', 'the push is recorded', 60_000)
  const opened = (await openPlatform(api.db, api.keys, fixture.shop.service, log)) ?? assert.fail('no connection')
  await opened.platform.events?.ensure(getEventUrl(api.baseUrl, fixture.shop.service), signal)
})

const getOnHand = () => computeOnHand(fixture.getLevel('12001'))
const getLevelState = async () => {
  const itemId = encodeURIComponent(`gid://shopify/InventoryItem/${fixture.items['12001']}`)
  const { data } = (await fixture.shop.get(`/ecommerce/levels?itemId=${itemId}`)).json
  return data.find(({ sellable }: { sellable: number }) => sellable === 5)?.state
}
const countStock = (available: number, by: { app?: string; staff?: string }) =>
  simulator.change({
    kind: 'count',
    itemId: fixture.items['12001'] ?? 0,
    locationId: fixture.locations[0],
    available,
    by,
  })
const listComparisons = async () => (await fixture.shop.get('/ecommerce/reconciliations')).json.data
const listDrift = async ({ id }: { id: string }) =>
  (await fixture.shop.get(`/ecommerce/reconciliations/${id}/drift`)).json.data
const listEvents = () =>
  api.db.rows<{ handled: boolean }>(sql`
    select handled_at is not null as handled from ecommerce_event where service_id = ${fixture.shop.service.id} and target = 'stock'`)

test('a count by another app is corrected at once', async () => {
  countStock(40, { app: 'Stocktake' })
  await waitUntil(() => getOnHand() === 5, 'the level is corrected', 60_000)
  const [newest] = await listComparisons()
  assert.deepEqual([newest.isPartial, newest.state, newest.drifted], [true, 'completed', 1])
  await waitUntil(async () => (await listDrift(newest))[0].changedBy === 'Stocktake', 'the author is read', 60_000)
  const [drift] = await listDrift(newest)
  assert.deepEqual([drift.sku, drift.knownOnHand, drift.observedOnHand], ['12001', 5, 40])
  const { reconciliation } = (await fixture.shop.get('/ecommerce')).json.data
  assert.equal(reconciliation.isPartial, false)
})

test('events of our own pushes are not stored', async () => {
  await fixture.setStock('12001', 7)
  await waitUntil(() => getOnHand() === 7, 'the stock is pushed', 60_000)
  await waitUntil(() => simulator.shop.deliveries.some(({ status }) => status === 200), 'the event is accepted', 60_000)
  assert.deepEqual(await listEvents(), [])
})

test('a sale and its fulfilment are read, and are no drift', async () => {
  const comparisonsBefore = (await listComparisons()).length
  const order = fixture.sell('12001', 2)
  await waitUntil(async () => (await listEvents()).some(({ handled }) => handled), 'the level is read', 60_000)
  const committed = await api.db.rows<{ units: number }>(sql`
    select observed_committed as units from ecommerce_level
     where service_id = ${fixture.shop.service.id} and item_id = ${`gid://shopify/InventoryItem/${fixture.items['12001']}`} and observed_committed > 0`)
  assert.deepEqual(committed, [{ units: 2 }])
  simulator.change({ kind: 'cancel', orderId: order })
  await waitUntil(
    async () => (await listEvents()).filter(({ handled }) => handled).length >= 2,
    'the level is read again',
    60_000,
  )
  assert.equal((await listComparisons()).length, comparisonsBefore)
  assert.equal(getOnHand(), 5)
})

test('a comparison without events names the staff member', async () => {
  simulator.faults.add({ kind: 'event-lost', path: '/events', times: 1 })
  countStock(41, { staff: 'Mia Chen' })
  await fixture.ageQuantities()
  const { id } = await fixture.reconcile()
  const [drift] = await listDrift({ id })
  assert.deepEqual([drift.observedOnHand, drift.changedBy], [41, 'Mia Chen'])
})

test('without the scope of reports, the author stays unknown', async () => {
  simulator.set({ scopes: simulator.settings.scopes.filter(scope => scope !== 'read_reports') })
  simulator.faults.add({ kind: 'event-lost', path: '/events', times: 1 })
  countStock(42, { app: 'Stocktake' })
  await fixture.ageQuantities()
  const { id } = await fixture.reconcile()
  const [drift] = await listDrift({ id })
  assert.deepEqual([drift.observedOnHand, drift.changedBy], [42, null])
})
