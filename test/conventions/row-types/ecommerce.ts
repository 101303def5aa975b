import assert from 'node:assert/strict'
import type { ShopifySimulator } from '../../../simulator/shopify/handle.ts'
import { startShopifySimulator } from '../../../simulator/shopify/simulator.ts'
import { sql } from '../../../src/database/db.ts'
import { defaultConnection, platformSyncs } from '../../../src/domain/ecommerce/connection-settings.ts'
import { openPlatform } from '../../../src/ecommerce/connections.ts'
import { checkLevels } from '../../../src/ecommerce/reconciliation/check-levels.ts'
import { reconcileStock } from '../../../src/ecommerce/reconciliation/reconcile.ts'
import { runPlatformSync } from '../../../src/ecommerce/run-platform-sync.ts'
import { confirmOrders } from '../../../src/ecommerce/stock-push/confirm.ts'
import { pushStock } from '../../../src/ecommerce/stock-push/push.ts'
import { readPoints } from '../../../src/store/ecommerce/budget.ts'
import { findOrdersOfLevels } from '../../../src/store/ecommerce/commitments.ts'
import {
  deleteConnection,
  deleteToken,
  findEventConnection,
  listPlatformSyncs,
  lockConnection,
  setConnection,
} from '../../../src/store/ecommerce/connections.ts'
import { isExpectedLevel, storeEvent } from '../../../src/store/ecommerce/events.ts'
import { upsertPlatformItems } from '../../../src/store/ecommerce/items.ts'
import { keepUnchanged, readOutbox } from '../../../src/store/ecommerce/levels.ts'
import { listPushes, listStockComparisons } from '../../../src/store/ecommerce/push-state.ts'
import { queueReconciliation } from '../../../src/store/ecommerce/reconciliations.ts'
import { readPushStats } from '../../../src/store/ecommerce/status.ts'
import { mapExactMatches } from '../../../src/store/mappings/automatic-fixes.ts'
import type { TestApi } from '../../support/service.ts'

/** Connects the service to a shop, runs its syncs and stock push, and removes the connection. */
export async function tourEcommerce(testApi: TestApi) {
  const { db, keys, service, ...api } = testApi
  const simulator = await startShopifySimulator()
  try {
    const { url, settings } = simulator
    await db.transaction(async tx => {
      await setConnection(
        tx,
        keys,
        service,
        { ...defaultConnection, url, clientId: settings.clientId },
        settings.clientSecret,
      )
      assert.ok(await lockConnection(tx, keys, service))
    })
    assert.equal((await listPlatformSyncs(db)).length, platformSyncs.length)
    const opened = await openPlatform(db, keys, service, { warn() {} })
    assert.ok(opened)
    assert.equal((await opened.platform.probe(AbortSignal.timeout(30_000))).currency, 'AUD')
    assert.ok(await readPoints(db, service, opened.connectionId))
    for (const name of platformSyncs) assert.ok(await runPlatformSync(db, keys, service, name, { warn() {} }))
    assert.equal((await api.get('/syncs')).status, 200)
    await followRenamedSku(db, service)
    await receiveEvents(testApi, simulator)
    await mapExactMatches(db, service, AbortSignal.timeout(30_000))
    await pushAndReconcile(testApi, simulator)
    await deleteToken(db, keys, service, opened.connectionId, 'another')
    await db.transaction(tx => deleteConnection(tx, service))
  } finally {
    await simulator.close()
  }
}

