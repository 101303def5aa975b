import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { haltPostgresWhile } from '../../scenarios/support/halt.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { awaitAtCommit, type Database, openDatabase, sql } from '../../src/database/db.ts'
import { CommitUnknown, DatabaseUnavailable } from '../../src/database/errors.ts'
import { type Postgres, startPostgres } from '../../src/postgres/postgres.ts'
import { addAccount } from '../../src/store/accounts/accounts.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import { install } from '../support/installations/installations.ts'
import { buildCustomers } from '../support/paginate.ts'
import { assertProblem } from '../support/problem.ts'
import { waitUntil } from '../support/processes.ts'
import { buildCredentials, startSecondServer } from '../support/servers.ts'

// A PostgreSQL of its own, to be taken away.
const directory = mkdtempSync(join(tmpdir(), 'tillbridge-outage-'))
const home = join(directory, 'data')
let postgres: Postgres
let db: Database
let server: Awaited<ReturnType<typeof startSecondServer>>
let headers: Record<string, string>
before(async () => {
  chmodSync(directory, 0o711)
  await install({ DATA_DIR: home })
  postgres = await startPostgres(join(home, 'postgres'), { settings: { fsync: 'off' } })
  db = openDatabase(postgres.connection, { max: 5 })
  const keys = deriveKeys(randomBytes(32))
  const service = await addService(db, 'shop', { readsPerMinute: 'off' })
  assert.ok(service)
  const password = await addAccount(db, keys, 'user', service, 'admin')
  headers = buildCredentials({ username: 'user', password: password ?? '', service })
  await upsertCustomers(db, service, buildCustomers(1, 2))
  server = await startSecondServer({ db, keys })
})
after(async () => {
  await server.stop()
  await db.close()
  await postgres.stop()
  await rm(directory, { recursive: true, force: true })
})

const get = (path: string, more = {}) => server.sendRequest(path, { headers: { ...headers, ...more } })

test('a hanging connection times out and is not reused', async () => {
  const impatient = openDatabase(postgres.connection, { max: 1, statementTimeoutMs: 100 })
  const backend = async () =>
    (await impatient.row<{ pid: number }>(sql`select pg_backend_pid() as pid`))?.pid ?? assert.fail('no backend')
  const halted: number[] = []
  const halt = (pid: number) => {
    halted.push(pid)
    process.kill(pid, 'SIGSTOP')
  }
  try {
    halt(await backend())
    await assert.rejects(impatient.row(sql`select 1`), DatabaseUnavailable)
    halt(await backend())
    await assert.rejects(
      impatient.transaction(tx => tx.row(sql`select 1`)),
      DatabaseUnavailable,
    )
    const remaining = await backend()
    assert.ok(!halted.includes(remaining))
    await assert.rejects(impatient.row(sql`select 1 / 0`), { code: '22012' })
    assert.equal(await backend(), remaining, 'a statement that is wrong costs no connection')
  } finally {
    for (const pid of halted) process.kill(pid, 'SIGCONT')
    await impatient.close()
  }
})

test('a server that ends each ready connection is unavailable', async t => {
  const message = (type: string, ...parts: (string | number[])[]) => {
    const body = Buffer.concat(parts.map(part => Buffer.from(part as string)))
    const header = Buffer.alloc(5)
    header.write(type)
    header.writeInt32BE(body.length + 4, 1)
    return Buffer.concat([header, body])
  }
  const ended = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'
  // All in one packet, as of a server that is shut down while it accepts connections.
  const greeting = Buffer.concat([message('R', [0, 0, 0, 0]), message('Z', 'I'), message('E', ended)])
  const stopping = createServer(socket => socket.once('data', () => socket.end(greeting)))
  stopping.listen(0, '127.0.0.1')
  t.after(() => stopping.close())
  await once(stopping, 'listening')
  const { port } = stopping.address() as AddressInfo
  const stopped = openDatabase({ host: '127.0.0.1', port, user: 'shop', database: 'shop' })
  t.after(() => stopped.close())
  await assert.rejects(stopped.rows(sql`select`), DatabaseUnavailable)
})

