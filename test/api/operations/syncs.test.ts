import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { pino } from 'pino'
import { startSimulator } from '../../../simulator/simulator.ts'
import { openBackOffices } from '../../../src/backoffice/back-offices.ts'
import { sql } from '../../../src/database/db.ts'
import type { Sync, SyncRun } from '../../../src/domain/sync/syncs.ts'
import type { JobRun } from '../../../src/jobs/job.ts'
import { buildBackOfficeJobs } from '../../../src/jobs/jobs.ts'
import { purgeExpired } from '../../../src/jobs/purge-expired.ts'
import { startWorker, type Worker } from '../../../src/jobs/worker.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { startTestApi } from '../../support/service.ts'
import { post } from '../../support/write.ts'

const simulator = await startSimulator({ sizes: { persons: 3 } })
const api = await startTestApi({
  environment: { BACK_OFFICE: 'apparel21', BACK_OFFICE_URL: simulator.url, BACK_OFFICE_COUNTRY: 'AU' },
  settings: { currency: 'AUD', readsPerMinute: 'off' },
})
const { db, keys } = api
const log = pino({ level: 'silent' })
const defaults = { driver: 'apparel21', url: simulator.url, country: 'AU' } as const
const offices = await openBackOffices({ db, keys, defaults, log })
let worker: Worker
before(() => {
  // Syncs run only if a test requests them.
  const { 'run-sync': runSync } = buildBackOfficeJobs(offices)
  assert.ok(runSync)
  worker = startWorker({ db, keys, log, mailTransport: { send: async () => {} } }, { 'run-sync': runSync })
})
afterEach(() => simulator.faults.clear())
after(async () => {
  await worker.stop(5_000)
  offices.close()
  await api.stop()
  await simulator.close()
})

const getSync = async (name: string): Promise<Sync> => {
  const { json } = await api.get('/syncs')
  const status = json.data.find((record: Sync) => record.sync === name)
  assert.ok(status, name)
  return status
}
const listRuns = async (name: string): Promise<SyncRun[]> => (await api.get(`/syncs/${name}/runs`)).json.data
const waitForRuns = async (name: string, count: number) => {
  await waitUntil(
    async () => (await listRuns(name)).filter(({ state }) => state !== 'running').length >= count,
    `${count} runs of ${name}`,
    30_000,
  )
  return listRuns(name)
}

test('a sync that never ran is listed with its schedule', async () => {
  const { json } = await api.get('/syncs')
  assert.deepEqual(
    json.data.slice(0, 2).map(({ sync: name }: Sync) => name),
    ['references', 'stores'],
  )
  const { intervalSeconds, ...stores } = await getSync('stores')
  assert.ok(intervalSeconds && intervalSeconds > 0)
  assert.deepEqual(stores, {
    sync: 'stores',
    origin: 'backOffice',
    syncedAt: null,
    lastFullSyncAt: null,
    lagSeconds: null,
    isOverdue: false,
    state: 'none',
    detail: null,
    isQueued: false,
    nextRunAt: null,
    lastRun: null,
  })
  assert.deepEqual((await api.get('/syncs/stores/runs')).json.data, [])
})

test('a requested sync run is executed and reports its counts', async () => {
  const queued = await post(api, '/syncs/stores/run', {})
  assert.deepEqual([queued.status, queued.headers.location], [202, '/syncs/stores/runs'])
  assert.equal(queued.json.data.isQueued, true)
  const [run] = await waitForRuns('stores', 1)
  assert.ok(run)
  const { id: _, startedAt, endedAt, seconds, notes, ...counts } = run
  assert.ok(Date.parse(startedAt) <= Date.parse(endedAt ?? '') && seconds >= 0 && Array.isArray(notes))
  const common = {
    sync: 'stores',
    origin: 'backOffice',
    state: 'ok',
    detail: null,
    removed: 0,
    skipped: 0,
    outdated: 0,
    rejected: 0,
  }
  assert.ok(counts.read > 0)
  assert.deepEqual(counts, { ...common, full: true, read: counts.read, new: counts.read, changed: 0, unchanged: 0 })
  const current = await getSync('stores')
  assert.deepEqual(
    [current.state, current.isQueued, current.isOverdue, current.lastRun?.id],
    ['ok', false, false, run.id],
  )
  assert.ok(current.syncedAt && current.lastFullSyncAt && current.nextRunAt && current.lagSeconds !== null)
  const { json: audit } = await api.get('/audit')
  assert.equal(audit.data.at(-1).operation, 'POST /syncs/:sync/run')
})

