import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { sql } from '../../../src/database/db.ts'
import { createCounts } from '../../../src/import/pipeline/counts.ts'
import { tickClock } from '../../../src/store/alerts/database-clock.ts'
import { findStaffByCode, upsertStaff } from '../../../src/store/catalog/staff.ts'
import { findCustomersByEmail, upsertCustomers } from '../../../src/store/customers/customers.ts'
import { findOrderSkuIds, refreshStock } from '../../../src/store/inventory/fresh-stock.ts'
import { readSellable, readSellableLevels, upsertStock } from '../../../src/store/inventory/stock.ts'
import { readJobLags } from '../../../src/store/jobs/jobs.ts'
import { readDatabaseTime } from '../../../src/store/lists/change-timestamp.ts'
import { findOrderNumbers } from '../../../src/store/orders/imported-orders.ts'
import { findShipment } from '../../../src/store/orders/shipments.ts'
import { findRewardAccounts } from '../../../src/store/rewards/rewards.ts'
import { readCommitWaitSeconds } from '../../../src/store/stats/sync-status.ts'
import { beginFileRun, endFileRun, updateFileRun } from '../../../src/store/sync/file-runs.ts'
import { findInterruptedImport, recordImportProgress } from '../../../src/store/sync/imports.ts'
import { removeMissing } from '../../../src/store/sync/remove-unseen.ts'
import type { TestApi } from '../../support/service.ts'
import { tourShards } from './databases.ts'
import { tourEcommerce } from './ecommerce.ts'
import { tourMappings } from './mappings.ts'
import { tourMove } from './moving.ts'

/** Imports a file, interrupts another, and imports the platform's items. */
export async function tourFiles(api: TestApi) {
  const { db, service } = api
  const run = { importType: 'stores', id: 'toured' }
  await beginFileRun(db, service, run, false)
  await updateFileRun(db, service, run, createCounts())
  await endFileRun(db, service, run, { ...createCounts(), read: 1 }, { error: undefined, rejections: [] })
  assert.equal(await updateFileRun(db, service, run, createCounts()), undefined)
  assert.equal((await api.get('/imports/toured')).json.data.read, 1)
  for (const path of ['/imports/toured', '/imports/toured/rejected']) assert.equal((await api.get(path)).status, 200)

  const counts = await removeMissing(db, service, {
    list: 'customer',
    seen: new Set(),
    storeIds: [],
    removeMost: false,
    dryRun: false,
    startedAt: await readDatabaseTime(db),
  })
  assert.equal(counts.removed, 0)

  const file = { importType: 'staff', digest: createHash('sha256').digest() }
  await recordImportProgress(db, service, file, 12)
  assert.equal((await findInterruptedImport(db, service, file))?.line, 12)

  const context = { actor: { username: 'importer', requestId: 'toured' }, skipOutdated: true }
  for (const updateTimeStamp of ['2001-01-02 00:00:00', '2001-01-01 00:00:00']) {
    const customer = { id: 'outdated', surname: 'Lee', email: 'outdated@example.com', emailSubscription: true }
    await upsertCustomers(db, service, [{ ...customer, updateTimeStamp }], context)
    await upsertStaff(db, service, [{ id: 'outdated', code: 'OUT', surname: 'Lee', updateTimeStamp }], context)
  }
  assert.equal((await findCustomersByEmail(db, service, ['OUTDATED@example.com'])).length, 1)
  assert.ok((await readJobLags(db)).length > 0)
  assert.equal(await readCommitWaitSeconds(db), 0)
  await tickClock(db, 1_000)

  const order = await db.row<{ id: string; skuId: string }>(sql`
    select order_id as id, sku_id as "skuId" from order_line where service_id = ${service.id} and sku_id is not null limit 1`)
  assert.ok(order)
  assert.ok((await findOrderSkuIds(db, service, order.id)).includes(order.skuId))
  assert.equal((await findOrderNumbers(db, service, [order.id])).length, 1)
  assert.equal((await findStaffByCode(db, service, ['OUT'])).length, 1)
  const account = await db.row<{ customerId: string }>(sql`
    select customer_id as "customerId" from reward_account where service_id = ${service.id} limit 1`)
  assert.equal((await findRewardAccounts(db, service, [account?.customerId ?? ''])).length, 1)
  assert.ok((await api.get('/browse?table=orders')).json.data.total > 0)
  assert.equal((await api.get('/console/sales/intervals?range=7d')).json.data.sales.intervals.length, 28)
  assert.ok((await api.get('/console/imports')).json.data.length > 0)
  assert.equal((await api.get('/console/import-profiles')).status, 200)
  const [{ id }] = (await api.get('/browse?table=orders')).json.data.rows
  assert.equal((await api.get(`/console/orders/${id}/cancellations`)).status, 200)
  const [{ storeNumber }] = (await api.get('/stores?limit=1')).json.data
  assert.equal((await api.get(`/console/stores/${storeNumber}`)).status, 200)
  const level = await db.row<{ storeId: string; skuId: string }>(sql`
    select store_id as "storeId", sku_id as "skuId" from stock where service_id = ${service.id} order by free_stock desc limit 1`)
  assert.ok(level)
  assert.ok((await readSellableLevels(db, service, [level.skuId])).length)
  assert.equal((await readSellable(db, service, [{ ...level, quantity: 0 }])).size, 1)
  await refreshStock(db, service, [order.skuId], async () => [])
  const selling = { ...service, settings: { ...service.settings, oversell: 'refuse' as const } }
  await db.run(sql`update stock set sold_at = now() where service_id = ${service.id}`)
  await upsertStock(db, selling, [{ ...level, freeStock: -9 }], {
    skipOutdated: false,
    requestedAt: await readDatabaseTime(db),
  })
  await upsertStock(db, selling, [{ ...level, freeStock: 9 }], { skipOutdated: false, requestedAt: '2020-01-01' })
  assert.equal(await findShipment(db, service, 'unknown'), undefined)

  await tourMappings(api)
  await tourEcommerce(api)
  await tourShards(api)
  await tourMove(api)
}
