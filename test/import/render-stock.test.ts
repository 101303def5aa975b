import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { renderStaleStock } from '../../src/jobs/render-stock.ts'
import { lockStock, moveStock } from '../../src/store/inventory/stock.ts'
import { beginChange } from '../../src/store/lists/change-timestamp.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import { openImportShop } from '../support/import-shop.ts'
import { createDirectory, startCommand, stopServer, waitUntil } from '../support/processes.ts'

const shop = await openImportShop()
after(() => shop.close())

const environment = { DATABASE_URL: shop.connection, DATA_DIR: createDirectory(), LOG_LEVEL: 'warn' }
const stores = ['s1', 's2', 's3']
const skus = Array.from({ length: 2_100 }, (_, i) => `k${String(i).padStart(4, '0')}`)
const buildFile = (head: string, rows: readonly string[]) => [head, ...rows].join('\n')

/** Counts the stock rows that meet a condition (`shown`), and those of them that changed after `since` (`changed`). */
async function countRows(condition: string, since: string) {
  const [row] = await shop.queryRows(`
    select count(*) filter (where ${condition})::integer as shown, count(*) filter (where ${condition} and changed_at > '${since}')::integer as changed from stock`)
  return row as { shown: number; changed: number }
}
const getNow = async () => (await shop.queryRows('select clock_timestamp()::text as now'))[0].now as string
const listStale = async () =>
  (await shop.queryRows('select stock_column, id, rendered_up_to from stock_rerender order by 1, 2')) as object[]
const listIds = async () =>
  (await shop.queryRows(`select record::json->>'id' as id from stock where sku_id = 'k0007' order by 1`)).map(
    row => row.id,
  )

test('large stock is rendered in batches and resumes after a kill', async () => {
  await shop.importFile(
    'stores',
    buildFile(
      'storeId,storeNumber,name',
      stores.map(id => `${id},${id},${id}`),
    ),
  )
  await shop.importFile(
    'products',
    buildFile(
      'productId,productCode,name,colourId,skuId,sizeCode,price',
      skus.map(id => `${id},${id},P,c,${id},S,1`),
    ),
  )
  await shop.importFile(
    'stock',
    buildFile(
      'storeNumber,skuId,freeStock',
      stores.flatMap(store => skus.map(sku => `${store},${sku},1`)),
    ),
  )

  const since = await getNow()
  await shop.importFile('store-mapping', 'storeId,ecommerceLocationId\ns1,L1\n')
  const mapped = `record::json->>'ecommerceLocationId' = 'L1'`
  assert.deepEqual(await listStale(), [{ stock_column: 'store_id', id: 's1', rendered_up_to: '' }])
  assert.equal((await countRows(mapped, since)).shown, 0)

  const victim = startCommand(['worker'], { ...environment, FAILPOINT: 'after_stale_stock' })
  assert.deepEqual(await victim.ended, { code: null, signal: 'SIGKILL' }, victim.err)
  assert.deepEqual(await listStale(), [{ stock_column: 'store_id', id: 's1', rendered_up_to: skus[1_999] }])
  assert.deepEqual(await countRows(mapped, since), { shown: 2_000, changed: 2_000 })

  await shop.importFile(
    'sku-mapping',
    buildFile(
      'skuId,ecommerceSku',
      skus.map(id => `${id},E-${id}`),
    ),
  )
  // The import renders these rows before the worker does. Their previous names must still get tombstones.
  await shop.importFile(
    'stock',
    buildFile(
      'storeNumber,skuId,freeStock',
      stores.map(store => `${store},k0007,2`),
    ),
  )
  assert.deepEqual(await countRows(`record::json->>'id' = store_id || '-E-k0007'`, since), { shown: 3, changed: 3 })

  // Ends the killed worker's lease, which would otherwise expire after 20 s.
  await shop.queryRows(`update job set leased_until = now() where name = 'render-stock'`)
  const worker = startCommand(['worker'], environment)
  try {
    await waitUntil(async () => !(await listStale()).length, 'all stock is rendered', 120_000)
    const renamed = `record::json->>'sku' = 'E-' || sku_id and record::json->>'id' = store_id || '-E-' || sku_id`
    const all = stores.length * skus.length
    assert.deepEqual(await countRows(mapped, since), { shown: skus.length, changed: skus.length })
    assert.deepEqual(await countRows(renamed, since), { shown: all, changed: all })
    const [removed] = await shop.queryRows(
      `select count(*)::integer as n from tombstone where kind = 'inventory' and id ~ '^s[123]-k[0-9]{4}$'`,
    )
    assert.equal(removed.n, all, 'the change feed has a tombstone for each previous name')
  } finally {
    await stopServer(worker)
  }
})

test('a rename committed before an import or order appears in its writes', async () => {
  const waiting = sql`
    select from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and wait_event = 'relation'`
  const [current, prefix] = [await listIds(), 'F']
  const moves = [{ storeId: 's2', skuId: 'k0007', quantity: -1 }]
  const moveUnits = () =>
    shop.db.transaction(async tx => {
      await lockStock(tx, shop.service, moves)
      await moveStock(tx, shop.service, await beginChange(tx, shop.service, ['stock']), moves)
    })
  let writes: Promise<unknown> = Promise.resolve()
  await shop.db.transaction(async tx => {
    // Stock can be read but not written while this lock is held.
    await tx.run(sql`lock table stock in share mode`)
    writes = Promise.all([moveUnits(), shop.importFile('stock', 'storeNumber,skuId,freeStock\ns1,k0007,9\n')])
    await waitUntil(
      async () => (await shop.db.rows(waiting)).length === 2,
      'order and import wait for the table lock',
      20_000,
    )
    const renamed = skus.slice(0, 701).map(id => `${id},${prefix}-${id}`)
    await shop.importFile('sku-mapping', buildFile('skuId,ecommerceSku', renamed))
  })
  await writes
  assert.deepEqual(await listIds(), ['s1-F-k0007', 's2-F-k0007', current[2]])
  const removed = await shop.queryRows(
    `select id from tombstone where kind = 'inventory' and id = any('{${current}}') order by 1`,
  )
  assert.deepEqual(
    removed.map(({ id }) => id),
    current.slice(0, 2),
  )
})

test('a moved service with pending rendering delays no other service', async () => {
  const { db } = shop
  const [removed, localService] = [await addService(db, 'gone'), await addService(db, 'here')]
  assert.ok(removed && localService)
  await db.run(sql`
    insert into stock_rerender (service_id, stock_column, id) select id, 'store_id', 's1' from unnest(${[removed.id, localService.id]}::integer[]) id`)
  await db.run(sql`update service set move_state = 'moved_away' where service_id = ${removed.id}`)
  await renderStaleStock(db, AbortSignal.timeout(60_000))
  const remaining = await db.rows(sql`select service_id as id from stock_rerender`)
  assert.deepEqual(remaining, [{ id: removed.id }])
})
