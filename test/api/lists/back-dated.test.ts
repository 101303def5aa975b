import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { type Database, type Db, openDatabase, type Sql, sql } from '../../../src/database/db.ts'
import type { JobRun } from '../../../src/jobs/job.ts'
import { reapStaleInitialLoads } from '../../../src/jobs/reap-stale-loads.ts'
import { upsertProducts } from '../../../src/store/catalog/products.ts'
import { upsertStores } from '../../../src/store/catalog/stores.ts'
import { readCustomerPage, upsertCustomers } from '../../../src/store/customers/customers.ts'
import { upsertStock } from '../../../src/store/inventory/stock.ts'
import { beginInitialLoad, withInitialLoad } from '../../../src/store/lists/initial-load.ts'
import { removeUnseen } from '../../../src/store/sync/remove-unseen.ts'
import { leaseSync, recordSeen } from '../../../src/store/sync/sync.ts'
import { paginate, pollSince } from '../../support/paginate.ts'
import { openTransaction } from '../../support/postgres/slow-commits.ts'
import { type Caller, startTestApi } from '../../support/service.ts'

const api = await startTestApi()
const writersDb = openDatabase(api.database.connection)
after(async () => {
  await writersDb.close()
  await api.stop()
})

const beginning = '1970-01-01T00:00:00.000000Z'
const buildCustomerRow = (id: string, updateTimeStamp?: string) => ({ id, firstname: 'Ann', updateTimeStamp })
const upsert = ({ service }: Caller, ...rows: object[]) => upsertCustomers(api.db, service, rows)

/** Creates a service whose initial load of customers contained these rows. */
async function createLoadedService(...rows: object[]) {
  const caller = await api.createService()
  await withInitialLoad(api.db, caller.service, 'customer', () => upsert(caller, ...rows))
  return caller
}

test('an empty list is complete up to the beginning of time', async () => {
  assert.equal((await paginate(api, '/customers/search')).asOf, beginning)
})

test('an interrupted initial load resumes and becomes visible atomically with source times', async () => {
  const caller = await api.createService()
  assert.ok(await beginInitialLoad(api.db, caller.service, 'customer'), 'the interrupted load must start')
  await upsert(caller, buildCustomerRow('new', '2025-06-01 10:00:00'))
  const { asOf, ids } = await paginate(caller, '/customers/search')
  assert.deepEqual([asOf, ids], [beginning, []])
  const load = await beginInitialLoad(api.db, caller.service, 'customer')
  await upsert(caller, buildCustomerRow('old', '2024-06-01 10:00:00'))
  await load?.end()
  const { json } = await caller.get('/customers/search')
  const times = json.data.map((record: { id: string; updateTimeStamp: string }) => [record.id, record.updateTimeStamp])
  assert.deepEqual(times, [
    ['old', '2024-06-01 10:00:00'],
    ['new', '2025-06-01 10:00:00'],
  ])
  assert.equal(
    await beginInitialLoad(api.db, caller.service, 'customer'),
    undefined,
    'only one initial load is allowed',
  )
})

test('a load is not initial if another write comes between its checks', async () => {
  const caller = await api.createService()
  let interfere = () => upsert(caller, buildCustomerRow('now'))
  const db: Db = {
    ...api.db,
    async run(statement) {
      const result = await api.db.run(statement)
      await interfere()
      interfere = async () => ({ inserted: 0, changed: 0 })
      return result
    },
  }
  assert.equal(await beginInitialLoad(db, caller.service, 'customer'), undefined)
  assert.deepEqual((await paginate(caller, '/customers/search')).ids, ['now'])
})

test('a job ends an abandoned initial load and spares a running one', async () => {
  const [abandoned, running] = [await api.createService(), await api.createService()]
  for (const caller of [abandoned, running]) {
    await beginInitialLoad(api.db, caller.service, 'customer')
    await upsert(caller, buildCustomerRow('1', '2025-06-01 10:00:00'))
  }
  await api.db.run(
    sql`update initial_load set heartbeat_at = now() - interval '16 minutes' where service_id = ${abandoned.service.id}`,
  )
  await reapStaleInitialLoads({ db: api.db, log: pino({ level: 'silent' }) } as JobRun)
  assert.deepEqual((await paginate(abandoned, '/customers/search')).ids, ['1'])
  assert.deepEqual((await paginate(running, '/customers/search')).ids, [])
})

test('a late arrival gets the next change timestamp and is polled next', async () => {
  const caller = await createLoadedService(buildCustomerRow('1', '2025-06-01 10:00:00'))
  const { asOf } = await paginate(caller, '/customers/search')
  await upsert(caller, buildCustomerRow('2', '2025-03-01 10:00:00'))
  const next = await pollSince(caller, asOf)
  assert.deepEqual([next.ids, Date.parse(next.asOf) - Date.parse(asOf) <= 1], [['2'], true])
  await upsert(caller, buildCustomerRow('3', '2025-07-01 10:00:00'))
  const { json } = await caller.get(`/customers/search?updated_after=${next.asOf}`)
  assert.equal(json.data[0].updateTimeStamp, '2025-07-01 10:00:00')
})

/** Merges a row in a transaction that stays open. Returns the function that commits it. */
const openMerge = (t: TestContext, { service }: Caller, row: object) =>
  openTransaction(t, writersDb, db => upsertCustomers(db, service, [row]))

