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

// A separate PostgreSQL, which the tests stop.
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

const get = (path: string, extraHeaders = {}) => server.sendRequest(path, { headers: { ...headers, ...extraHeaders } })

test('a hanging connection times out and is not reused', async () => {
  const shortTimeoutDb = openDatabase(postgres.connection, { max: 1, statementTimeoutMs: 100 })
  const getBackendPid = async () =>
    (await shortTimeoutDb.row<{ pid: number }>(sql`select pg_backend_pid() as pid`))?.pid ?? assert.fail('no backend')
  const halted: number[] = []
  const halt = (pid: number) => {
    halted.push(pid)
    process.kill(pid, 'SIGSTOP')
  }
  try {
    halt(await getBackendPid())
    await assert.rejects(shortTimeoutDb.row(sql`select 1`), DatabaseUnavailable)
    halt(await getBackendPid())
    await assert.rejects(
      shortTimeoutDb.transaction(tx => tx.row(sql`select 1`)),
      DatabaseUnavailable,
    )
    const remaining = await getBackendPid()
    assert.ok(!halted.includes(remaining))
    await assert.rejects(shortTimeoutDb.row(sql`select 1 / 0`), { code: '22012' })
    assert.equal(await getBackendPid(), remaining, 'an invalid statement must keep the connection')
  } finally {
    for (const pid of halted) process.kill(pid, 'SIGCONT')
    await shortTimeoutDb.close()
  }
})

test('a server that ends each ready connection is unavailable', async t => {
  const buildMessage = (type: string, ...parts: (string | number[])[]) => {
    const body = Buffer.concat(parts.map(part => Buffer.from(part as string)))
    const header = Buffer.alloc(5)
    header.write(type)
    header.writeInt32BE(body.length + 4, 1)
    return Buffer.concat([header, body])
  }
  const errorBody = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'
  // All messages in one packet, like a server that shuts down while it accepts connections.
  const greeting = Buffer.concat([
    buildMessage('R', [0, 0, 0, 0]),
    buildMessage('Z', 'I'),
    buildMessage('E', errorBody),
  ])
  const stoppingServer = createServer(socket => socket.once('data', () => socket.end(greeting)))
  stoppingServer.listen(0, '127.0.0.1')
  t.after(() => stoppingServer.close())
  await once(stoppingServer, 'listening')
  const { port } = stoppingServer.address() as AddressInfo
  const stoppedDb = openDatabase({ host: '127.0.0.1', port, user: 'shop', database: 'shop' })
  t.after(() => stoppedDb.close())
  await assert.rejects(stoppedDb.rows(sql`select`), DatabaseUnavailable)
})

test('statements fail fast while PostgreSQL hangs, but slow ones do not', async () => {
  const longTimeoutDb = openDatabase(postgres.connection, { max: 4, statementTimeoutMs: 120_000 })
  try {
    assert.deepEqual(await longTimeoutDb.row(sql`select 1 as there from pg_sleep(9)`), { there: 1 })
    await haltPostgresWhile(postgres.pid, async () => {
      const startedAt = performance.now()
      const waiting = [
        longTimeoutDb.row(sql`select 1`),
        longTimeoutDb.transaction(tx => tx.row(sql`select 1`)),
        longTimeoutDb.row(sql`select 2`),
      ]
      await Promise.all(waiting.map(result => assert.rejects(result, DatabaseUnavailable)))
      assert.ok(performance.now() - startedAt < 60_000, 'statements must fail before their timeout')
      const getRejection = () => longTimeoutDb.row(sql`select 3`).then(String, (error: Error) => error.message)
      await waitUntil(async () => /does not answer/.test(await getRejection()), 'the stall is detected', 30_000)
    })
    await waitUntil(() => longTimeoutDb.row(sql`select 1`).catch(() => false), 'queries succeed again', 20_000)
  } finally {
    await longTimeoutDb.close()
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
    const selectWord = (word: string) => tx.row(sql`select ${word}::text as word, 'after a failure' as position`)
    const statements = [tx.run(sql`savepoint before_failure`), tx.row(sql`select 1 / 0`), selectWord('first')]
    const responses = await Promise.allSettled(statements)
    assert.deepEqual(
      responses.map(response => (response.status === 'rejected' ? response.reason.code : response.status)),
      ['fulfilled', '22012', '22012'],
    )
    await tx.run(sql`rollback to savepoint before_failure`)
    for (const word of ['second', 'third'])
      assert.deepEqual(await selectWord(word), { word, position: 'after a failure' })
  })
})

