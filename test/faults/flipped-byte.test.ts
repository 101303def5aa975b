import assert from 'node:assert/strict'
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { type Postgres, startPostgres } from '../../src/postgres/postgres.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { buildCustomers } from '../support/paginate.ts'
import { assertProblem } from '../support/problem.ts'
import { captureLog } from '../support/servers.ts'
import { startTestApi } from '../support/service.ts'
import { createTestDirectory, startSeparateDatabase } from './own-postgres.ts'

test('a flipped byte in a data file is logged and never served', async () => {
  const directory = createTestDirectory('flipped')
  let close: (() => Promise<void>) | undefined
  let restarted: Postgres | undefined
  after(async () => {
    await restarted?.stop()
    await close?.()
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  })
  const database = await startSeparateDatabase(directory)
  close = database.drop
  const captured = captureLog('error')
  const api = await startTestApi({ database, log: captured.log })
  close = api.stop
  await upsertCustomers(api.db, api.service, buildCustomers(1, 20))
  assert.equal((await api.get('/customers/search')).json.data.length, 20)
  const dataFile = await api.db.row<{ path: string }>(sql`select pg_relation_filepath('customer') as path`)
  await database.postgres.stop()

  const file = openSync(join(directory, 'data', dataFile?.path ?? ''), 'r+')
  const byte = Buffer.alloc(1)
  readSync(file, byte, 0, 1, 8_000)
  writeSync(file, Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, 8_000)
  closeSync(file)

  restarted = await startPostgres(directory, { settings: { fsync: 'off' } })
  const response = await api.get('/customers/search')
  assertProblem(response, 'internal_error', api.baseUrl)
  assert.match(captured.text, /invalid page in block 0/)
  assert.equal((await api.get('/stores')).status, 200, 'other requests succeed')
})
