import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase, sql } from '../../../src/database/db.ts'
import { retryOnContention } from '../../../src/database/pg/contention.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { buildCustomers, paginate, pollSince } from '../../support/paginate.ts'
import { openTransaction, withCommitStep } from '../../support/postgres/slow-commits.ts'
import { type Caller, startTestApi } from '../../support/service.ts'

const api = await startTestApi()
const writersDb = openDatabase(api.database.connection, { max: 10 })
after(async () => {
  await writersDb.close()
  await api.stop()
})

/** Creates a service without a read limit. */
const createService = () => api.createService({ readsPerMinute: 'off' })

/** Changes customers in a transaction that stays open. Returns the function that commits it. */
const openChange = (t: TestContext, { service }: Caller, rows: readonly object[]) =>
  openTransaction(t, writersDb, db => upsertCustomers(db, service, rows))

const getNewestChange = async ({ service }: Caller) =>
  (
    await api.db.row<{ at: string }>(
      sql`select max(changed_at)::text as at from customer where service_id = ${service.id}`,
    )
  )?.at

const listChangedAfter = (caller: Caller, instant: string | undefined) =>
  api.db.rows<{ id: string }>(
    sql`select id from customer where service_id = ${caller.service.id} and changed_at > ${instant}::timestamptz`,
  )

test('the next poll returns a change that began first and committed last', async t => {
  const caller = await createService()
  await upsertCustomers(api.db, caller.service, buildCustomers(1, 3))
  const before = await paginate(caller, '/customers/search')
  const commitLate = await openChange(t, caller, [{ id: 'late', firstname: 'Ann' }])
  const received: string[] = []
  let { asOf } = before
  for (let i = 0; i < 5; i++) {
    await upsertCustomers(api.db, caller.service, [{ id: `swift${i}`, firstname: 'Ann' }])
    const polled = await pollSince(caller, asOf)
    received.push(...polled.ids)
    asOf = polled.asOf
  }
  const naive = await getNewestChange(caller)
  await commitLate()
  assert.ok(
    !(await listChangedAfter(caller, naive)).some(({ id }) => id === 'late'),
    'a reader that resumes at the newest change must miss the late change',
  )
  received.push(...(await pollSince(caller, asOf)).ids)
  assert.deepEqual(new Set(received), new Set(['late', 'swift0', 'swift1', 'swift2', 'swift3', 'swift4']))
})

test('a change committed during a pagination session appears in the next poll', async t => {
  const caller = await createService()
  await upsertCustomers(api.db, caller.service, buildCustomers(1, 30))
  const commitLate = await openChange(t, caller, [{ id: '000015', firstname: 'Late' }])
  await upsertCustomers(api.db, caller.service, [{ id: '000020', firstname: 'Swift' }])
  const first = await paginate(caller, '/customers/search?limit=5', async page => {
    if (page === 2) await commitLate()
  })
  const next = await pollSince(caller, first.asOf)
  const last = new Map([...first.records, ...next.records].map(({ id, firstname }) => [id, firstname]))
  assert.equal(last.size, 30)
  assert.equal(last.get('000015'), 'Late')
  assert.equal(last.get('000020'), 'Swift')
})

test('a rolled back transaction leaves nothing behind and delays no list', async () => {
  const caller = await createService()
  await upsertCustomers(api.db, caller.service, buildCustomers(1, 2))
  await assert.rejects(
    upsertCustomers(
      withCommitStep(writersDb, () => Promise.reject(new Error('the till is closed'))),
      caller.service,
      buildCustomers(1, 9, 'Never'),
    ),
    /the till is closed/,
  )
  await upsertCustomers(api.db, caller.service, [{ id: 'then', firstname: 'Ann' }])
  const { records } = await paginate(caller, '/customers/search')
  assert.deepEqual(records.map(({ id, firstname }) => `${id} ${firstname}`).sort(), [
    '000001 Ann',
    '000002 Ann',
    'then Ann',
  ])
})

test('an open transaction of one service does not delay other services', async t => {
  const [slow, quick] = [await createService(), await createService()]
  await upsertCustomers(api.db, slow.service, buildCustomers(1, 1))
  const commitLate = await openChange(t, slow, [{ id: 'late', firstname: 'Ann' }])
  await upsertCustomers(api.db, quick.service, [{ id: 'now', firstname: 'Ann' }])
  await upsertCustomers(api.db, slow.service, [{ id: 'now', firstname: 'Ann' }])
  assert.deepEqual((await paginate(quick, '/customers/search')).ids, ['now'])
  assert.deepEqual((await paginate(slow, '/customers/search')).ids, ['000001'], "the service's own lists must wait")
  await commitLate()
  assert.deepEqual(new Set((await paginate(slow, '/customers/search')).ids), new Set(['000001', 'now', 'late']))
})

