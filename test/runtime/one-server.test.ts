import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startPostgresProxy } from '../../scenarios/support/postgres-proxy.ts'
import { sql } from '../../src/database/db.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createDirectory, runCommand } from '../support/processes.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database?.drop())

async function assertRejected() {
  const DATA_DIR = join(createDirectory(), 'data')
  const environment = { DATABASE_URL: database.connection, DATA_DIR, PORT: '0', SECRET_KEY: 'k'.repeat(64) }
  const started = await runCommand(['start', '--no-demo'], environment)
  const doctor = await runCommand(['doctor'], environment)
  assert.deepEqual([started.code, doctor.code], [1, 1])
  return { started: started.err, doctor: doctor.out }
}

test('a hanging first server in DATABASE_URL falls back to the second', async () => {
  const silentServer = createServer(() => {}).listen(0, '127.0.0.1')
  after(() => silentServer.close())
  await once(silentServer, 'listening')
  const { port } = silentServer.address() as AddressInfo
  const proxy = await startPostgresProxy(database.connection)
  after(() => proxy.close())
  const twoServers = proxy.connection.replace(/^\w+:\/\/([^@/]*@)?/, prefix => `${prefix}127.0.0.1:${port},`)
  const listCommand = await runCommand(['service', 'list'], {
    DATABASE_URL: twoServers,
    DATA_DIR: createDirectory(),
    SECRET_KEY: 'k'.repeat(64),
  })
  assert.equal(listCommand.code, 0, listCommand.err)
})

test('a database without consistent notifications is rejected by start and doctor', async () => {
  const { db } = database
  const definition = await db.row<{ text: string }>(
    sql`select pg_get_functiondef('commit_watermarks'::regproc) as text`,
  )
  await db.pool.query(
    'create or replace function commit_watermarks(service integer) returns timestamptz[] language sql volatile as $$ select array[statement_timestamp()] $$',
  )
  try {
    const { started, doctor } = await assertRejected()
    assert.match(started, /^tillbridge: A lock of one database connection is not visible on another one/m)
    assert.match(doctor, /^FAIL {2}Database +A lock of one database connection/m)
  } finally {
    await db.pool.query(definition?.text ?? '')
  }
})

test('a database with the extension citus is rejected by start and doctor', async () => {
  await database.db.pool.query(
    `insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion) values (99999, 'citus', 10, 2200, false, '13')`,
  )
  const { started, doctor } = await assertRejected()
  assert.match(started, /^tillbridge: The database has the extension citus/m)
  assert.match(doctor, /^FAIL {2}Database +The database has the extension citus/m)
})
