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
import { type Caller, startTestApi } from '../../support/service.ts'

const api = await startTestApi()
const writersDb = openDatabase(api.database.connection)
after(async () => {
  await writersDb.close()
  await api.stop()
})

const beginning = '1970-01-01T00:00:00.000000Z'
const ann = (id: string, updateTimeStamp?: string) => ({ id, firstname: 'Ann', updateTimeStamp })
const put = ({ service }: Caller, ...rows: object[]) => upsertCustomers(api.db, service, rows)

/** A service whose list of customers was loaded with the first row. */
async function loaded(...rows: object[]) {
  const caller = await api.createService()
  await withInitialLoad(api.db, caller.service, 'customer', () => put(caller, ...rows))
  return caller
}

test('an empty list is complete up to the beginning of time', async () => {
  assert.equal((await paginate(api, '/customers/search')).asOf, beginning)
})

test('an interrupted initial load resumes and becomes visible atomically with source times', async () => {
  const caller = await api.createService()
  assert.ok(await beginInitialLoad(api.db, caller.service, 'customer'), 'the load that dies')
  await put(caller, ann('new', '2025-06-01 10:00:00'))
  const { asOf, ids } = await paginate(caller, '/customers/search')
  assert.deepEqual([asOf, ids], [beginning, []])
  const load = await beginInitialLoad(api.db, caller.service, 'customer')
  await put(caller, ann('old', '2024-06-01 10:00:00'))
  await load?.end()
  const { json } = await caller.get('/customers/search')
  const times = json.data.map((record: { id: string; updateTimeStamp: string }) => [record.id, record.updateTimeStamp])
  assert.deepEqual(times, [
    ['old', '2024-06-01 10:00:00'],
    ['new', '2025-06-01 10:00:00'],
  ])
  assert.equal(await beginInitialLoad(api.db, caller.service, 'customer'), undefined, 'there is one first load')
})

test('a load is not initial if another write comes between its checks', async () => {
  const caller = await api.createService()
  let ahead = () => put(caller, ann('now'))
  const db: Db = {
    ...api.db,
    async run(statement) {
      const done = await api.db.run(statement)
      await ahead()
      ahead = async () => ({ inserted: 0, changed: 0 })
      return done
    },
  }
  assert.equal(await beginInitialLoad(db, caller.service, 'customer'), undefined)
  assert.deepEqual((await paginate(caller, '/customers/search')).ids, ['now'])
})

test('a job ends an abandoned initial load and spares a running one', async () => {
  const [dead, alive] = [await api.createService(), await api.createService()]
  for (const caller of [dead, alive]) {
    await beginInitialLoad(api.db, caller.service, 'customer')
    await put(caller, ann('1', '2025-06-01 10:00:00'))
  }
  await api.db.run(
    sql`update initial_load set heartbeat_at = now() - interval '16 minutes' where service_id = ${dead.service.id}`,
  )
  await reapStaleInitialLoads({ db: api.db, log: pino({ level: 'silent' }) } as JobRun)
  assert.deepEqual((await paginate(dead, '/customers/search')).ids, ['1'])
  assert.deepEqual((await paginate(alive, '/customers/search')).ids, [])
})

test('a late arrival gets the next change timestamp and is polled next', async () => {
  const caller = await loaded(ann('1', '2025-06-01 10:00:00'))
  const { asOf } = await paginate(caller, '/customers/search')
  await put(caller, ann('2', '2025-03-01 10:00:00'))
  const next = await pollSince(caller, asOf)
  assert.deepEqual([next.ids, Date.parse(next.asOf) - Date.parse(asOf) <= 1], [['2'], true])
  await put(caller, ann('3', '2025-07-01 10:00:00'))
  const { json } = await caller.get(`/customers/search?updated_after=${next.asOf}`)
  assert.equal(json.data[0].updateTimeStamp, '2025-07-01 10:00:00')
})

/** A transaction that has merged a row and stays open until `commit`. */
async function open(t: TestContext, caller: Caller, row: object) {
  const worked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const locked: Database = {
    ...writersDb,
    transaction: <T>(work: (tx: Db) => Promise<T>) =>
      writersDb.transaction(async tx => {
        const done = await work(tx)
        worked.resolve()
        await released.promise
        return done
      }),
  }
  const ended = upsertCustomers(locked, caller.service, [row])
  await Promise.race([worked.promise, ended])
  const commit = async () => {
    released.resolve()
    await ended
  }
  // A test that fails half-way leaves no transaction open.
  t.after(commit)
  return commit
}

