import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { pino } from 'pino'
import { startSimulator } from '../../../simulator/simulator.ts'
import { openBackOffices } from '../../../src/backoffice/back-offices.ts'
import { sql } from '../../../src/database/db.ts'
import type { Feed, FeedRun } from '../../../src/domain/sync/syncs.ts'
import type { JobRun } from '../../../src/jobs/job.ts'
import { backOfficeJobs } from '../../../src/jobs/jobs.ts'
import { forgetExpired } from '../../../src/jobs/purge-expired.ts'
import { startWorker, type Worker } from '../../../src/jobs/worker.ts'
import { isProblem } from '../../support/problem.ts'
import { until } from '../../support/processes.ts'
import { startTestService } from '../../support/service.ts'
import { post } from '../../support/write.ts'

const simulator = await startSimulator({ sizes: { persons: 3 } })
const shop = await startTestService({
  environment: { BACK_OFFICE: 'apparel21', BACK_OFFICE_URL: simulator.url, BACK_OFFICE_COUNTRY: 'AU' },
  settings: { currency: 'AUD', readsPerMinute: 'off' },
})
const { db, keys } = shop
const log = pino({ level: 'silent' })
const defaults = { driver: 'apparel21', url: simulator.url, country: 'AU' } as const
const offices = await openBackOffices({ db, keys, defaults, log })
let worker: Worker
before(() => {
  // Nothing is pulled here unless somebody asks for it.
  const { 'sync-feed': syncFeed } = backOfficeJobs(offices, [])
  assert.ok(syncFeed)
  worker = startWorker({ db, keys, log, post: { send: async () => {} } }, { 'sync-feed': syncFeed })
})
afterEach(() => simulator.faults.clear())
after(async () => {
  await worker.stop(5_000)
  offices.close()
  await shop.stop()
  await simulator.close()
})

const feed = async (name: string): Promise<Feed> => {
  const { json } = await shop.get('/feeds')
  const found = json.data.find((one: Feed) => one.feed === name)
  assert.ok(found, name)
  return found
}
const runs = async (name: string): Promise<FeedRun[]> => (await shop.get(`/feeds/${name}/runs`)).json.data
const ended = async (name: string, count: number) => {
  await until(
    async () => (await runs(name)).filter(({ state }) => state !== 'running').length >= count,
    `${count} runs of ${name}`,
    30_000,
  )
  return runs(name)
}

test('a feed that was never pulled says so, with its schedule', async () => {
  const { json } = await shop.get('/feeds')
  assert.deepEqual(
    json.data.slice(0, 2).map(({ feed }: Feed) => feed),
    ['references', 'stores'],
  )
  const { everySeconds, ...stores } = await feed('stores')
  assert.ok(everySeconds && everySeconds > 0)
  assert.deepEqual(stores, {
    feed: 'stores',
    origin: 'backOffice',
    syncedAt: null,
    wholeAt: null,
    lagSeconds: null,
    isLate: false,
    state: 'none',
    detail: null,
    isAsked: false,
    nextAt: null,
    lastRun: null,
  })
  assert.deepEqual((await shop.get('/feeds/stores/runs')).json.data, [])
})

test('a run that is asked for is carried out, and tells what became of its records', async () => {
  const asked = await post(shop, '/feeds/stores/run', {})
  assert.deepEqual([asked.status, asked.headers.location], [202, '/feeds/stores/runs'])
  assert.equal(asked.json.data.isAsked, true)
  const [run] = await ended('stores', 1)
  assert.ok(run)
  const { id: _, startedAt, endedAt, seconds, notes, ...counts } = run
  assert.ok(Date.parse(startedAt) <= Date.parse(endedAt ?? '') && seconds >= 0 && Array.isArray(notes))
  const common = { feed: 'stores', origin: 'backOffice', state: 'ok', detail: null, removed: 0, refused: 0 }
  assert.ok(counts.read > 0)
  assert.deepEqual(counts, { ...common, whole: true, read: counts.read, new: counts.read, changed: 0, unchanged: 0 })
  const now = await feed('stores')
  assert.deepEqual([now.state, now.isAsked, now.isLate, now.lastRun?.id], ['ok', false, false, run.id])
  assert.ok(now.syncedAt && now.wholeAt && now.nextAt && now.lagSeconds !== null)
  const { json: audit } = await shop.get('/audit')
  assert.equal(audit.data.at(-1).operation, 'POST /feeds/:feed/run')
})