test('a polling reader misses nothing from eight writers committing out of order', async () => {
  const caller = await createService()
  const ids = buildCustomers(1, 80).map(({ id }) => id)
  await upsertCustomers(api.db, caller.service, buildCustomers(1, 20))
  const start = await paginate(caller, '/customers/search?limit=7')
  const last = new Map(start.records.map(({ id, firstname }) => [id, firstname]))
  const counts = { commits: 0, rollbacks: 0, polls: 0 }
  const startedAt = performance.now()
  const getElapsedMs = () => performance.now() - startedAt
  const isEnough = () => getElapsedMs() > 4_000 && counts.commits > 150 && counts.rollbacks > 30 && counts.polls > 30
  const writersDone = new AbortController()

  const writer = async (name: number) => {
    for (let round = 0; getElapsedMs() < 60_000 && !isEnough(); round++) {
      const chosen = ids.filter(() => Math.random() < 0.04)
      const rollback = Math.random() < 0.2
      const delayMs = Math.random() ** 3 * 150
      const rows = chosen.map(id => ({ id, firstname: `${name}/${round}` }))
      try {
        // Imports also retry a transaction that PostgreSQL cancelled because of a deadlock.
        await retryOnContention(() =>
          upsertCustomers(
            withCommitStep(writersDb, async () => {
              await delay(delayMs)
              if (rollback) throw new Error('rolled back')
            }),
            caller.service,
            rows,
          ),
        )
        counts.commits++
      } catch (error) {
        assert.equal((error as Error).message, 'rolled back')
        counts.rollbacks++
      }
    }
  }

  // A client without `asOf` would continue from the newest change that it has received.
  const naive = { at: await getNewestChange(caller), last: new Map<string, string>() }
  const readNaively = async () => {
    const rows = await api.db.rows<{ id: string; firstname: string; at: string }>(
      sql`select id, firstname, changed_at::text as at from customer where service_id = ${caller.service.id} and changed_at > ${naive.at}::timestamptz order by changed_at, id`,
    )
    for (const row of rows) naive.last.set(row.id, row.firstname)
    naive.at = rows.at(-1)?.at ?? naive.at
  }

  let { asOf } = start
  const pollOnce = async () => {
    const polled = await pollSince(caller, asOf, 7)
    asOf = polled.asOf
    counts.polls++
    for (const { id, firstname } of polled.records) last.set(id, firstname)
    await readNaively()
  }
  const reader = async () => {
    while (!writersDone.signal.aborted) await pollOnce()
    await pollOnce()
  }
  await Promise.all([
    reader(),
    Promise.all(Array.from({ length: 8 }, (_, name) => writer(name))).finally(() => writersDone.abort()),
  ])

  const final = await api.db.rows<{ id: string; firstname: string }>(
    sql`select id, firstname from customer where service_id = ${caller.service.id}`,
  )
  assert.deepEqual(
    Object.fromEntries([...last].sort()),
    Object.fromEntries(final.map(row => [row.id, row.firstname]).sort()),
  )
  assert.ok(counts.commits > 100 && counts.rollbacks > 20 && counts.polls > 20, JSON.stringify(counts))
  const lost = final.filter(row => row.firstname !== 'Ann' && naive.last.get(row.id) !== row.firstname)
  assert.ok(lost.length > 0, 'a reader that uses only the newest change must lose changes in the same run')
  assert.deepEqual((await pollSince(caller, asOf)).ids, [], 'there must be no further changes')
})

// If timestamps are at most one second ahead, readers wait. Otherwise, the list clock is corrected and changes are visible
// immediately.
for (const offset of ['800 ms', '1 hour'])
  test(`a poll misses nothing if timestamps are ${offset} ahead of the clock`, async () => {
    const caller = await createService()
    await upsertCustomers(api.db, caller.service, buildCustomers(1, 2))
    await api.db.run(
      sql`update customer set changed_at = clock_timestamp() + ${offset}::interval where service_id = ${caller.service.id} and id = '000002'`,
    )
    const ahead = await getNewestChange(caller)
    const start = await paginate(caller, '/customers/search')
    await upsertCustomers(api.db, caller.service, [{ id: 'new', firstname: 'Ann' }])
    assert.deepEqual(await listChangedAfter(caller, ahead), [{ id: 'new' }])
    const received = new Set(start.ids)
    let { asOf } = start
    const deadline = performance.now() + 5_000
    do {
      const polled = await pollSince(caller, asOf)
      asOf = polled.asOf
      for (const id of polled.ids) received.add(id)
      await delay(50)
    } while (received.size < 3 && performance.now() < deadline)
    assert.deepEqual(received, new Set(['000001', '000002', 'new']))
  })

test('a look-up shows committed data despite an older open transaction', async t => {
  const caller = await createService()
  await upsertCustomers(api.db, caller.service, [{ id: '1', firstname: 'Ann', email: 'ann@example.com' }])
  await openChange(t, caller, [{ id: 'late', firstname: 'Zoe' }])
  await upsertCustomers(api.db, caller.service, [{ id: '1', firstname: 'Anna' }])
  const { json } = await caller.get('/customers?email=ann@example.com')
  assert.equal(json.data[0]?.firstname, 'Anna')
})
