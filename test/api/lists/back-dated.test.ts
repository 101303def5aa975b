import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Database, type Db, openDatabase, sql } from '../../../src/db.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { beginLoad } from '../../../src/store/lists/first-load.ts'
import { persistently } from '../../../src/store/running/contention.ts'
import { type Caller, startTestService } from '../../support/service.ts'
import { customers, poll, walk } from '../../support/walk.ts'

const service = await startTestService()
const writersDb = openDatabase(service.database.connection, { max: 10 })
after(async () => {
  await writersDb.close()
  await service.stop()
})

const busy = () => service.tenant({ readsPerMinute: 'off' })
const beginning = '1970-01-01T00:00:00.000000Z'

/** A database whose transactions wait a little before they commit; one of so many is ended instead, as by `kill -9`. */
const slow = (killed = 0): Database => ({
  ...writersDb,
  transaction: <T>(work: (tx: Db) => Promise<T>) =>
    writersDb.transaction(async tx => {
      const done = await work(tx)
      await delay(Math.random() ** 3 * 120)
      if (Math.random() < killed) await tx.run(sql`select pg_terminate_backend(pg_backend_pid())`)
      return done
    }),
})

/** A moment of the past two years as a source tells it. */
const past = () => new Date(Date.now() - Math.random() * 730 * 86_400_000).toISOString().slice(0, 19).replace('T', ' ')
const dated = (rows: readonly object[]) => rows.map(row => ({ ...row, updateTimeStamp: past() }))

const stored = async ({ service: tenant }: Caller) =>
  new Map(
    (
      await service.db.rows<{ id: string; firstname: string }>(
        sql`select id, firstname from customer where service_id = ${tenant.id}`,
      )
    ).map(row => [row.id, row.firstname]),
  )
const sorted = (seen: Map<string, string>) => Object.fromEntries([...seen].sort())

/** Follows `asOf` until told to stop, and once more. */
async function follow(shop: Caller, isOver: () => boolean, limit: number) {
  const seen = new Map<string, string>()
  let asOf = beginning
  let polls = 0
  for (let last = false; ; last = isOver()) {
    const polled = await poll(shop, asOf, limit)
    for (const { id, firstname } of polled.records) seen.set(id, firstname)
    asOf = polled.asOf
    polls++
    if (last) return { seen, asOf, polls }
  }
}

test('an empty list is complete up to the beginning', async () => {
  assert.equal((await walk(await busy(), '/customers/search')).asOf, beginning)
})

test('the first load appears as one, with the times of its source; a load that died is gone on with', async () => {
  const shop = await busy()
  const row = (id: string, updateTimeStamp: string) => ({ id, firstname: 'Ann', updateTimeStamp })
  assert.ok(await beginLoad(service.db, shop.service, 'customer'), 'the load that dies')
  await upsertCustomers(service.db, shop.service, [row('new', '2025-06-01 10:00:00')])
  const { asOf, ids } = await walk(shop, '/customers/search')
  assert.deepEqual([asOf, ids], [beginning, []])
  const load = await beginLoad(service.db, shop.service, 'customer')
  await upsertCustomers(service.db, shop.service, [
    row('old', '2024-06-01 10:00:00'),
    row('ahead', '2999-01-01 00:00:00'),
  ])
  await load?.end()
  const { json } = await shop.get('/customers/search')
  const times = json.data.map(
    (record: { id: string; updateTimeStamp: string }) => `${record.id} ${record.updateTimeStamp}`,
  )
  assert.deepEqual(times.slice(0, 2), ['old 2024-06-01 10:00:00', 'new 2025-06-01 10:00:00'])
  assert.ok(!times[2].includes('2999'), 'what lies ahead is stamped now')
  assert.equal(await beginLoad(service.db, shop.service, 'customer'), undefined)
})

