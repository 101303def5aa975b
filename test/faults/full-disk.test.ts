import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { DatabaseUnavailable } from '../../src/database/errors.ts'
import { createImporter } from '../import/import-command.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import { assertProblem } from '../support/problem.ts'
import { waitUntil } from '../support/processes.ts'
import { captureLog } from '../support/servers.ts'
import { startTestApi, type TestApi, type TestResponse } from '../support/service.ts'
import { assertReplay, post, withKey } from '../support/write.ts'
import { mountSmallDisk, type SeparateDatabase, startSeparateDatabase } from './own-postgres.ts'

const disk = mountSmallDisk(120)

describe('a full disk', { skip: typeof disk === 'string' && disk }, () => {
  assert.ok(typeof disk !== 'string')
  const captured = captureLog('error')
  const acknowledgedWrites: {
    body: ReturnType<typeof buildCustomer>
    response: TestResponse
    key: ReturnType<typeof withKey>
  }[] = []
  let database: SeparateDatabase
  let api: TestApi
  before(async () => {
    const wal = { min_wal_size: '32MB', max_wal_size: '32MB' }
    // Autovacuum would change the catalogue, and the next session would have to write these changes to a file.
    database = await startSeparateDatabase(disk.directory, { ...wal, autovacuum: 'off' })
    const settings = { readsPerMinute: 'off', writesPerMinute: 'off' } as const
    api = await startTestApi({ database, settings, log: captured.log })
  })
  after(async () => {
    await api?.stop()
    disk.remove()
  })

  /** Creates up to `maxCount` customers. Returns the first rejection. */
  async function createCustomers(maxCount: number): Promise<TestResponse | undefined> {
    for (let i = 0; i < maxCount; i++) {
      const [body, key] = [buildCustomer({ address: { addressLine1: '1 Long Street '.repeat(3) } }), withKey()]
      const response = await post(api, '/customers', body, key)
      if (response.status !== 201) return response
      acknowledgedWrites.push({ body, response, key })
    }
    return
  }

  const buildStoreLines = (count: number) =>
    Array.from({ length: count }, (_, i) => `s${i},${i},Store ${i} with a long name`)
  const importStores = (count: number) =>
    createImporter(api)(api, 'stores', `storeId,storeNumber,name\n${buildStoreLines(count).join('\n')}\n`)

  const findCustomerId = async ({ json }: TestResponse) => (await api.get(`/customers/${json.data.id}`)).json.data?.id

  test('writes are rejected with Retry-After, reads continue and nothing is lost', async () => {
    assert.equal((await importStores(3)).code, 0)
    assert.equal(await createCustomers(20), undefined)
    disk.fill()
    const rejected = (await createCustomers(5_000)) ?? assert.fail('the disk must become full')
    assertProblem(rejected, 'service_unavailable', api.baseUrl, '/customers')
    assert.match(rejected.json.detail, /^Writes are not possible at the moment\./)
    assert.ok(Number(rejected.headers['retry-after']) >= 10)
    assert.match(captured.text, /The disk of the database is full[\s\S]*No space left on device/)
    assert.doesNotMatch(captured.text, /Long Street/)

    assert.equal((await api.get('/customers/search')).status, 200)
    for (const { response } of acknowledgedWrites) assert.equal(await findCustomerId(response), response.json.data.id)
    assert.equal((await api.sendRaw('/health/live')).status, 200)
  })

  test('an import reports the full disk and its stored lines', async () => {
    const { code, err } = await importStores(20_000)
    assert.equal(code, 1)
    assert.match(
      err,
      /The disk of the database is full\. \d+ lines were imported and stay\. Import the file again when the database has free space, with --resume/,
    )
  })

  test('service recovers automatically and acknowledged writes are replayed', async () => {
    disk.empty()
    await waitUntil(
      async () => (await post(api, '/customers', buildCustomer())).status === 201,
      'a customer is created',
      20_000,
    )
    const [first] = acknowledgedWrites
    assert.ok(first)
    assertReplay(await post(api, '/customers', first.body, first.key), first.response)
  })

  test('PostgreSQL recovers after stopping for lack of WAL space', async () => {
    disk.fill()
    // Switches to a WAL file that doesn't fit on the disk.
    const fillWal = async () => {
      for (let i = 0; i < 10; i++) {
        // PostgreSQL doesn't switch from an empty WAL file to the next one.
        await database.db.run(sql`select pg_logical_emit_message(false, 'full', 'disk')`)
        await database.db.run(sql`select pg_switch_wal()`)
      }
    }
    await assert.rejects(fillWal(), DatabaseUnavailable)
    await waitUntil(
      async () => (await post(api, '/customers', buildCustomer())).status === 503,
      'writes are rejected',
      20_000,
    )
    disk.empty()
    await waitUntil(
      async () => (await post(api, '/customers', buildCustomer())).status === 201,
      'writes succeed again',
      40_000,
    )
    for (const { response } of acknowledgedWrites) assert.equal(await findCustomerId(response), response.json.data.id)
  })
})
