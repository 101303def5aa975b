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
import { createSyncJobFixture } from './sync-jobs.ts'

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

const { loadStatuses, getLastResult, makeDue, findJob, listAlertSubjects, runScheduler, runSyncNow } =
  createSyncJobFixture(db, luma)

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
  const areAllOk = async () => {
    const states = await loadStatuses()
    return states.size === syncs.length && [...states.values()].every(({ lastResult }) => lastResult === 'ok')
  }
  await waitUntil(areAllOk, 'all syncs have run', 60_000)
  assert.deepEqual(await readSyncStatuses(db, orso), [], 'an embedded service has no syncs')
  const counts = await db.row<Record<'stock' | 'customers' | 'sales', number>>(sql`
    select (select count(*)::integer from stock) as stock, (select count(*)::integer from customer) as customers,
           (select count(*)::integer from retail_transaction) as sales`)
  assert.equal(counts?.customers, 20)
  assert.ok((counts?.stock ?? 0) > 500, 'stock must be synced after its products')
  assert.ok((counts?.sales ?? 0) > 0)
  for (const { name, intervalSeconds } of syncs) {
    await waitUntil(async () => (await findJob(name))?.lease === null, `the job of ${name} has ended`)
    const { wait = 0, attempts } = (await findJob(name)) ?? {}
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
  await runSyncNow('stock')
  const row = await db.row<{ free_stock: number }>(
    sql`select free_stock::float from stock where service_id = ${luma.id} and sku_id = ${String(skuId)} and store_id = ${String(storeId)}`,
  )
  assert.equal(row?.free_stock, freeStock - 2)
})

test('a failing sync backs off and raises an alert after five failures', async () => {
  simulator.faults.add({ kind: 'html', path: '/Stores' })
  await runSyncNow('stores')
  const waits = [await findJob('stores')]
  await runSyncNow('stores')
  waits.push(await findJob('stores'))
  assert.deepEqual(
    waits.map(job => job?.attempts),
    [1, 2],
  )
  for (const [i, least] of [15, 60].entries()) {
    const { wait = 0 } = waits[i] ?? {}
    assert.ok(wait > least - 5 && wait < least * 1.2 + 1, `${wait} s`)
  }
  assert.equal(await getLastResult('stores'), 'failed')
  assert.deepEqual(await listAlertSubjects(), [])
  await db.run(sql`update job set attempts = 4 where name = 'run-sync' and subject = 'stores'`)
  await runSyncNow('stores')
  assert.deepEqual(await listAlertSubjects(), ['sync_failing stores'])
  simulator.faults.clear()
  await runSyncNow('stores')
  assert.equal(await getLastResult('stores'), 'ok')
  assert.deepEqual(await listAlertSubjects(), [])
})

test('a sync interrupted by our own database raises no alert', async () => {
  await db.run(
    sql`create function break_off() returns trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`,
  )
  await db.run(sql`create trigger break_off before insert on store for each statement execute function break_off()`)
  await db.run(sql`update job set attempts = 4 where name = 'run-sync' and subject = 'stores'`)
  await runSyncNow('stores')
  assert.equal((await findJob('stores'))?.attempts, 4)
  assert.deepEqual(await listAlertSubjects(), [])
  const state = await db.row<{ error: string }>(sql`select error from sync_state where sync = 'stores'`)
  assert.equal(state?.error, 'The database is unavailable.')
  await db.run(sql`drop function break_off cascade`)
  await runSyncNow('stores')
  assert.equal(await getLastResult('stores'), 'ok')
})

test('a sync overdue by three intervals raises one alert', async () => {
  const { intervalSeconds = 0 } = offices.getDriver(luma).syncs.find(({ name }) => name === 'stock') ?? {}
  // The worker would run a due job, so the job waits as it does after failures.
  await db.run(
    sql`update job set due_at = now() + interval '1 day', attempts = 1 where name = 'run-sync' and subject = 'stock'`,
  )
  const backDate = (seconds: number) =>
    db.run(sql`update sync_state set finished_at = now() - ${seconds} * interval '1 s' where sync = 'stock'`)
  await backDate(3 * intervalSeconds - 20)
  await runScheduler()
  assert.deepEqual(await listAlertSubjects(), [])
  await backDate(3 * intervalSeconds + 1)
  await runScheduler()
  await runScheduler()
  const [{ kind, subject, times } = {}] = await listAlerts(db)
  assert.deepEqual([kind, subject, times], ['sync_stalled', 'stock', 1])
  await runSyncNow('stock')
  assert.deepEqual(await listAlertSubjects(), [])
})