test('what comes late is stamped right after the newest, and the next poll has it', async () => {
  const shop = await busy()
  const load = await beginLoad(service.db, shop.service, 'customer')
  await upsertCustomers(service.db, shop.service, [
    { id: '1', firstname: 'Ann', updateTimeStamp: '2025-06-01 10:00:00' },
  ])
  await load?.end()
  const { asOf } = await walk(shop, '/customers/search')
  await upsertCustomers(service.db, shop.service, [
    { id: '2', firstname: 'Ann', updateTimeStamp: '2025-03-01 10:00:00' },
  ])
  const next = await poll(shop, asOf)
  assert.deepEqual([next.ids, Date.parse(next.asOf) - Date.parse(asOf) <= 1], [['2'], true])
  await upsertCustomers(service.db, shop.service, [
    { id: '3', firstname: 'Ann', updateTimeStamp: '2025-07-01 10:00:00' },
  ])
  const { json } = await shop.get(`/customers/search?updated_after=${next.asOf}`)
  assert.equal(json.data[0].updateTimeStamp, '2025-07-01 10:00:00')
})

/** A transaction that has merged a row and stays open until `commit`. */
async function open(shop: Caller, row: object) {
  const worked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const held: Database = {
    ...writersDb,
    transaction: <T>(work: (tx: Db) => Promise<T>) =>
      writersDb.transaction(async tx => {
        const done = await work(tx)
        worked.resolve()
        await released.promise
        return done
      }),
  }
  const ended = upsertCustomers(held, shop.service, [row])
  await Promise.race([worked.promise, ended])
  return async () => {
    released.resolve()
    await ended
  }
}

test('a late arrival that is still open when a change of now ends is seen by who polls in between', async () => {
  const shop = await busy()
  await upsertCustomers(service.db, shop.service, [{ id: 'first', firstname: 'Ann' }])
  const { asOf } = await walk(shop, '/customers/search')
  const commitNow = await open(shop, { id: 'now', firstname: 'Ann' })
  const commitLate = await open(shop, { id: 'late', firstname: 'Ann', updateTimeStamp: '2025-03-01 10:00:00' })
  await commitNow()
  const between = await poll(shop, asOf)
  await commitLate()
  const after = await poll(shop, between.asOf)
  assert.deepEqual(new Set([...between.ids, ...after.ids].filter(id => id !== 'first')), new Set(['now', 'late']))
})

test('a first load, late arrivals and changes of now, all at once and some of them killed, hide nothing from who follows', async () => {
  const shop = await busy()
  const ids = customers(1, 60).map(({ id }) => id)
  const some = (name: string) => ids.filter(() => Math.random() < 0.08).map(id => ({ id, firstname: name }))
  const counts = { commits: 0, killed: 0 }
  const ends = performance.now() + 8_000
  let over = false
  const put = async (rows: readonly object[], killed = 0) => {
    try {
      await persistently(() => upsertCustomers(slow(killed), shop.service, rows))
      counts.commits++
    } catch {
      counts.killed++
    }
  }
  const firstLoad = async () => {
    const load = await beginLoad(service.db, shop.service, 'customer')
    assert.ok(load)
    for (let batch = 0; batch < 40; batch++) await put(dated(customers(1_000 + batch * 10, 10, 'Loaded')), 0.1)
    await load.end()
    // A load that goes on after its end, as one that was taken to be dead.
    for (let batch = 0; performance.now() < ends; batch++)
      await put(dated(customers(5_000 + batch * 3, 3, 'Late')), 0.1)
  }
  const writer = async (name: string, rowsOf: (rows: readonly object[]) => readonly object[]) => {
    for (let turn = 0; performance.now() < ends; turn++) await put(rowsOf(some(`${name}${turn}`)), 0.1)
  }
  const readers = [3, 50].map(limit => follow(shop, () => over, limit))
  await Promise.all([
    firstLoad(),
    writer('feed', dated),
    writer('pull', dated),
    writer('api', rows => rows),
    writer('shop', rows => rows),
  ]).finally(() => {
    over = true
  })
  const final = sorted(await stored(shop))
  for (const { seen, asOf, polls } of await Promise.all(readers)) {
    assert.deepEqual(sorted(seen), final)
    assert.ok(polls > 20, String(polls))
    assert.deepEqual((await poll(shop, asOf)).ids, [], 'and then it is quiet')
  }
  assert.ok(counts.commits > 100 && counts.killed > 10, JSON.stringify(counts))
})