test('a failure after a savepoint rollback reports its own cause', async () => {
  const work = db.transaction(async tx => {
    await tx.run(sql`savepoint before_failure`)
    await assert.rejects(tx.row(sql`select 1 / 0`), { code: '22012' })
    await tx.run(sql`rollback to savepoint before_failure`)
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
  const getBackendPid = () => database.row(sql`select pg_backend_pid() as pid`)
  await database.run(sql`create table parts (a integer)`)
  try {
    const pid = await getBackendPid()
    // If a statement fails, the continuation of an earlier one runs at the same time as the rollback.
    const failingTransaction = database.transaction(async tx => {
      tx.run(sql`insert into parts values (1)`)
        .then(() => tx.run(sql`insert into parts values (2)`))
        .catch(() => {})
      await tx.row(sql`select 1 / 0`)
    })
    await assert.rejects(failingTransaction, { code: '22012' })
    let latePart: Promise<unknown> = Promise.resolve()
    const throwingTransaction = database.transaction(async tx => {
      latePart = tx.run(sql`insert into parts values (3)`).then(() => tx.run(sql`insert into parts values (4)`))
      latePart.catch(() => {})
      throw new Error('on second thoughts')
    })
    await assert.rejects(throwingTransaction, /on second thoughts/)
    await assert.rejects(latePart, /The transaction is over/)
    assert.deepEqual(await getBackendPid(), pid)
    assert.equal(await database.run(sql`select from parts`), 0)
  } finally {
    await database.run(sql`drop table parts`)
    await database.close()
  }
})

test('an unexpected error returns only the request ID', async () => {
  assert.equal((await get('/customers/search')).status, 200)
  await db.run(sql`alter table customer rename to customer_renamed`)
  try {
    for (const path of ['/customers/search', '/customers/000001', '/customers?email=a@example.com']) {
      const response = await get(path, { 'x-request-id': 'report-this' })
      assertProblem(response, 'internal_error', server.baseUrl)
      assert.equal(response.json.requestId, 'report-this')
      assert.deepEqual(Object.keys(response.json).sort(), ['code', 'requestId', 'status', 'title', 'type'])
    }
    assert.equal((await get('/stores')).status, 200, 'other requests succeed')
  } finally {
    await db.run(sql`alter table customer_renamed rename to customer`)
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
  const concurrentResponses = await Promise.all(Array.from({ length: 60 }, () => get('/stores')))
  const waits = new Set(concurrentResponses.map(response => Number(response.headers['retry-after'])))
  assert.ok(waits.isSubsetOf(new Set([2, 3, 4])), [...waits].join())
  assert.ok(waits.size > 1, 'clients that are rejected together must get different delays')
  const ready = await server.sendRequest('/health/ready')
  assert.equal(ready.status, 503)
  assert.ok(Number(ready.headers['retry-after']) >= 1)
  assert.deepEqual(ready.json, { data: { status: 'not ready' } })
  assert.equal((await server.sendRequest('/health/live')).status, 200)
  assert.equal((await server.sendRequest('/docs')).status, 200)

  postgres = await startPostgres(join(home, 'postgres'), { settings: { fsync: 'off' } })
  const restartedAt = performance.now()
  while ((await get('/customers/search')).status !== 200) {
    assert.ok(performance.now() - restartedAt < 10_000, 'the server must recover within 10 s')
    await delay(20)
  }
  assert.equal((await server.sendRequest('/health/ready')).status, 200)
  assert.equal((await get('/customers/search')).json.data.length, 2)
})
