import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Database, type Db, openDatabase, sql } from '../../../src/database/db.ts'
import { retryOnContention } from '../../../src/database/pg/contention.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { beginChange } from '../../../src/store/lists/change-timestamp.ts'
import { withInitialLoad } from '../../../src/store/lists/initial-load.ts'
import { removeRecords } from '../../../src/store/lists/tombstones.ts'
import { buildCustomers, paginate, pollSince, withTimestamps } from '../../support/paginate.ts'
import { type Caller, startTestApi } from '../../support/service.ts'

const api = await startTestApi()
const writersDb = openDatabase(api.database.connection, { max: 10 })
after(async () => {
  await writersDb.close()
  await api.stop()
})

const beginning = '1970-01-01T00:00:00.000000Z'

/** Transactions that wait a little before they commit; one in ten is ended instead, as by `kill -9`. */
const slow: Database = {
  ...writersDb,
  transaction: <T>(work: (tx: Db) => Promise<T>) =>
    writersDb.transaction(async tx => {
      const done = await work(tx)
      await delay(Math.random() ** 3 * 120)
      if (Math.random() < 0.1) await tx.run(sql`select pg_terminate_backend(pg_backend_pid())`)
      return done
    }),
}

const stored = ({ service: { id } }: Caller) =>
  api.db.rows<{ id: string; firstname: string }>(
    sql`select id, firstname from customer where service_id = ${id} order by id`,
  )

/** Follows `asOf` from the beginning until `isOver`, and once more. */
async function follow(caller: Caller, isOver: () => boolean, limit: number) {
  const seen = new Map<string, string>()
  let asOf = beginning
  let polls = 0
  for (let last = false; ; last = isOver()) {
    const polled = await pollSince(caller, asOf, limit)
    for (const { id, firstname } of polled.records) seen.set(id, firstname)
    asOf = polled.asOf
    polls++
    if (last) return { seen, asOf, polls }
  }
}

/** Has a process begin a first load, and kills it when some of it is there. */
async function killLoader(caller: Caller) {
  const input = { database: api.database.connection, service: caller.service }
  const program = fileURLToPath(new URL('load.ts', import.meta.url))
  const child = spawn(process.execPath, [program, JSON.stringify(input)], { stdio: ['ignore', 'ignore', 'inherit'] })
  const exited = once(child, 'exit')
  while ((await stored(caller)).length < 30 && child.exitCode === null) await delay(20)
  child.kill('SIGKILL')
  assert.equal((await exited)[1], 'SIGKILL')
}

/** Removes the newest customer, and another one. */
const removeSome = (db: Database, { service }: Caller) =>
  db.transaction(async tx => {
    const change = await beginChange(tx, service, ['customer'])
    const of = sql`(select id from customer where service_id = ${service.id} order by`
    const where = sql`id in (${of} changed_at desc limit 1), ${of} random() limit 1))`
    await removeRecords(tx, service, change, { list: 'customer', id: sql`id`, where })
  })

test('a reader misses nothing despite killed initial loads, late arrivals and tombstones', async () => {
  const caller = await api.createService({ readsPerMinute: 'off' })
  await killLoader(caller)
  assert.ok((await stored(caller)).length > 0)
  assert.deepEqual((await paginate(caller, '/customers/search')).ids, [], 'what was loaded is not shown')

  const ids = buildCustomers(1, 60).map(({ id }) => id)
  const some = (name: string) => ids.filter(() => Math.random() < 0.08).map(id => ({ id, firstname: name }))
  const counts = { commits: 0, killed: 0 }
  const polled = [0, 0]
  // Continues until enough writes overlapped, however long the machine takes.
  const [least, latest] = [performance.now() + 4_000, performance.now() + 60_000]
  const goesOn = () =>
    performance.now() < least ||
    (performance.now() < latest && (counts.commits <= 150 || counts.killed <= 12 || Math.min(...polled) <= 25))
  const put = async (work: () => Promise<unknown>) => {
    try {
      await retryOnContention(work)
      counts.commits++
    } catch {
      counts.killed++
    }
  }
  const writer = async (work: (round: number) => Promise<unknown>) => {
    for (let round = 0; goesOn(); round++) await put(() => work(round))
  }
  const upsert = (rows: readonly object[]) => upsertCustomers(slow, caller.service, rows)
  const loader = async () => {
    await withInitialLoad(api.db, caller.service, 'customer', async () => {
      for (let batch = 0; batch < 30; batch++)
        await put(() => upsert(withTimestamps(buildCustomers(5_000 + batch * 10, 10, 'Loaded'))))
    })
    // A load that continues after its end, like one that counted as dead.
    await writer(round => upsert(withTimestamps(buildCustomers(9_000 + round * 3, 3, 'Late'))))
  }

  let over = false
  const isOver = (reader: number) => {
    polled[reader] = (polled[reader] ?? 0) + 1
    return over
  }
  const readers = [3, 50].map((limit, reader) => follow(caller, () => isOver(reader), limit))
  await Promise.all([
    loader(),
    writer(round => upsert(withTimestamps(some(`sync${round}`)))),
    writer(round => upsert(withTimestamps(some(`pull${round}`)))),
    writer(round => upsert(some(`api${round}`))),
    writer(async () => {
      await delay(200)
      await removeSome(slow, caller)
    }),
  ]).finally(() => {
    over = true
  })
  const final = (await stored(caller)).map(({ id, firstname }) => `${id} ${firstname}`)
  for (const { seen, asOf, polls } of await Promise.all(readers)) {
    assert.deepEqual(
      final.filter(record => record !== `${record.slice(0, 6)} ${seen.get(record.slice(0, 6))}`),
      [],
    )
    assert.ok(polls > 20, String(polls))
    assert.deepEqual((await pollSince(caller, asOf)).ids, [], 'and then it is quiet')
  }
  assert.ok(counts.commits > 100 && counts.killed > 10, JSON.stringify(counts))
})
