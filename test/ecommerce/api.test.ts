import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { startShopifySimulator } from '../../simulator/shopify/simulator.ts'
import { computeOnHand } from '../../simulator/shopify/state.ts'
import { sql } from '../../src/database/db.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { post, withKey } from '../support/write.ts'
import { type ConnectedShop, connectShop } from './connected-shop.ts'

const simulator = await startShopifySimulator({ size: { locations: 2, variants: 0, customers: 0 } })
let api: TestApi
let fixture: ConnectedShop
let shop: ConnectedShop['shop']
before(async () => {
  api = await startTestApi()
})
after(async () => {
  await simulator.close()
  await api?.stop()
})
beforeEach(async () => {
  fixture = await connectShop(api, simulator)
  ;({ shop } = fixture)
})

async function getList(path: string, caller = shop) {
  const response = await caller.get(path)
  assert.equal(response.status, 200, response.text)
  return response.json.data
}
const pushNow = (body = {}) => post(shop, '/ecommerce/push', body, withKey())
const countJobs = async () =>
  (await api.db.rows(sql`select from job where service_id = ${shop.service.id} and name = 'push-stock'`)).length
const toItemId = (sku: string) => `gid://shopify/InventoryItem/${fixture.items[sku]}`

test('I10: each level has its quantities, their parts and its reason', async () => {
  const order = fixture.sell('12001', 2)
  await fixture.placeOrder('12001', 2, order)
  await fixture.refresh(order)
  await fixture.push()
  await fixture.reconcile()
  const [level] = await getList(`/ecommerce/levels?itemId=${encodeURIComponent(toItemId('12001'))}`)
  assert.deepEqual(level, {
    itemId: toItemId('12001'),
    locationId: `gid://shopify/Location/${fixture.locations[0]}`,
    sku: '12001',
    state: 'inStep',
    reason: null,
    knownOnHand: 7,
    desiredOnHand: 7,
    sellable: 5,
    netted: 2,
    heldBack: 0,
    observedOnHand: 7,
    observedCommitted: 2,
    observedAt: level.observedAt,
    dueSince: null,
  })
  assert.ok(Date.parse(level.observedAt) > Date.now() - 60_000)
})

test('levels are filtered by state and reason, in pages', async () => {
  fixture.addVariant('OTHER', 4)
  await fixture.sync('ecommerce-variants')
  await fixture.reconcile()
  await fixture.push()
  await fixture.setStock('12002', 2)
  const countStates = async () => {
    const levels: Record<string, unknown>[] = await getList('/ecommerce/levels')
    return Object.fromEntries(
      Map.groupBy(levels, ({ state }) => state as string)
        .entries()
        .map(([state, levelsOfState]) => [state, levelsOfState.length]),
    )
  }
  assert.deepEqual(await countStates(), { held: 2, inStep: 6 })
  for (const [path, count] of [
    ['state=held', 2],
    ['reason=unmapped', 2],
    ['reason=bundle', 0],
    ['state=inStep', 6],
    ['state=due', 0],
    ['state=inFlight', 0],
  ] as const)
    assert.equal((await getList(`/ecommerce/levels?${path}`)).length, count, path)
  await api.db.run(sql`
    update ecommerce_level set (due_at, due_rank) = (now(), 1) where service_id = ${shop.service.id} and item_id = ${toItemId('12002')}`)
  const due = await getList('/ecommerce/levels?state=due')
  assert.deepEqual(
    due.map(({ sku, dueSince }: Record<string, string>) => [sku, typeof dueSince]),
    [
      ['12002', 'string'],
      ['12002', 'string'],
    ],
  )
  const levelKeys: string[] = []
  for (let cursor = ''; ; ) {
    const { data, meta } = (await shop.get(`/ecommerce/levels?limit=3${cursor && `&after_cursor=${cursor}`}`)).json
    levelKeys.push(...data.map((level: Record<string, string>) => `${level.itemId} ${level.locationId}`))
    if (!meta.hasNextPage) break
    cursor = meta.endCursor
  }
  assert.deepEqual([levelKeys.length, new Set(levelKeys).size], [8, 8])
})

test('comparisons are listed with the levels that others changed', async () => {
  await fixture.push()
  await fixture.ageQuantities()
  simulator.change({
    kind: 'count',
    itemId: fixture.items['12001'] ?? 0,
    locationId: fixture.locations[0],
    available: 40,
  })
  await fixture.reconcile()
  const [newest, first] = await getList('/ecommerce/reconciliations')
  assert.deepEqual([newest.state, newest.compared, newest.drifted, newest.falling], ['completed', 6, 1, 1])
  assert.deepEqual([first.drifted, first.rising], [0, 6])
  assert.equal(first.differences.length, 6)
  assert.deepEqual(newest.differences, [
    {
      sku: '12001',
      itemId: toItemId('12001'),
      locationId: `gid://shopify/Location/${fixture.locations[0]}`,
      knownOnHand: 40,
      desiredOnHand: 7,
    },
  ])
  const drift = await getList(`/ecommerce/reconciliations/${newest.id}/drift`)
  assert.deepEqual(
    drift.map(({ sku, knownOnHand, observedOnHand }: Record<string, unknown>) => [sku, knownOnHand, observedOnHand]),
    [['12001', 7, 40]],
  )
  assert.equal((await shop.get('/ecommerce/reconciliations/none/drift')).status, 404)
})

test('a service sees only its own levels and comparisons', async () => {
  const other = await api.createService()
  assert.equal((await other.get('/ecommerce/levels')).status, 409)
  assert.deepEqual(await getList('/ecommerce/reconciliations', other), [])
  const [{ id }] = await getList('/ecommerce/reconciliations')
  assert.equal((await other.get(`/ecommerce/reconciliations/${id}/drift`)).status, 404)
  const maintainer = await api.createAccount('maintainer', shop.service)
  for (const path of ['levels', 'reconciliations', `reconciliations/${id}/drift`])
    assert.equal((await maintainer.get(`/ecommerce/${path}`)).status, 403)
})

test('a push is queued on request', async () => {
  const response = await pushNow()
  assert.deepEqual([response.status, response.json.data.stockPush, await countJobs()], [202, 'on', 1])
})

test('the first push requires a dry run and its approval', async () => {
  await fixture.connect({ stockPush: 'off' })
  assert.equal((await pushNow({ approve: true })).status, 409)
  await fixture.connect({ stockPush: 'dryRun' })
  await api.db.run(sql`delete from ecommerce_reconciliation where service_id = ${shop.service.id}`)
  assert.match((await pushNow({ approve: true })).text, /requires a dry run/)
  await fixture.reconcile()
  assert.equal((await pushNow()).status, 409)
  assert.equal(await countJobs(), 0)
  const approved = await pushNow({ approve: true })
  assert.deepEqual([approved.status, approved.json.data.stockPush, await countJobs()], [202, 'on', 1])
  await fixture.push()
  assert.equal(computeOnHand(fixture.getLevel('12001')), 7)
})

test('a stopped push continues only after its approval', async () => {
  await api.db.run(sql`update ecommerce_connection set push_stopped_at = now() where service_id = ${shop.service.id}`)
  assert.match((await pushNow()).text, /The push is stopped/)
  assert.equal((await shop.get('/ecommerce')).json.data.isStopped, true)
  const continued = await pushNow({ approve: true })
  assert.deepEqual([continued.status, continued.json.data.isStopped], [202, false])
})
