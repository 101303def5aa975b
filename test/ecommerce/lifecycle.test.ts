import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startShopifySimulator } from '../../simulator/shopify/simulator.ts'
import { raw, sql } from '../../src/database/db.ts'
import { runPlatformSync } from '../../src/ecommerce/run-platform-sync.ts'
import { storeEvent } from '../../src/store/ecommerce/events.ts'
import { listMovedTables } from '../../src/store/moves/replication.ts'
import { purgeRows } from '../../src/store/service-deletion/purge.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { type ConnectedShop, connectShop, log, signal } from './connected-shop.ts'

const simulator = await startShopifySimulator({ size: { locations: 2, variants: 0, customers: 0 } })
const email = 'wilhelmina@example.com'
let api: TestApi
let fixture: ConnectedShop
let tables: string[]

before(async () => {
  api = await startTestApi()
  fixture = await connectShop(api, simulator)
  simulator.change({ kind: 'customer', email, firstName: 'Wilhelmina', lastName: 'Canarysson' })
  await runPlatformSync(api.db, api.keys, fixture.shop.service, 'ecommerce-customers', log)
  const deleted = simulator.change({ kind: 'customer', email: `deleted-${email}` })
  await runPlatformSync(api.db, api.keys, fixture.shop.service, 'ecommerce-customers', log)
  simulator.change({ kind: 'remove', type: 'customer', id: deleted })
  const event = { id: 'event-1', target: 'ecommerce-customers', subjectId: `gid://shopify/Customer/${deleted}` }
  await api.db.transaction(tx => storeEvent(tx, fixture.shop.service, event))
  await runPlatformSync(api.db, api.keys, fixture.shop.service, 'ecommerce-customers', log)
  const order = fixture.sell('12001', 2)
  await fixture.placeOrder('12001', 2, order)
  await fixture.refresh(order)
  await fixture.push()
  await fixture.ageQuantities()
  const itemId = fixture.items['12001'] ?? 0
  simulator.change({ kind: 'count', itemId, locationId: fixture.locations[0], available: 40 })
  await fixture.reconcile()
  // As if a running reconciliation had read a level.
  await api.db.run(sql`
    insert into ecommerce_observed_level (service_id, connection_id, item_id, location_id, on_hand, committed, held_back)
    values (${fixture.shop.service.id}, 'main', 'i', 'l', 1, 0, 0)`)
  const rows = await api.db.rows<{ name: string }>(
    sql`select relname as name from pg_class where relkind = 'r' and relname like 'ecommerce\\_%' order by 1`,
  )
  tables = rows.map(({ name }) => name)
})
after(async () => {
  await simulator.close()
  await api?.stop()
})

const readRows = async (table: string, serviceId = fixture.shop.service.id) =>
  (
    await api.db.rows<{ row: string }>(
      sql`select row_to_json(t)::text as row from ${raw(table)} t where service_id = ${serviceId}`,
    )
  ).map(({ row }) => row)

test('I8: personal data is only in items; secrets are unreadable', async () => {
  for (const table of tables) {
    const text = (await readRows(table)).join('\n')
    assert.notEqual(text, '', table)
    assert.equal(text.includes(email), table === 'ecommerce_item', table)
    for (const hidden of ['Wilhelmina', 'Canarysson', simulator.settings.clientSecret])
      assert.ok(!text.includes(hidden), `${table}: ${hidden}`)
  }
})

test('a move copies every table of a platform', async () => {
  const movedTables = await listMovedTables(api.db)
  assert.deepEqual(
    tables.filter(table => !movedTables.includes(table)),
    [],
  )
})

test('a purge deletes the platform of its service only', async () => {
  const other = await connectShop(api, simulator)
  const countAllRows = async (serviceId: number) => {
    const all = await Promise.all(tables.map(table => readRows(table, serviceId)))
    return all.flat().length
  }
  const otherRows = await countAllRows(other.shop.service.id)
  await purgeRows(api.db, fixture.shop.service, undefined, signal)
  assert.equal(await countAllRows(fixture.shop.service.id), 0)
  assert.equal(await countAllRows(other.shop.service.id), otherRows)
})