test('a sync requested during a run runs afterwards, full if requested', async () => {
  await post(api, '/syncs/customers/run', {})
  const [first] = await waitForRuns('customers', 1)
  assert.equal(first?.full, true)
  simulator.faults.add({ kind: 'latency', seconds: 1.5, path: '/Persons' })
  await post(api, '/syncs/customers/run', {})
  await waitUntil(async () => (await getSync('customers')).state === 'running', 'the sync is running', 20_000)
  const [running] = await listRuns('customers')
  assert.deepEqual([running?.state, running?.endedAt, running?.full], ['running', null, false])
  await post(api, '/syncs/customers/run', { full: true })
  simulator.faults.clear()
  const [third, second] = await waitForRuns('customers', 3)
  assert.deepEqual([second?.full, second?.state, third?.full, third?.state], [false, 'ok', true, 'ok'])
  assert.equal((await getSync('customers')).isQueued, false)
})

test('a failed run reports its cause and the request is kept', async () => {
  const runCount = (await listRuns('references')).length
  simulator.faults.add({ kind: 'status', status: 500 })
  await post(api, '/syncs/references/run', { full: true })
  const [failed] = await waitForRuns('references', runCount + 1)
  assert.equal(failed?.state, 'failed')
  assert.match(failed?.detail ?? '', /^back_office_/)
  const current = await getSync('references')
  assert.deepEqual([current.state, current.detail, current.isQueued], ['failed', failed?.detail, true])
})

test('the run of a killed process becomes interrupted', async () => {
  await db.run(sql`
    insert into sync_run (service_id, sync, run_id, changed_at, is_full, read)
    values (${api.service.id}, 'stores', 'dead', now() - interval '1 hour', true, 7)`)
  const findInterruptedRun = async () => (await listRuns('stores')).find(({ id }) => id === 'dead')
  assert.deepEqual([(await findInterruptedRun())?.state, (await findInterruptedRun())?.read], ['interrupted', 7])
  const runCount = (await listRuns('stores')).length
  await post(api, '/syncs/stores/run', {})
  await waitUntil(async () => (await listRuns('stores')).length > runCount, 'the next run starts', 20_000)
  await waitUntil(async () => (await findInterruptedRun())?.state === 'failed', 'the failure is reported', 20_000)
  assert.match((await findInterruptedRun())?.detail ?? '', /process of this run ended/)
})

test('sync runs are kept for 30 days and paginated newest first', async () => {
  await db.run(sql`
    insert into sync_run (service_id, sync, run_id, changed_at, ended_at, is_full)
    select ${api.service.id}, 'stock', i::text, now() - i * interval '1 day', now(), true from generate_series(27, 32) i`)
  await purgeExpired({ db, signal: new AbortController().signal } as JobRun)
  const paginatedIds: string[] = []
  for (let query = '?limit=2'; query; ) {
    const { json } = await api.get(`/syncs/stock/runs${query}`)
    paginatedIds.push(...json.data.map(({ id }: SyncRun) => id))
    query = json.meta.hasNextPage ? `?limit=2&after_cursor=${json.meta.endCursor}` : ''
  }
  assert.deepEqual(paginatedIds, ['27', '28', '29'])
})

test('a visitor can read syncs and a maintainer can request runs', async () => {
  const visitor = await api.createAccount('visitor')
  assert.equal((await visitor.get('/syncs')).status, 200)
  assertProblem(await post(visitor, '/syncs/stores/run', {}), 'insufficient_role', api.baseUrl, '/syncs/stores/run')
  const maintainer = await api.createAccount('maintainer')
  assert.equal((await post(maintainer, '/syncs/stores/run', {})).status, 202)
  assertProblem(await post(api, '/syncs/shoes/run', {}), 'not_found', api.baseUrl, '/syncs/shoes/run')
  assertProblem(await api.get('/syncs/shoes/runs'), 'not_found', api.baseUrl, '/syncs/shoes/runs')
  const dryRun = await post(api, '/syncs/rewards/run', {}, { prefer: 'tx=rollback' })
  assert.equal(dryRun.status, 404)
  const other = await api.createService()
  assert.deepEqual((await other.get('/syncs/stores/runs')).json.data, [])
  assert.equal(
    (await other.get('/syncs')).json.data.every(({ state }: Sync) => state === 'none'),
    true,
  )
})