test('a reader sees a late arrival that commits after a newer change', async t => {
  const caller = await createLoadedService(buildCustomerRow('1', '2025-06-01 10:00:00'))
  const { asOf } = await paginate(caller, '/customers/search')
  const commitNow = await openMerge(t, caller, buildCustomerRow('now'))
  const commitLate = await openMerge(t, caller, buildCustomerRow('late', '2025-03-01 10:00:00'))
  await commitNow()
  const between = await pollSince(caller, asOf)
  await commitLate()
  const last = await pollSince(caller, between.asOf)
  assert.deepEqual(new Set([...between.ids, ...last.ids].filter(id => id !== '1')), new Set(['now', 'late']))
})

test('the second of two late arrivals is later than every returned asOf', async t => {
  const caller = await createLoadedService(buildCustomerRow('1', '2025-06-01 10:00:00'))
  const queried = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  // Halts the reader after it has read the watermark of the list, before it reads the page.
  const halted: Database = {
    ...api.db,
    async row<T extends object>(statement: Sql) {
      const row = await api.db.row<T>(statement)
      queried.resolve()
      await released.promise
      return row
    },
  }
  const page = readCustomerPage(halted, caller.service, { ecommerceIds: false }, { limit: 100 })
  await queried.promise
  const commitFirst = await openMerge(t, caller, buildCustomerRow('first', '2025-03-01 10:00:00'))
  const second = openMerge(t, caller, buildCustomerRow('second', '2025-03-01 10:00:00'))
  await Promise.race([second, delay(300)])
  await commitFirst()
  const commitSecond = await second
  released.resolve()
  const { records, asOf } = await page
  await commitSecond()
  const ids = JSON.parse(`[${records}]`).map((record: { id: string }) => record.id)
  assert.deepEqual([...ids, ...(await pollSince(caller, asOf)).ids], ['1', 'first', 'second'])
})

test("an open late arrival stops its list's watermark", async t => {
  const caller = await createLoadedService(buildCustomerRow('1', '2025-06-01 10:00:00'))
  const { asOf } = await paginate(caller, '/customers/search')
  const commit = await openMerge(t, caller, buildCustomerRow('late', '2025-03-01 10:00:00'))
  await upsert(caller, buildCustomerRow('now'))
  const current = await paginate(caller, '/customers/search')
  assert.deepEqual([current.ids, current.asOf], [['1'], asOf])
  await commit()
  assert.deepEqual((await paginate(caller, '/customers/search')).ids, ['1', 'late', 'now'])
})

const buildProduct = (productId: string, updateTimeStamp?: string) => ({
  product: { productId, productCode: productId, name: productId, updateTimeStamp },
  colour: { productId, colourId: 'c' },
  variant: { productId, colourId: 'c', skuId: `${productId}k`, sizeCode: 'M', price: '10.00' },
})

test("a change after the newest record's removal is later than its tombstone", async () => {
  const caller = await api.createService()
  const { db } = api
  const importProducts = (...rows: ReturnType<typeof buildProduct>[]) => upsertProducts(db, caller.service, rows)
  const [first, newest] = [buildProduct('p1', '2025-06-01 10:00:00'), buildProduct('p2', '2025-09-01 10:00:00')]
  await withInitialLoad(db, caller.service, 'product', () => importProducts(first, newest))
  await upsertStores(db, caller.service, [{ storeId: '1', storeNumber: '1', name: 'Collins Street' }])
  await upsertStock(db, caller.service, [{ storeId: '1', skuId: 'p2k', freeStock: 3 }])
  const { asOf, ids } = await paginate(caller, '/products')
  assert.deepEqual(ids, ['p1', 'p2'])
  await syncOnly(caller, 'p1', 'p1k')
  assert.deepEqual((await paginate(caller, '/products')).ids, ['p1'])
  await importProducts(buildProduct('p3', '2025-07-01 10:00:00'))
  assert.deepEqual((await paginate(caller, `/products?updated_after=${asOf}`)).ids, ['p3'])
  const removed = await db.rows(
    sql`select kind, id from tombstone where service_id = ${caller.service.id} order by kind`,
  )
  assert.deepEqual(removed, [
    { kind: 'inventory', id: '1-p2k' },
    { kind: 'product', id: 'p2' },
  ])
})

test('a returning record is later than its tombstone despite a clock step', async () => {
  const caller = await api.createService()
  const { db } = api
  const isOfService = sql`service_id = ${caller.service.id}`
  const importProducts = (...rows: ReturnType<typeof buildProduct>[]) => upsertProducts(db, caller.service, rows)
  await importProducts(buildProduct('p1'), buildProduct('p2'))
  await db.run(
    sql`update product set changed_at = now() + interval '1 hour' where ${isOfService} and product_id = 'p2'`,
  )
  await syncOnly(caller, 'p1', 'p1k')
  await importProducts(buildProduct('p2'))
  const [timestamps] = await db.rows(sql`
    select (select changed_at from product where ${isOfService} and product_id = 'p2') > changed_at as "isLater" from tombstone where ${isOfService}`)
  assert.deepEqual(timestamps, { isLater: true })
})

/** Runs a full sync whose response contains only this product. */
async function syncOnly({ service }: Caller, productId: string, skuId: string) {
  const { db } = api
  const leased = await leaseSync(db, service, 'products')
  assert.ok(leased)
  const lease = { sync: 'products', run: leased.run }
  await recordSeen(db, service, lease, 'variant', [skuId])
  await recordSeen(db, service, lease, 'product', [productId])
  for (const list of ['variant', 'product'] as const)
    assert.deepEqual(
      await removeUnseen(db, service, { lease, list, findExisting: async () => [], onRemoved: async () => {} }),
      { retained: 0 },
    )
}
