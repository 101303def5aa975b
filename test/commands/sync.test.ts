import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type pg from 'pg'
import type { Simulator } from '../../simulator/control/handle.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import {
  connectToDatabase,
  createDirectory,
  type Environment,
  type RunningServer,
  readAccess,
  runCommand,
  runSuccessfully,
  sendGet,
  serve,
  startCommand,
  stopServer,
  waitUntil,
} from '../support/processes.ts'

/** Returns the cells of a sync in a printed table. */
const findRow = (out: string, sync: string) =>
  out
    .split('\n')
    .find(line => line.startsWith(`${sync} `))
    ?.split(/ {2,}/)

describe('tillbridge sync', () => {
  const environment: Environment = { DATA_DIR: join(createDirectory(), 'data'), RUN_JOBS: 'false', LOG_LEVEL: 'warn' }
  let simulator: Simulator
  let server: RunningServer
  let client: pg.Client
  const runSync = (...args: string[]) => runCommand(['sync', ...args], environment)

  before(async () => {
    simulator = await startSimulator({ sizes: { persons: 10 } })
    Object.assign(environment, {
      BACK_OFFICE: 'apparel21',
      BACK_OFFICE_URL: simulator.url,
      BACK_OFFICE_COUNTRY: 'AU',
      BACK_OFFICE_TIME_ZONE: 'Australia/Melbourne',
    })
    server = await serve([], environment)
    client = await connectToDatabase(environment.DATA_DIR ?? '')
  })
  after(async () => {
    await client?.end()
    if (server) await stopServer(server)
    await simulator?.close()
  })

  test('a fresh installation with a back office starts syncing without a demo', async () => {
    assert.match(server.out, /^First start: reading from the back office\.$/m)
    assert.match(server.out, /^ {2}release 2025\.1, \d+ stores, AUD$/m)
    assert.match(server.out, /^ {2}customers +10 records$/m)
    const access = readAccess(environment.DATA_DIR ?? '')
    assert.equal(access.serviceName, 'shop')
    const listCustomers = async () => (await sendGet(server, '/customers/search?limit=2', access)).json
    assert.equal((await listCustomers()).data.length, 2)
    await waitUntil(
      async () => (await listCustomers()).meta.syncedAt !== undefined,
      'the server has noticed the sync',
      5_000,
    )
    const json = await listCustomers()
    assert.match(json.meta.syncedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.equal(json.meta.timeZone, 'Australia/Melbourne')
    const { rows } = await client.query(`select name, settings->>'currency' as currency from service`)
    assert.deepEqual(rows, [{ name: 'shop', currency: 'AUD' }])
  })

  test('an incremental sync reads and counts only changes', async () => {
    const { rows } = await client.query('select sku_id, store_id from stock where free_stock > 3 order by 1, 2 limit 1')
    const { sku_id, store_id } = rows[0]
    simulator.change({ kind: 'sell-stock', skuId: Number(sku_id), storeId: Number(store_id), quantity: 2 })
    const { code, out } = await runSync('stock', 'customers')
    assert.equal(code, 0, out)
    const [, read, inserted, changed, unchanged, removed, skipped, rejected, kind] = findRow(out, 'stock') ?? []
    assert.deepEqual([changed, removed, skipped, rejected, kind], ['1', '0', '0', '0', 'changes'])
    assert.equal(Number(read), Number(inserted) + 1 + Number(unchanged))
    assert.equal(findRow(out, 'customers')?.[8], 'changes')
    assert.equal(findRow(out, 'products'), undefined)
  })

  test('--full reads everything and sets sold-out stock to 0', async () => {
    const { rows } = await client.query(
      'select sku_id, store_id, free_stock::float from stock where free_stock > 3 order by 1 desc, 2 limit 1',
    )
    const { sku_id, store_id, free_stock } = rows[0]
    simulator.change({ kind: 'sell-stock', skuId: Number(sku_id), storeId: Number(store_id), quantity: free_stock })
    const { code, out } = await runSync('stock', '--full', '--service', 'shop')
    assert.equal(code, 0, out)
    const [, , , , , removed, skipped, rejected, kind] = findRow(out, 'stock') ?? []
    assert.deepEqual([removed, skipped, rejected, kind], ['1', '0', '0', 'full'])
    const stock = await client.query('select free_stock::float from stock where sku_id = $1 and store_id = $2', [
      sku_id,
      store_id,
    ])
    assert.equal(stock.rows[0].free_stock, 0)
  })

  test("--status shows each sync's last run and syncs nothing", async () => {
    simulator.ledger.clear()
    const out = await runSuccessfully(['sync', '--status'], environment)
    const [, last, at, lag, every] = findRow(out, 'stock') ?? []
    assert.equal(last, 'ok')
    assert.match(at ?? '', /^\d{4}-\d\d-\d\dT/)
    assert.match(`${lag} ${every}`, /^\d+ s [\d,]+ s$/)
    assert.equal(out.trim().split('\n').length, 2 + 10)
    assert.deepEqual(simulator.ledger.calls, [])
  })

  test('doctor checks the age of each sync against its schedule', async () => {
    const readSyncCheck = async () => {
      const { out } = await runCommand(['doctor', '--json'], environment)
      return (JSON.parse(out) as { check: string; ok: boolean; detail: string }[]).find(
        ({ check }) => check === 'Syncs',
      )
    }
    assert.deepEqual(await readSyncCheck(), {
      check: 'Syncs',
      ok: true,
      isWarning: false,
      detail: 'shop: 10 syncs, none overdue',
    })
    const { rows } = await client.query(`
      with was as (select sync, finished_at, error from sync_state)
      update sync_state s set finished_at = case s.sync when 'stock' then now() - interval '1 day' when 'customers' then null else s.finished_at end,
             error = case s.sync when 'products' then 'It was rejected.' end
        from was where was.sync = s.sync returning was.sync, was.finished_at, was.error`)
    const { ok, detail = '' } = (await readSyncCheck()) ?? {}
    for (const { sync: name, finished_at, error } of rows)
      await client.query('update sync_state set finished_at = $2, error = $3 where sync = $1', [
        name,
        finished_at,
        error,
      ])
    assert.equal(ok, false)
    assert.match(detail, /^shop: /)
    for (const expected of [
      /stock is overdue: last synced at \d{4}-\d\d-\d\dT[\d:]+Z, every 60 s/,
      /customers never succeeded/,
      /the last run of products failed/,
    ])
      assert.match(detail, expected)
    assert.match(detail, /See: tillbridge sync --status --service shop$/)
  })

  test('a failed sync is reported with exit code 1 and others run', async () => {
    const fault = simulator.faults.add({ kind: 'html', path: '/Stores' })
    const { code, out } = await runSync('stores', 'reward-programs')
    simulator.faults.remove(fault.id)
    assert.equal(code, 1)
    assert.match(out, /^stores: .*\(back_office_error/m)
    assert.equal(findRow(out, 'reward-programs')?.[8], 'full')
    const status = await runSuccessfully(['sync', '--status'], environment)
    assert.match(status, /^stores +failed +\d{4}-/m)
    assert.match(status, /^stores: back_office_error: /m, 'the output must show the last error')
  })

  test('an interrupted run releases its lock and the next one resumes', async () => {
    const fault = simulator.faults.add({ kind: 'hang', path: '/Stores' })
    const interrupted = startCommand(['sync', 'stores'], environment)
    const countRunning = async () =>
      (await client.query(`select from sync_state where sync = 'stores' and heartbeat_at is not null`)).rowCount
    await waitUntil(countRunning, 'the sync is running', 20_000)
    const busy = await runSync('stores')
    assert.deepEqual([busy.code, busy.out], [1, 'stores: another process is running it.\n'])
    interrupted.child.kill('SIGINT')
    assert.equal((await interrupted.ended).code, 1)
    assert.match(interrupted.out, /^stores: stopped\. The next run continues from there\.$/m)
    simulator.faults.remove(fault.id)
    assert.equal((await runSync('stores')).code, 0)
  })

  test('an unknown sync and a service without syncs are reported', async () => {
    const { code, err } = await runSync('stok')
    assert.equal(code, 1)
    assert.match(err, /^tillbridge: Sync stok not found\. Syncs: references, stores, /)
    const unset = { BACK_OFFICE: '', BACK_OFFICE_URL: '', BACK_OFFICE_COUNTRY: '', BACK_OFFICE_TIME_ZONE: '' }
    const withoutBackOffice = { ...environment, ...unset }
    const embedded = await runCommand(['sync', 'stock'], withoutBackOffice)
    assert.equal(embedded.code, 1)
    assert.match(await runSuccessfully(['sync', '--status'], withoutBackOffice), /^stock +ok +\d{4}-/m)
    assert.match(embedded.err, /^tillbridge: shop uses the embedded back office, which has no syncs\./)
    assert.match((await runSync('--help')).out, /Examples:\n {2}\$ tillbridge sync --service luma\n/)
  })
})