/** Compares and pushes the stock of a mapped variant with an order of the platform. */
async function pushAndReconcile({ db, keys, service, ...api }: TestApi, simulator: ShopifySimulator) {
  const { url, settings } = simulator
  const connection = { ...defaultConnection, url, clientId: settings.clientId, stockPush: 'on' } as const
  await db.transaction(tx => setConnection(tx, keys, service, connection, settings.clientSecret))
  const [store, variant] = [
    await db.row<{ id: string }>(
      sql`select store_id as id from store where service_id = ${service.id} order by 1 limit 1`,
    ),
    await db.row<{ sku: string }>(sql`select sku from variant where service_id = ${service.id} order by 1 limit 1`),
  ]
  const [location] = simulator.shop.locations.keys()
  const [item] = simulator.shop.variants.values()
  assert.ok(store && variant && location && item)
  await db.run(
    sql`update store set ecommerce_location_id = ${String(location)} where service_id = ${service.id} and store_id = ${store.id}`,
  )
  simulator.change({ kind: 'variant', id: item.id, sku: variant.sku })
  await runPlatformSync(db, keys, service, 'ecommerce-variants', { warn() {} })
  const orderId = simulator.change({
    kind: 'sell',
    lines: [{ itemId: item.itemId, locationId: location, quantity: 1 }],
  })
  await db.run(sql`
    update sales_order set ecommerce_order_id = ${String(orderId)}
     where (service_id, id) = (select service_id, id from sales_order where service_id = ${service.id} order by id limit 1)`)
  const signal = AbortSignal.timeout(60_000)
  const opened = await openPlatform(db, keys, service, { warn() {} })
  assert.ok(opened)
  await confirmOrders(db, service, opened.platform.inventory, [String(orderId)], signal)
  const levels = await db.rows<{ itemId: string; locationId: string }>(sql`
    select item_id as "itemId", location_id as "locationId" from ecommerce_commitment where service_id = ${service.id}`)
  assert.ok((await findOrdersOfLevels(db, service, levels)).length)
  await reconcileStock(db, keys, service, { warn() {} }, { signal, isEmbedded: true })
  // Simulates a batch that a killed process left in flight.
  const leaveInFlight = sql`
    update ecommerce_level set (desired_on_hand, idempotency_key, sent_at, due_at, due_rank) = row(1, 'left', now() - interval '1 hour', now(), 1)
     where service_id = ${service.id} and (item_id, location_id) = (select item_id, location_id from ecommerce_level where service_id = ${service.id} order by 1, 2 limit 1)`
  await db.run(leaveInFlight)
  const outbox = await readOutbox(db, service)
  assert.deepEqual(
    await keepUnchanged(
      db,
      service,
      outbox.map(sent => ({ ...sent, version: -1 })),
    ),
    [],
  )
  await db.run(leaveInFlight)
  await pushStock(db, keys, service, { warn() {} }, { signal, isEmbedded: true })
  assert.ok((await listPushes(db)).length && (await listStockComparisons(db)).length)
  assert.ok((await readPushStats(db)).length)
  await db.transaction(tx => queueReconciliation(tx, service))
  await reconcileStock(db, keys, service, { warn() {} }, { signal, isEmbedded: true })
  const [level] = await db.rows<{ itemId: string; locationId: string }>(
    sql`select item_id as "itemId", location_id as "locationId" from ecommerce_level where service_id = ${service.id} limit 1`,
  )
  assert.ok(level)
  await db.run(sql`
    update ecommerce_level set (known_on_hand, known_at, desired_on_hand, idempotency_key, sent_at, must_read, hold_reason)
      = row(77, now() - interval '1 hour', null, null, null, false, null)
     where service_id = ${service.id} and (item_id, location_id) = (${level.itemId}, ${level.locationId})`)
  await db.transaction(async tx => {
    assert.equal(await isExpectedLevel(tx, service, { ...level, available: -1 }), false)
    await storeEvent(tx, service, { id: 'e2', target: 'stock', subjectId: level.itemId })
  })
  assert.equal(await checkLevels(db, keys, service, { warn() {} }, AbortSignal.timeout(30_000)), 1)
  const [{ id }] = (await api.get('/ecommerce/reconciliations')).json.data
  for (const path of ['', '/levels', `/reconciliations/${id}/drift`])
    assert.equal((await api.get(`/ecommerce${path}`)).status, 200)
}

/** Receives the event of merged customers. Then a full sync reads the deleted customer again, because the platform has restored it. */
async function receiveEvents({ db, keys, service }: TestApi, simulator: ShopifySimulator) {
  assert.equal(await findEventConnection(db, keys, service), undefined)
  await db.run(sql`
    update ecommerce_connection set settings = settings || '{"events": "on"}', encrypted_previous_secret = encrypted_secret, previous_secret_until = now() + interval '1 hour'
     where service_id = ${service.id}`)
  assert.ok(await findEventConnection(db, keys, service))
  const [successor, merged] = [...simulator.shop.customers.keys()]
  const [customer] = await db.rows<{ id: string }>(
    sql`select id from customer where service_id = ${service.id} order by id limit 1`,
  )
  assert.ok(successor && merged && customer)
  await db.run(
    sql`update customer set (ecommerce_admin_id, ecommerce_legacy_id) = (null, ${String(merged)}) where service_id = ${service.id} and id = ${customer.id}`,
  )
  simulator.change({ kind: 'merge', deletedId: merged, successorId: successor })
  const [subjectId = '', successorId = ''] = [merged, successor].map(id => `gid://shopify/Customer/${id}`)
  const event = { id: 'e1', target: 'ecommerce-customers', subjectId, successorId }
  await db.transaction(tx => storeEvent(tx, service, event))
  assert.ok(await runPlatformSync(db, keys, service, 'ecommerce-customers', { warn() {} }))
  const tombstones = await db.rows<{ id: string }>(
    sql`select ecommerce_id as id from ecommerce_tombstone where service_id = ${service.id}`,
  )
  assert.deepEqual(tombstones, [{ id: String(merged) }])
  await db.run(sql`update ecommerce_tombstone set is_verified = false where service_id = ${service.id}`)
  simulator.change({ kind: 'customer', id: merged, email: 'returned@example.com' })
  assert.ok(await runPlatformSync(db, keys, service, 'ecommerce-customers', { warn() {} }, { full: true }))
}

/** Renames the SKU of a mapped variant on the platform, and renames it back. */
async function followRenamedSku(db: TestApi['db'], service: TestApi['service']) {
  const [variant] = await db.rows<{ sku: string }>(
    sql`select sku from variant where service_id = ${service.id} limit 1`,
  )
  assert.ok(variant)
  for (const [at, ecommerceId] of [variant.sku, 'Renamed', variant.sku].entries())
    await upsertPlatformItems(db, service, [
      {
        kind: 'skus',
        itemKey: '99',
        ecommerceId,
        name: null,
        other: null,
        platformId: 'gid://shopify/ProductVariant/99',
        updatedAt: `2026-11-02T10:00:0${at}Z`,
      },
    ])
}