test('statements fail fast while PostgreSQL hangs, but slow ones do not', async () => {
  const patient = openDatabase(postgres.connection, { max: 4, statementTimeoutMs: 120_000 })
  try {
    assert.deepEqual(await patient.row(sql`select 1 as there from pg_sleep(9)`), { there: 1 })
    await haltPostgresWhile(postgres.pid, async () => {
      const begun = performance.now()
      const waiting = [
        patient.row(sql`select 1`),
        patient.transaction(tx => tx.row(sql`select 1`)),
        patient.row(sql`select 2`),
      ]
      await Promise.all(waiting.map(result => assert.rejects(result, DatabaseUnavailable)))
      assert.ok(performance.now() - begun < 60_000, 'not only when their time is over')
      const getRejection = () => patient.row(sql`select 3`).then(String, (error: Error) => error.message)
      await waitUntil(async () => /does not answer/.test(await getRejection()), 'the stall is detected', 30_000)
    })
    await waitUntil(() => patient.row(sql`select 1`).catch(() => false), 'queries succeed again', 20_000)
  } finally {
    await patient.close()
  }
})

test('later statements of a failed transaction report the same cause', async () => {
  const work = db.transaction(async tx => {
    tx.row(sql`select 1 / 0`).catch(() => {})
    return tx.row(sql`select 1`)
  })
  await assert.rejects(work, { code: '22012' })
})

test('statements queued after a failure are skipped and can be repeated', async () => {
  await db.transaction(async tx => {
    const late = (word: string) => tx.row(sql`select ${word}::text as said, 'behind a failure' as what`)
    const statements = [tx.run(sql`savepoint here`), tx.row(sql`select 1 / 0`), late('first')]
    const responses = await Promise.allSettled(statements)
    assert.deepEqual(
      responses.map(response => (response.status === 'rejected' ? response.reason.code : response.status)),
      ['fulfilled', '22012', '22012'],
    )
    await tx.run(sql`rollback to savepoint here`)
    for (const word of ['second', 'third']) assert.deepEqual(await late(word), { said: word, what: 'behind a failure' })
  })
})

test('a failure after a savepoint rollback reports its own cause', async () => {
  const work = db.transaction(async tx => {
    await tx.run(sql`savepoint here`)
    await assert.rejects(tx.row(sql`select 1 / 0`), { code: '22012' })
    await tx.run(sql`rollback to savepoint here`)
    tx.row(sql`select 'x'::integer`).catch(() => {})
    return tx.row(sql`select 1`)
  })
  await assert.rejects(work, { code: '22P02' })
})

test('a transaction ended before its commit is known to be lost', async () => {
  const shortTimeoutDb = openDatabase(postgres.connection, { max: 1, statementTimeoutMs: 100 })
  try {
    const work = shortTimeoutDb.transaction(async tx => awaitAtCommit(tx.run(sql`select pg_sleep(60)`)))
    await assert.rejects(work, error => error instanceof DatabaseUnavailable && !(error instanceof CommitUnknown))
  } finally {
    await shortTimeoutDb.close()
  }
})

test('a single statement whose commit fails has failed', async () => {
  await db.run(sql`create table late (a integer unique deferrable initially deferred)`)
  try {
    await assert.rejects(db.run(sql`insert into late values (1), (1)`), { code: '23505' })
    assert.equal(await db.run(sql`select from late`), 0)
  } finally {
    await db.run(sql`drop table late`)
  }
})

