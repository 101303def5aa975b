import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { startSimulator } from '../../../simulator/simulator.ts'
import { openBackOffices } from '../../../src/backoffice/back-offices.ts'
import { deriveKeys } from '../../../src/crypto/keys.ts'
import { sql } from '../../../src/database/db.ts'
import type { Job } from '../../../src/jobs/job.ts'
import { buildBackOfficeJobs } from '../../../src/jobs/jobs.ts'
import { startWorker } from '../../../src/jobs/worker.ts'
import { listAlerts } from '../../../src/store/alerts/alerts.ts'
import { setBackOffice } from '../../../src/store/backoffice/connections.ts'
import { addJob } from '../../../src/store/jobs/jobs.ts'
import { readSyncStatuses } from '../../../src/store/sync/status.ts'
import { addService } from '../../../src/store/tenancy/services.ts'
import { createTestDatabase } from '../../support/database.ts'
import { waitUntil } from '../../support/processes.ts'
import { syncJobsOf } from './sync-jobs.ts'

const keys = deriveKeys(randomBytes(32))
const log = pino({ level: 'silent' })
const simulator = await startSimulator({ sizes: { persons: 20 } })
const second = await startSimulator({ sizes: { persons: 5 }, seed: '2' })
const { db, drop } = await createTestDatabase()
const [luma, orso] = [await addService(db, 'luma', { currency: 'AUD' }), await addService(db, 'orso')]
assert.ok(luma && orso)
await setBackOffice(db, keys, luma, { driver: 'apparel21', url: simulator.url, country: 'AU' })
const offices = await openBackOffices({ db, keys, defaults: { driver: 'embedded' }, log })
const worker = startWorker({ db, keys, log, mailTransport: { send: async () => {} } }, buildBackOfficeJobs(offices))
after(async () => {
  await worker.stop(5_000)
  offices.close()
  await drop()
  await Promise.all([simulator.close(), second.close()])
})

const { facts, result, dueNow, jobOf, alerts, planned, pulled } = syncJobsOf(db, luma)

test('every sync runs after its dependencies and repeats on schedule', async () => {
  const syncs = offices.getDriver(luma).syncs
  assert.deepEqual(Object.fromEntries(syncs.map(({ name, intervalSeconds }) => [name, intervalSeconds / 60])), {
    references: 1_440,
    stores: 1_440,
    products: 15,
    stock: 1,
    'reward-programs': 1_440,
    customers: 5,
    'reward-accounts': 5,
    transactions: 5,
    orders: 1,
    returns: 5,
  })
  const allOk = async () => {
    const states = await facts()
    return states.size === syncs.length && [...states.values()].every(({ lastResult }) => lastResult === 'ok')
  }
  await waitUntil(allOk, 'all are pulled', 60_000)
  assert.deepEqual(await readSyncStatuses(db, orso), [], 'of the embedded one nothing is')
  const counted = await db.row<Record<'stock' | 'customers' | 'sales', number>>(sql`
    select (select count(*)::integer from stock) as stock, (select count(*)::integer from customer) as customers,
           (select count(*)::integer from retail_transaction) as sales`)
  assert.equal(counted?.customers, 20)
  assert.ok((counted?.stock ?? 0) > 500, 'the stock did not come before its products')
  assert.ok((counted?.sales ?? 0) > 0)
  for (const { name, intervalSeconds } of syncs) {
    await waitUntil(async () => (await jobOf(name))?.lease === null, `the job of ${name} has ended`)
    const { wait = 0, attempts } = (await jobOf(name)) ?? {}
    assert.ok(wait <= intervalSeconds && wait > 0.9 * intervalSeconds - 60, `${name}: ${wait} of ${intervalSeconds} s`)
    assert.equal(attempts, 0)
  }
})

