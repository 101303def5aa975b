import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { startSimulator } from '../../simulator/simulator.ts'
import { sql } from '../../src/database/db.ts'
import { listMigrationFiles } from '../../src/database/migrate.ts'
import { createUrlBuilder } from '../support/cluster.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import {
  createDirectory,
  createServiceAccess,
  pickPort,
  readAccess,
  runCommand,
  runSuccessfully,
  sendGet,
  serve,
  startCommand,
  stopServer,
  waitUntil,
} from '../support/processes.ts'

let database: TestDatabase
let environment: { DATA_DIR: string; DATABASE_URL: string }

before(async () => {
  database = await createTestDatabase()
  environment = { DATA_DIR: join(createDirectory(), 'data'), DATABASE_URL: database.connection }
})
after(() => database.drop())

test('DATABASE_URL is used instead of the bundled PostgreSQL', async () => {
  const server = await serve(['--no-demo'], environment)
  const access = await createServiceAccess(environment)
  assert.equal((await sendGet(server, '/stores', access)).status, 200)
  assert.deepEqual(await database.db.rows(sql`select name from service`), [{ name: 'luma' }])
  assert.ok(!fs.existsSync(join(environment.DATA_DIR, 'postgres')))
  assert.deepEqual(await stopServer(server), { code: 0, signal: null })
})

test('a start with an existing service creates no demo', async () => {
  const server = await serve([], environment)
  assert.doesNotMatch(server.out, /demo|password/)
  await stopServer(server)
})

test('two installations can share a database', async () => {
  const SECRET_KEY = fs.readFileSync(join(environment.DATA_DIR, 'secret'), 'utf8').trim()
  const other = { ...environment, DATA_DIR: join(createDirectory(), 'data'), SECRET_KEY }
  const settings = { ...environment, SECRET_KEY }
  const access = await createServiceAccess(settings, 'shared')
  const [first, second] = [await serve(['--no-demo'], settings), await serve(['--no-demo'], other)]
  for (const server of [first, second]) assert.equal((await sendGet(server, '/stores', access)).status, 200)
  for (const server of [first, second]) assert.deepEqual(await stopServer(server), { code: 0, signal: null })
})

for (const [title, url, why] of [
  ['a server that is away', () => `postgres://tillbridge:hunter2@127.0.0.1:${pickPort()}/tillbridge`, /ECONNREFUSED/],
  ['an unknown host', () => 'postgres://tillbridge:hunter2@db.invalid/tillbridge', /ENOTFOUND|EAI_AGAIN/],
  [
    'an address that cannot be read',
    () => 'postgres://tillbridge:hunter2@db:port/tillbridge',
    /DATABASE_URL must be a URL/,
  ],
  ['a database that is missing', () => createUrlBuilder(database.connection)('nowhere'), /"nowhere" does not exist/],
] as const)
  test(`${title} stops start and command without showing the password`, async () => {
    for (const args of [['start'], ['service', 'list']]) {
      const { code, out, err } = await runCommand(args, { ...environment, DATABASE_URL: url(), PORT: '0' })
      assert.equal(code, 1)
      assert.equal(out, '')
      assert.match(err, /^tillbridge: .*DATABASE_URL.*\n$/)
      assert.match(err, why)
      assert.doesNotMatch(err, /hunter2/)
    }
  })

test('doctor reports an unreachable database and checks the rest', async () => {
  const DATABASE_URL = `postgres://tillbridge:hunter2@127.0.0.1:${pickPort()}/tillbridge`
  const { code, out } = await runCommand(['doctor'], { ...environment, DATABASE_URL })
  assert.equal(code, 1)
  assert.match(out, /^FAIL {2}Database +The database is unreachable: .*Check DATABASE_URL\.$/m)
  assert.match(out, /^FAIL {2}Services +Not checked: fix the database first\.$/m)
  assert.match(out, /^PASS {2}Settings /m)
  assert.doesNotMatch(out, /hunter2/)
})

test('a killed migration leaves nothing and the next completes it', async () => {
  const fresh = await createTestDatabase()
  const other = new pg.Client(fresh.connection)
  await other.connect()
  const listTables = async () =>
    (await other.query(`select tablename from pg_tables where schemaname = 'public' order by tablename`)).rows.map(
      row => row.tablename,
    )
  try {
    const expectedTables = await listTables()
    await other.query('drop schema public cascade; create schema public')
    // This transaction holds the table name, so that the migration waits halfway.
    await other.query('begin; create table account_service (id integer)')
    const settings = { ...environment, DATABASE_URL: fresh.connection }
    const killed = startCommand(['migrate'], settings)
    const waiting = `select from pg_locks where not granted and transactionid = pg_current_xact_id()::xid`
    await waitUntil(async () => (await other.query(waiting)).rowCount, 'the migration waits')
    await stopServer(killed, 'SIGKILL')
    await other.query('rollback')
    await waitUntil(async () => (await listTables()).length <= 1, 'the migration is rolled back')
    assert.deepEqual(await listTables(), ['migration'])
    assert.equal(await runSuccessfully(['migrate'], settings), `Applied: ${(await listMigrationFiles()).join(', ')}.\n`)
    assert.deepEqual(await listTables(), expectedTables)
    assert.equal(await runSuccessfully(['migrate'], settings), 'The database is up to date.\n')
  } finally {
    await other.end()
    await fresh.drop()
  }
})

test('a database of a later version is rejected in one line', async () => {
  const fresh = await createTestDatabase()
  try {
    await fresh.db.pool.query(
      `insert into migration (number, name, sha256, requires) values (9999, '9999_later.sql', 'later', 9998)`,
    )
    const { code, err } = await runCommand(['start'], { ...environment, DATABASE_URL: fresh.connection, PORT: '0' })
    assert.equal(code, 1)
    assert.match(
      err,
      /^tillbridge: The database is at migration 9999 and requires 9998, this version knows \d+: run a newer Tillbridge\.\n$/,
    )
  } finally {
    await fresh.drop()
  }
})

test('access.json is created without DATA_DIR and names the serving process', async () => {
  const fresh = await createTestDatabase()
  // Syncing a few records of a back office is faster than creating the demo shop.
  const simulator = await startSimulator({ sizes: { persons: 3 } })
  try {
    const settings = {
      BACK_OFFICE: 'apparel21',
      BACK_OFFICE_URL: simulator.url,
      BACK_OFFICE_COUNTRY: 'AU',
      BACK_OFFICE_TIME_ZONE: 'Australia/Melbourne',
      RUN_JOBS: 'false',
      DATA_DIR: join(createDirectory(), 'data'),
      DATABASE_URL: fresh.connection,
      SECRET_KEY: 'k'.repeat(32),
      TLS_CERT_FILE: join(environment.DATA_DIR, 'tls/cert.pem'),
      TLS_KEY_FILE: join(environment.DATA_DIR, 'tls/key.pem'),
    }
    const first = await serve([], settings)
    const access = readAccess(settings.DATA_DIR)
    assert.equal(access.username, 'shop')
    assert.equal(access.baseUrl, first.baseUrl)

    const second = await serve([], settings)
    assert.deepEqual(readAccess(settings.DATA_DIR), access, 'access.json must keep naming the first server')
    for (const server of [first, second]) await stopServer(server)
    const third = await serve([], settings)
    assert.deepEqual(readAccess(settings.DATA_DIR), { ...access, baseUrl: third.baseUrl })
    await stopServer(third)
  } finally {
    await simulator.close()
    await fresh.drop()
  }
})
