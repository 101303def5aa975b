import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Database, openDatabase, sql } from '../../../src/database/db.ts'
import { retryOnContention } from '../../../src/database/pg/contention.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { beginChange } from '../../../src/store/lists/change-timestamp.ts'
import { withInitialLoad } from '../../../src/store/lists/initial-load.ts'
import { removeRecords } from '../../../src/store/lists/tombstones.ts'
import { buildCustomers, paginate, pollSince, withTimestamps } from '../../support/paginate.ts'
import { withSlowCommits } from '../../support/postgres/slow-commits.ts'
import { type Caller, startTestApi } from '../../support/service.ts'

const api = await startTestApi()
const writersDb = openDatabase(api.database.connection, { max: 10 })
after(async () => {
  await writersDb.close()
  await api.stop()
})

const beginning = '1970-01-01T00:00:00.000000Z'

const slowDb = withSlowCommits(writersDb, 120, 0.1)

const readStored = ({ service: { id } }: Caller) =>
  api.db.rows<{ id: string; firstname: string }>(
    sql`select id, firstname from customer where service_id = ${id} order by id`,
  )

/** Polls with `asOf` from the beginning until `isDone` returns true, and then once more. */
async function pollUntilDone(caller: Caller, isDone: () => boolean, limit: number) {
  const received = new Map<string, string>()
  let asOf = beginning
  let polls = 0
  for (let last = false; ; last = isDone()) {
    const polled = await pollSince(caller, asOf, limit)
    for (const { id, firstname } of polled.records) received.set(id, firstname)
    asOf = polled.asOf
    polls++
    if (last) return { received, asOf, polls }
  }
}

/** Starts a process with an initial load, and kills it when some customers are stored. */
async function killLoader(caller: Caller) {
  const input = { database: api.database.connection, service: caller.service }
  const program = fileURLToPath(new URL('load.ts', import.meta.url))
  const child = spawn(process.execPath, [program, JSON.stringify(input)], { stdio: ['ignore', 'ignore', 'inherit'] })
  const exited = once(child, 'exit')
  while ((await readStored(caller)).length < 30 && child.exitCode === null) await delay(20)
  child.kill('SIGKILL')
  assert.equal((await exited)[1], 'SIGKILL')
}

/** Removes the newest customer and a random one. */
const removeSome = (db: Database, { service }: Caller) =>
  db.transaction(async tx => {
    const change = await beginChange(tx, service, ['customer'])
    const selectId = sql`(select id from customer where service_id = ${service.id} order by`
    const where = sql`id in (${selectId} changed_at desc limit 1), ${selectId} random() limit 1))`
    await removeRecords(tx, service, change, { list: 'customer', id: sql`id`, where })
  })

test('a reader misses nothing despite killed initial loads, late arrivals and tombstones', async () => {
  const caller = await api.createService({ readsPerMinute: 'off' })
  await killLoader(caller)
  assert.ok((await readStored(caller)).length > 0)
  assert.deepEqual((await paginate(caller, '/customers/search')).ids, [], 'the loaded customers must not be visible')

  const ids = buildCustomers(1, 60).map(({ id }) => id)
  const pickRandom = (name: string) => ids.filter(() => Math.random() < 0.08).map(id => ({ id, firstname: name }))
  const counts = { commits: 0, killed: 0 }
  const polled = [0, 0]
  // Continues until enough writes overlapped. A slow machine gets more time.
  const [minEnd, maxEnd] = [performance.now() + 4_000, performance.now() + 60_000]
  const shouldContinue = () =>
    performance.now() < minEnd ||
    (performance.now() < maxEnd && (counts.commits <= 150 || counts.killed <= 12 || Math.min(...polled) <= 25))
  const countWrite = async (work: () => Promise<unknown>) => {
    try {
      await retryOnContention(work)
      counts.commits++
    } catch {
      counts.killed++
    }
  }
  const writer = async (work: (round: number) => Promise<unknown>) => {
    for (let round = 0; shouldContinue(); round++) await countWrite(() => work(round))
  }
  const upsert = (rows: readonly object[]) => upsertCustomers(slowDb, caller.service, rows)
  const loader = async () => {
    await withInitialLoad(api.db, caller.service, 'customer', async () => {
      for (let batch = 0; batch < 30; batch++)
        await countWrite(() => upsert(withTimestamps(buildCustomers(5_000 + batch * 10, 10, 'Loaded'))))
    })
    // The load continues after its end, as if Tillbridge had considered it abandoned.
    await writer(round => upsert(withTimestamps(buildCustomers(9_000 + round * 3, 3, 'Late'))))
  }

  let hasEnded = false
  const isDone = (reader: number) => {
    polled[reader] = (polled[reader] ?? 0) + 1
    return hasEnded
  }
  const readers = [3, 50].map((limit, reader) => pollUntilDone(caller, () => isDone(reader), limit))
  await Promise.all([
    loader(),
    writer(round => upsert(withTimestamps(pickRandom(`sync${round}`)))),
    writer(round => upsert(withTimestamps(pickRandom(`pull${round}`)))),
    writer(round => upsert(pickRandom(`api${round}`))),
    writer(async () => {
      await delay(200)
      await removeSome(slowDb, caller)
    }),
  ]).finally(() => {
    hasEnded = true
  })
  const final = (await readStored(caller)).map(({ id, firstname }) => `${id} ${firstname}`)
  for (const { received, asOf, polls } of await Promise.all(readers)) {
    assert.deepEqual(
      final.filter(record => record !== `${record.slice(0, 6)} ${received.get(record.slice(0, 6))}`),
      [],
    )
    assert.ok(polls > 20, String(polls))
    assert.deepEqual((await pollSince(caller, asOf)).ids, [], 'there must be no further changes')
  }
  assert.ok(counts.commits > 100 && counts.killed > 10, JSON.stringify(counts))
})