test('the next run imports what changed', async () => {
  const [{ skuId = 0, storeId = 0, freeStock = 0 } = {}] = await db.rows<{
    skuId: number
    storeId: number
    freeStock: number
  }>(
    sql`select sku_id::integer as "skuId", store_id::integer as "storeId", free_stock::float as "freeStock" from stock where free_stock > 3 order by sku_id, store_id limit 1`,
  )
  simulator.change({ kind: 'sell-stock', skuId, storeId, quantity: 2 })
  await pulled('stock')
  const row = await db.row<{ free_stock: number }>(
    sql`select free_stock::float from stock where service_id = ${luma.id} and sku_id = ${String(skuId)} and store_id = ${String(storeId)}`,
  )
  assert.equal(row?.free_stock, freeStock - 2)
})

test('a failing sync backs off and raises an alert after five failures', async () => {
  simulator.faults.add({ kind: 'html', path: '/Stores' })
  await pulled('stores')
  const waits = [await jobOf('stores')]
  await pulled('stores')
  waits.push(await jobOf('stores'))
  assert.deepEqual(
    waits.map(job => job?.attempts),
    [1, 2],
  )
  for (const [i, least] of [15, 60].entries()) {
    const { wait = 0 } = waits[i] ?? {}
    assert.ok(wait > least - 5 && wait < least * 1.2 + 1, `${wait} s`)
  }
  assert.equal(await result('stores'), 'failed')
  assert.deepEqual(await alerts(), [])
  await db.run(sql`update job set attempts = 4 where name = 'run-sync' and subject = 'stores'`)
  await pulled('stores')
  assert.deepEqual(await alerts(), ['sync_failing stores'])
  simulator.faults.clear()
  await pulled('stores')
  assert.equal(await result('stores'), 'ok')
  assert.deepEqual(await alerts(), [])
})

test('a sync interrupted by our own database raises no alert', async () => {
  await db.run(
    sql`create function break_off() returns trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`,
  )
  await db.run(sql`create trigger break_off before insert on store for each statement execute function break_off()`)
  await db.run(sql`update job set attempts = 4 where name = 'run-sync' and subject = 'stores'`)
  await pulled('stores')
  assert.equal((await jobOf('stores'))?.attempts, 4)
  assert.deepEqual(await alerts(), [])
  const state = await db.row<{ error: string }>(sql`select error from sync_state where sync = 'stores'`)
  assert.equal(state?.error, 'The database is unavailable.')
  await db.run(sql`drop function break_off cascade`)
  await pulled('stores')
  assert.equal(await result('stores'), 'ok')
})

test('a sync overdue by three intervals raises one alert', async () => {
  const { intervalSeconds = 0 } = offices.getDriver(luma).syncs.find(({ name }) => name === 'stock') ?? {}
  // As it is after failures: one whose time has come would be pulled.
  await db.run(
    sql`update job set due_at = now() + interval '1 day', attempts = 1 where name = 'run-sync' and subject = 'stock'`,
  )
  const aged = (seconds: number) =>
    db.run(sql`update sync_state set finished_at = now() - ${seconds} * interval '1 s' where sync = 'stock'`)
  await aged(3 * intervalSeconds - 20)
  await planned()
  assert.deepEqual(await alerts(), [])
  await aged(3 * intervalSeconds + 1)
  await planned()
  await planned()
  const [{ kind, subject, times } = {}] = await listAlerts(db)
  assert.deepEqual([kind, subject, times], ['sync_stalled', 'stock', 1])
  await pulled('stock')
  assert.deepEqual(await alerts(), [])
})

test('a run without any call keeps the alert of a stalled sync', async () => {
  const before = offices.getDriver(luma)
  await setBackOffice(db, keys, luma, { driver: 'apparel21', url: simulator.url, country: 'AU', version: '2021.1' })
  await waitUntil(() => offices.getDriver(luma) !== before, 'it is known', 5_000)
  await db.run(
    sql`update sync_state set finished_at = now() - interval '73 hours', full_at = now() where sync = 'customers' and service_id = ${luma.id}`,
  )
  await pulled('customers')
  await planned()
  assert.deepEqual(await alerts(), ['sync_stalled customers'])
  await pulled('customers')
  assert.deepEqual(await alerts(), ['sync_stalled customers'])
  await db.run(sql`update sync_state set full_at = null where sync = 'customers'`)
  await pulled('customers')
  assert.deepEqual(await alerts(), [])
})