test('a run without any call keeps the alert of a stalled sync', async () => {
  const before = offices.getDriver(luma)
  await setBackOffice(db, keys, luma, { driver: 'apparel21', url: simulator.url, country: 'AU', version: '2021.1' })
  await waitUntil(() => offices.getDriver(luma) !== before, 'the new settings are in use', 5_000)
  await db.run(
    sql`update sync_state set finished_at = now() - interval '73 hours', full_at = now() where sync = 'customers' and service_id = ${luma.id}`,
  )
  await runSyncNow('customers')
  await runScheduler()
  assert.deepEqual(await listAlertSubjects(), ['sync_stalled customers'])
  await runSyncNow('customers')
  assert.deepEqual(await listAlertSubjects(), ['sync_stalled customers'])
  await db.run(sql`update sync_state set full_at = null where sync = 'customers'`)
  await runSyncNow('customers')
  assert.deepEqual(await listAlertSubjects(), [])
})

test('a new schedule applies to the next run without raising an alert', async () => {
  const getLastSyncedAt = async () => (await loadStatuses()).get('reward-programs')?.syncedAt
  await db.run(
    sql`update sync_state set finished_at = now() - interval '2 hours' where sync = 'reward-programs' and service_id = ${luma.id}`,
  )
  const lastSyncedAt = await getLastSyncedAt()
  assert.ok(((await findJob('reward-programs'))?.wait ?? 0) > 3_600, 'the sync runs once a day')
  const every = { 'reward-programs': 300 }
  await setBackOffice(db, keys, luma, { driver: 'apparel21', url: simulator.url, country: 'AU', syncIntervals: every })
  const getInterval = () =>
    offices.getDriver(luma).syncs.find(({ name }) => name === 'reward-programs')?.intervalSeconds
  await waitUntil(() => getInterval() === 300, 'the new settings are in use', 5_000)
  await runScheduler()
  assert.deepEqual(await listAlertSubjects(), [])
  await waitUntil(async () => (await getLastSyncedAt()) !== lastSyncedAt, 'the sync has run', 10_000)
  await waitUntil(async () => (await findJob('reward-programs'))?.lease === null, 'the job has ended')
  assert.ok(((await findJob('reward-programs'))?.wait ?? 0) <= 300)

  await db.run(sql`update job set due_at = now() + interval '1 day', attempts = 1 where subject = 'reward-programs'`)
  await db.run(sql`update sync_state set finished_at = now() - interval '901 s' where sync = 'reward-programs'`)
  await runScheduler()
  assert.deepEqual(await listAlertSubjects(), ['sync_stalled reward-programs'])
  await runSyncNow('reward-programs')
  assert.deepEqual(await listAlertSubjects(), [])
})

test('another back office is read from the beginning', async () => {
  await setBackOffice(db, keys, luma, { driver: 'apparel21', url: second.url, country: 'AU' })
  await waitUntil(() => offices.getDriver(luma).source.includes(second.url), 'the new settings are in use', 5_000)
  await db.run(sql`update job set due_at = now() where name = 'run-sync'`)
  const isRead = () => second.ledger.calls.some(({ path }) => path.includes('/Freestock/AllStyles'))
  await waitUntil(isRead, 'the full stock is read', 30_000)
})

test('syncs stop for a service that is embedded again', async () => {
  await db.run(sql`delete from back_office`)
  await waitUntil(() => !offices.getDriver(luma).syncs.length, 'the new settings are in use', 5_000)
  const countJobs = async () => {
    await makeDue('schedule-syncs')
    return db.run(sql`select from job where name = 'run-sync'`)
  }
  await waitUntil(async () => (await countJobs()) === 0, 'no job is left', 30_000)
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
  await waitUntil(() => ended === 10, 'all jobs have ended', 20_000)
  await other.stop(1_000)
  assert.deepEqual([...maxRunning].sort(), [
    ['luma', 2],
    ['orso', 2],
  ])
})
