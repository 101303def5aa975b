import assert from 'node:assert/strict'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { faketime, faketimeMissing } from '../../scenarios/support/haproxy.ts'
import { sql } from '../../src/database/db.ts'
import { environment } from '../../src/postgres/run-as.ts'
import { tickClock } from '../../src/store/alerts/database-clock.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import { importAndWait } from '../support/import-and-wait.ts'
import { createDirectory, runCommand, waitUntil } from '../support/processes.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { post, withKey } from '../support/write.ts'
import { type SeparateDatabase, startSeparateDatabase } from './own-postgres.ts'

const skip = faketimeMissing
const clock = join(createDirectory(), 'clock')
let database: SeparateDatabase
let api: TestApi

const setClock = (offset: string) => {
  writeFileSync(`${clock}.new`, offset)
  renameSync(`${clock}.new`, clock)
}

before(async () => {
  if (skip) return
  setClock('+0')
  assert.ok(existsSync(faketime))
  Object.assign(environment, {
    LD_PRELOAD: faketime,
    FAKETIME_TIMESTAMP_FILE: clock,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  })
  database = await startSeparateDatabase(createDirectory())
  api = await startTestApi({ database, settings: { readsPerMinute: 'off', writesPerMinute: 'off' } })
})
after(() => api?.stop())

const readAheadSeconds = async () => {
  const row = await api.db.row<{ now: number }>(sql`select extract(epoch from clock_timestamp())::float8 as now`)
  return Math.round((row?.now ?? 0) - Date.now() / 1_000)
}
const setClockAndWait = async (offset: string, seconds: number) => {
  setClock(offset)
  await waitUntil(async () => Math.abs((await readAheadSeconds()) - seconds) < 60, `the clock is ${offset}`)
}
const createCustomers = async (count: number) => {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const { status, json, text } = await post(api, '/customers', buildCustomer())
    assert.equal(status, 201, text)
    ids.push(json.data.id)
  }
  return ids
}
/** Reads all customers after a time. Returns their IDs and the next time to poll from. */
async function poll(updatedAfter: string) {
  const ids: string[] = []
  let asOf = ''
  for (let query = `?limit=50&updated_after=${encodeURIComponent(updatedAfter)}`; query; ) {
    const { json, status, text } = await api.get(`/customers/search${query}`)
    assert.equal(status, 200, text)
    ids.push(...json.data.map(({ id }: { id: string }) => id))
    asOf = json.meta.asOf
    query = json.meta.hasNextPage
      ? `?limit=50&updated_after=${encodeURIComponent(updatedAfter)}&after_cursor=${json.meta.endCursor}`
      : ''
  }
  return { ids, asOf }
}

test("changes stay visible after PostgreSQL's fast clock is corrected", { skip }, async () => {
  const first = await createCustomers(3)
  await tickClock(api.db, 5_000)
  await setClockAndWait('+1h', 3_600)
  const ahead = await createCustomers(3)
  await tickClock(api.db, 5_000)
  const polled = await poll('2000-01-01 00:00:00')
  assert.deepEqual(polled.ids.toSorted(), [...first, ...ahead].toSorted())

  await setClockAndWait('+0', 0)
  // A list without further writes shows all records.
  await tickClock(api.db, 5_000)
  assert.deepEqual((await poll('2000-01-01 00:00:00')).ids.toSorted(), [...first, ...ahead].toSorted())
  // A follower receives each later change, once.
  let from = polled.asOf
  const received: string[] = []
  const created: string[] = []
  for (let round = 0; round < 5; round++) {
    created.push(...(await createCustomers(4)))
    const { ids, asOf } = await poll(from)
    received.push(...ids)
    from = asOf
  }
  assert.deepEqual(received.toSorted(), created.toSorted())
})

test('a complete file removes records although the clock was set back', { skip }, async () => {
  const caller = await api.createService()
  await importAndWait(caller, 'customers', 'id,surname\nC1,One\nC2,Two\n')
  assert.equal((await importAndWait(caller, 'customers&complete=true', 'id,surname\nC1,One\n')).removed, 1)
  assert.equal((await caller.get('/customers/C2')).status, 404)
})

test('a write alone corrects the clock of lists', { skip }, async () => {
  await api.db.run(sql`delete from database_clock`)
  const { asOf } = await poll('2000-01-01 00:00:00')
  const created = await createCustomers(3)
  assert.deepEqual((await poll(asOf)).ids.slice(-3).toSorted(), created.toSorted())
})

test('doctor, readiness and an alert report a clock that was set back', { skip }, async () => {
  await tickClock(api.db, 5_000)
  const { json } = await api.sendRaw('/health/ready')
  assert.match(json.data.warning, /^The clock of PostgreSQL was ahead and was set back\. .* No change is hidden\.$/)
  const { json: alerts } = await api.get('/alerts')
  assert.deepEqual(
    alerts.data.map(({ kind }: { kind: string }) => kind),
    ['database_clock_set_back'],
  )
  const { out } = await runCommand(['doctor'], {
    DATABASE_URL: database.connection,
    SECRET_KEY: api.secret,
    DATA_DIR: createDirectory(),
  })
  assert.match(out, /^FAIL {2}Clock +The clock of PostgreSQL was ahead and was set back/m)
})

test('a jump of the clock expires no idempotency key', { skip }, async () => {
  const body = buildCustomer()
  const key = withKey()
  const first = await post(api, '/customers', body, key)
  assert.equal(first.status, 201)
  await tickClock(api.db, 5_000)
  await setClockAndWait('+30h', 30 * 3_600)
  await tickClock(api.db, 5_000)
  const repeated = await post(api, '/customers', body, key)
  assert.deepEqual([repeated.status, repeated.headers['idempotent-replayed']], [201, 'true'])
  assert.equal(repeated.json.data.id, first.json.data.id)
})