test('a reader sees a late arrival that commits after a newer change', async t => {
  const caller = await loaded(ann('1', '2025-06-01 10:00:00'))
  const { asOf } = await paginate(caller, '/customers/search')
  const commitNow = await open(t, caller, ann('now'))
  const commitLate = await open(t, caller, ann('late', '2025-03-01 10:00:00'))
  await commitNow()
  const between = await pollSince(caller, asOf)
  await commitLate()
  const last = await pollSince(caller, between.asOf)
  assert.deepEqual(new Set([...between.ids, ...last.ids].filter(id => id !== '1')), new Set(['now', 'late']))
})

test('the second of two late arrivals is later than every returned asOf', async t => {
  const caller = await loaded(ann('1', '2025-06-01 10:00:00'))
  const queried = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  // A process that is halted once it knows up to when the list is complete, before it reads the page.
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
  const commitFirst = await open(t, caller, ann('first', '2025-03-01 10:00:00'))
  const second = open(t, caller, ann('second', '2025-03-01 10:00:00'))
  await Promise.race([second, delay(300)])
  await commitFirst()
  const commitSecond = await second
  released.resolve()
  const { records, asOf } = await page
  await commitSecond()
  const shown = JSON.parse(`[${records}]`).map((record: { id: string }) => record.id)
  assert.deepEqual([...shown, ...(await pollSince(caller, asOf)).ids], ['1', 'first', 'second'])
})

test("an open late arrival stops its list's watermark", async t => {
  const caller = await loaded(ann('1', '2025-06-01 10:00:00'))
  const { asOf } = await paginate(caller, '/customers/search')
  const commit = await open(t, caller, ann('late', '2025-03-01 10:00:00'))
  await put(caller, ann('now'))
  const locked = await paginate(caller, '/customers/search')
  assert.deepEqual([locked.ids, locked.asOf], [['1'], asOf])
  await commit()
  assert.deepEqual((await paginate(caller, '/customers/search')).ids, ['1', 'late', 'now'])
})

const product = (productId: string, updateTimeStamp?: string) => ({
  product: { productId, productCode: productId, name: productId, updateTimeStamp },
  colour: { productId, colourId: 'c' },
  variant: { productId, colourId: 'c', skuId: `${productId}k`, sizeCode: 'M', price: '10.00' },
})

test("a change after the newest record's removal is later than its tombstone", async () => {
  const caller = await api.createService()
  const { db } = api
  const bring = (...rows: ReturnType<typeof product>[]) => upsertProducts(db, caller.service, rows)
  const [first, newest] = [product('p1', '2025-06-01 10:00:00'), product('p2', '2025-09-01 10:00:00')]
  await withInitialLoad(db, caller.service, 'product', () => bring(first, newest))
  await upsertStores(db, caller.service, [{ storeId: '1', storeNumber: '1', name: 'Collins Street' }])
  await upsertStock(db, caller.service, [{ storeId: '1', skuId: 'p2k', freeStock: 3 }])
  const { asOf, ids } = await paginate(caller, '/products')
  assert.deepEqual(ids, ['p1', 'p2'])
  await pullOnly(caller, 'p1', 'p1k')
  assert.deepEqual((await paginate(caller, '/products')).ids, ['p1'])
  await bring(product('p3', '2025-07-01 10:00:00'))
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
  const ofService = sql`service_id = ${caller.service.id}`
  const bring = (...rows: ReturnType<typeof product>[]) => upsertProducts(db, caller.service, rows)
  await bring(product('p1'), product('p2'))
  await db.run(sql`update product set changed_at = now() + interval '1 hour' where ${ofService} and product_id = 'p2'`)
  await pullOnly(caller, 'p1', 'p1k')
  await bring(product('p2'))
  const [timestamps] = await db.rows(sql`
    select (select changed_at from product where ${ofService} and product_id = 'p2') > changed_at as "isLater" from tombstone where ${ofService}`)
  assert.deepEqual(timestamps, { isLater: true })
})

/** A whole pull shows this product and nothing else. */
async function pullOnly({ service }: Caller, productId: string, skuId: string) {
  const { db } = api
  const locked = await leaseSync(db, service, 'products')
  assert.ok(locked)
  const lease = { sync: 'products', run: locked.run }
  await recordSeen(db, service, lease, 'variant', [skuId])
  await recordSeen(db, service, lease, 'product', [productId])
  for (const list of ['variant', 'product'] as const)
    assert.deepEqual(
      await removeUnseen(db, service, { lease, list, findExisting: async () => [], onRemoved: async () => {} }),
      { retained: 0 },
    )
}