test('a new schedule applies to the next run without raising an alert', async () => {
  const runs = async () => (await facts()).get('reward-programs')?.syncedAt
  await db.run(
    sql`update sync_state set finished_at = now() - interval '2 hours' where sync = 'reward-programs' and service_id = ${luma.id}`,
  )
  const aged = await runs()
  assert.ok(((await jobOf('reward-programs'))?.wait ?? 0) > 3_600, 'it comes once a day')
  const every = { 'reward-programs': 300 }
  await setBackOffice(db, keys, luma, { driver: 'apparel21', url: simulator.url, country: 'AU', syncIntervals: every })
  const chosen = () => offices.getDriver(luma).syncs.find(({ name }) => name === 'reward-programs')?.intervalSeconds
  await waitUntil(() => chosen() === 300, 'it is known', 5_000)
  await planned()
  assert.deepEqual(await alerts(), [])
  await waitUntil(async () => (await runs()) !== aged, 'it is pulled', 10_000)
  await waitUntil(async () => (await jobOf('reward-programs'))?.lease === null, 'its job has ended')
  assert.ok(((await jobOf('reward-programs'))?.wait ?? 0) <= 300)

  await db.run(sql`update job set due_at = now() + interval '1 day', attempts = 1 where subject = 'reward-programs'`)
  await db.run(sql`update sync_state set finished_at = now() - interval '901 s' where sync = 'reward-programs'`)
  await planned()
  assert.deepEqual(await alerts(), ['sync_stalled reward-programs'])
  await pulled('reward-programs')
  assert.deepEqual(await alerts(), [])
})

test('another back office is read from the beginning', async () => {
  await setBackOffice(db, keys, luma, { driver: 'apparel21', url: second.url, country: 'AU' })
  await waitUntil(() => offices.getDriver(luma).source.includes(second.url), 'it is known', 5_000)
  await db.run(sql`update job set due_at = now() where name = 'run-sync'`)
  const isRead = () => second.ledger.calls.some(({ path }) => path.includes('/Freestock/AllStyles'))
  await waitUntil(isRead, 'all of its stock is read', 30_000)
})

test('syncs stop for a service that is embedded again', async () => {
  await db.run(sql`delete from back_office`)
  await waitUntil(() => !offices.getDriver(luma).syncs.length, 'it is known', 5_000)
  const countJobs = async () => {
    await dueNow('schedule-syncs')
    return db.run(sql`select from job where name = 'run-sync'`)
  }
  await waitUntil(async () => (await countJobs()) === 0, 'there is no job left', 30_000)
})

test('jobs of one service are limited and other services get their turn', async () => {
  const running = new Map<string, number>()
  const maxRunning = new Map<string, number>()
  let ended = 0
  const job: Job = {
    async run({ service }) {
      const name = service?.name ?? ''
      running.set(name, (running.get(name) ?? 0) + 1)
      maxRunning.set(name, Math.max(maxRunning.get(name) ?? 0, running.get(name) ?? 0))
      await delay(100)
      running.set(name, (running.get(name) ?? 0) - 1)
      ended++
    },
    concurrency: 10,
    concurrencyPerService: 2,
    retryDelaysSeconds: [1],
  }
  for (const service of [luma, orso])
    for (const subject of ['a', 'b', 'c', 'd', 'e']) await addJob(db, service.id, 'limited', { subject })
  const other = startWorker({ db, keys, log, mailTransport: { send: async () => {} } }, { limited: job })
  await waitUntil(() => ended === 10, 'all are done', 20_000)
  await other.stop(1_000)
  assert.deepEqual([...maxRunning].sort(), [
    ['luma', 2],
    ['orso', 2],
  ])
})