test('a transaction rolled back in progress leaves its connection clean', async () => {
  const database = openDatabase(postgres.connection, { max: 1 })
  const process = () => database.row(sql`select pg_backend_pid() as pid`)
  await database.run(sql`create table parts (a integer)`)
  try {
    const pid = await process()
    // If a statement fails, the continuation of an earlier one runs at the same time as the rollback.
    const failing = database.transaction(async tx => {
      tx.run(sql`insert into parts values (1)`)
        .then(() => tx.run(sql`insert into parts values (2)`))
        .catch(() => {})
      await tx.row(sql`select 1 / 0`)
    })
    await assert.rejects(failing, { code: '22012' })
    let part: Promise<unknown> = Promise.resolve()
    const thrown = database.transaction(async tx => {
      part = tx.run(sql`insert into parts values (3)`).then(() => tx.run(sql`insert into parts values (4)`))
      part.catch(() => {})
      throw new Error('on second thoughts')
    })
    await assert.rejects(thrown, /on second thoughts/)
    await assert.rejects(part, /The transaction is over/)
    assert.deepEqual(await process(), pid)
    assert.equal(await database.run(sql`select from parts`), 0)
  } finally {
    await database.run(sql`drop table parts`)
    await database.close()
  }
})

test('an unexpected error returns only the request ID', async () => {
  assert.equal((await get('/customers/search')).status, 200)
  await db.run(sql`alter table customer rename to customer_away`)
  try {
    for (const path of ['/customers/search', '/customers/000001', '/customers?email=a@example.com']) {
      const response = await get(path, { 'x-request-id': 'report-this' })
      assertProblem(response, 'internal_error', server.baseUrl)
      assert.equal(response.json.requestId, 'report-this')
      assert.deepEqual(Object.keys(response.json).sort(), ['code', 'requestId', 'status', 'title', 'type'])
    }
    assert.equal((await get('/stores')).status, 200, 'other requests succeed')
  } finally {
    await db.run(sql`alter table customer_away rename to customer`)
  }
  assert.equal((await get('/customers/search')).status, 200)
})

test('cut connections under load cause at most 503 responses', async () => {
  const statuses = new Set<number>()
  const pending = Promise.all(
    Array.from({ length: 6 }, async () => {
      for (let i = 0; i < 25; i++) {
        const { status, headers: responseHeaders } = await get('/customers/search')
        statuses.add(status)
        if (status === 503) assert.ok(Number(responseHeaders['retry-after']) > 0)
      }
    }),
  )
  for (let i = 0; i < 10; i++)
    await db
      .run(
        sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tillbridge' and pid <> pg_backend_pid()`,
      )
      .catch(() => {})
  await pending
  assert.ok(statuses.isSubsetOf(new Set([200, 503])), [...statuses].join())
  assert.equal((await get('/customers/search')).status, 200)
})

test('requests return 503 with Retry-After until PostgreSQL is back', async () => {
  await postgres.stop()
  for (const path of ['/customers/search', '/customers/000001', '/stores']) {
    const response = await get(path)
    assertProblem(response, 'service_unavailable', server.baseUrl, path)
    assert.ok(Number(response.headers['retry-after']) >= 1)
  }
  const crowd = await Promise.all(Array.from({ length: 60 }, () => get('/stores')))
  const waits = new Set(crowd.map(response => Number(response.headers['retry-after'])))
  assert.ok(waits.isSubsetOf(new Set([2, 3, 4])), [...waits].join())
  assert.ok(waits.size > 1, 'who is sent away together does not come back together')
  const ready = await server.sendRequest('/health/ready')
  assert.equal(ready.status, 503)
  assert.ok(Number(ready.headers['retry-after']) >= 1)
  assert.deepEqual(ready.json, { data: { status: 'not ready' } })
  assert.equal((await server.sendRequest('/health/live')).status, 200)
  assert.equal((await server.sendRequest('/docs')).status, 200)

  postgres = await startPostgres(join(home, 'postgres'), { settings: { fsync: 'off' } })
  const back = performance.now()
  while ((await get('/customers/search')).status !== 200) {
    assert.ok(performance.now() - back < 10_000, 'within 10 s')
    await delay(20)
  }
  assert.equal((await server.sendRequest('/health/ready')).status, 200)
  assert.equal((await get('/customers/search')).json.data.length, 2)
})