test('what is asked for while a run is under way is a run after it, whole where that is wanted', async () => {
  await post(shop, '/feeds/customers/run', {})
  const [first] = await ended('customers', 1)
  assert.equal(first?.whole, true)
  simulator.faults.add({ kind: 'latency', seconds: 1.5, path: '/Persons' })
  await post(shop, '/feeds/customers/run', {})
  await until(async () => (await feed('customers')).state === 'running', 'it is pulled', 20_000)
  const [running] = await runs('customers')
  assert.deepEqual([running?.state, running?.endedAt, running?.whole], ['running', null, false])
  await post(shop, '/feeds/customers/run', { whole: true })
  simulator.faults.clear()
  const [third, second] = await ended('customers', 3)
  assert.deepEqual([second?.whole, second?.state, third?.whole, third?.state], [false, 'ok', true, 'ok'])
  assert.equal((await feed('customers')).isAsked, false)
})

test('a run that fails tells why, and what it was asked for is not forgotten', async () => {
  const before = (await runs('references')).length
  simulator.faults.add({ kind: 'status', status: 500 })
  await post(shop, '/feeds/references/run', { whole: true })
  const [failed] = await ended('references', before + 1)
  assert.equal(failed?.state, 'failed')
  assert.match(failed?.detail ?? '', /^back_office_/)
  const now = await feed('references')
  assert.deepEqual([now.state, now.detail, now.isAsked], ['failed', failed?.detail, true])
})

test('a run whose process died is lost, and the next one says so', async () => {
  await db.run(sql`
    insert into feed_run (service_id, feed, run_id, changed_at, is_whole, read)
    values (${shop.service.id}, 'stores', 'dead', now() - interval '1 hour', true, 7)`)
  const dead = async () => (await runs('stores')).find(({ id }) => id === 'dead')
  assert.deepEqual([(await dead())?.state, (await dead())?.read], ['lost', 7])
  const before = (await runs('stores')).length
  await post(shop, '/feeds/stores/run', {})
  await until(async () => (await runs('stores')).length > before, 'the next run', 20_000)
  await until(async () => (await dead())?.state === 'failed', 'it is told', 20_000)
  assert.match((await dead())?.detail ?? '', /process ended/)
})

test('runs are kept for 30 days, and walked by cursor, the newest first', async () => {
  await db.run(sql`
    insert into feed_run (service_id, feed, run_id, changed_at, ended_at, is_whole)
    select ${shop.service.id}, 'stock', i::text, now() - i * interval '1 day', now(), true from generate_series(27, 32) i`)
  await forgetExpired({ db, signal: new AbortController().signal } as JobRun)
  const walked: string[] = []
  for (let query = '?limit=2'; query; ) {
    const { json } = await shop.get(`/feeds/stock/runs${query}`)
    walked.push(...json.data.map(({ id }: FeedRun) => id))
    query = json.meta.hasNextPage ? `?limit=2&after_cursor=${json.meta.endCursor}` : ''
  }
  assert.deepEqual(walked, ['27', '28', '29'])
})

test('who reads sees feeds, who maintains asks for runs, and of nothing that is no feed', async () => {
  const visitor = await shop.account('visitor')
  assert.equal((await visitor.get('/feeds')).status, 200)
  isProblem(await post(visitor, '/feeds/stores/run', {}), 'insufficient_role', shop.baseUrl, '/feeds/stores/run')
  const maintainer = await shop.account('maintainer')
  assert.equal((await post(maintainer, '/feeds/stores/run', {})).status, 202)
  isProblem(await post(shop, '/feeds/shoes/run', {}), 'not_found', shop.baseUrl, '/feeds/shoes/run')
  isProblem(await shop.get('/feeds/shoes/runs'), 'not_found', shop.baseUrl, '/feeds/shoes/runs')
  const trial = await post(shop, '/feeds/rewards/run', {}, { prefer: 'tx=rollback' })
  assert.equal(trial.status, 404)
  const other = await shop.tenant()
  assert.deepEqual((await other.get('/feeds/stores/runs')).json.data, [])
  assert.equal(
    (await other.get('/feeds')).json.data.every(({ state }: Feed) => state === 'none'),
    true,
  )
})
