import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { sql } from '../../src/database/db.ts'
import type { JobRun } from '../../src/jobs/job.ts'
import { startWorker, type Worker } from '../../src/jobs/worker.ts'
import { assignRole } from '../../src/store/accounts/accounts.ts'
import { addJob } from '../../src/store/jobs/jobs.ts'
import { fillWithCanaries } from '../api/access/canaries.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { countRowsByTable } from '../support/postgres/count-rows.ts'
import { holdLocks } from '../support/postgres/hold-locks.ts'
import { addLogEntries, daysAgo } from '../support/postgres/log-entries.ts'
import {
  createDirectory,
  type Environment,
  runCommand,
  runSuccessfully,
  startCommand,
  typeAnswer,
  waitUntil,
} from '../support/processes.ts'
import { buildCredentials, startSecondServer } from '../support/servers.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'
import { issueVoucher, stockGiftCards, voucherSettings } from '../support/voucher-shop.ts'
import { post } from '../support/write.ts'

const home = createDirectory()
const file = join(home, 'kept.tillbridge')
let api: TestApi
let neighbour: Caller
let shared: Caller
let environment: Environment
let worker: Worker
const jobServices: string[] = []
let isJobAborted = false

before(async () => {
  api = await startTestApi({ settings: voucherSettings })
  const { db, keys } = api
  environment = { DATABASE_URL: api.database.connection, SECRET_KEY: api.secret, DATA_DIR: join(home, 'data') }
  await db.run(sql`insert into installation (secret_digest) values (${keys.digest})`)
  neighbour = await api.createService(voucherSettings)
  shared = await api.createAccount('maintainer')
  await assignRole(db, shared.username, neighbour.service, 'maintainer')
  for (const [i, shop] of [api, neighbour].entries()) {
    await fillWithCanaries(api, shop, `canary-${i}-`)
    await stockGiftCards(api, shop)
    assert.equal((await issueVoucher(shop)).status, 201)
    const bought = await post(shop, '/customers', buildCustomer({ privacy: true, emailSubscription: true }), {
      'idempotency-key': `"key-${i}"`,
    })
    assert.equal(bought.status, 201)
    // More tombstones than a batch, and a logged request of another day.
    await db.run(sql`delete from tombstone where service_id = ${shop.service.id}`)
    await db.run(sql`
      insert into tombstone (service_id, kind, id, changed_at)
      select ${shop.service.id}, 'product', to_char(n, '0000'), now() from generate_series(1, 2500) n`)
    await addLogEntries(db, shop.service, [{ at: daysAgo(1) }])
  }
  await db.run(sql`delete from job`)
  const probe = {
    run: async ({ service }: JobRun) => {
      jobServices.push(service?.name ?? '')
    },
    concurrency: 2,
    retryDelaysSeconds: [1],
  }
  const long = {
    run: async ({ signal }: JobRun) => {
      await delay(60_000, undefined, { signal }).catch(() => {})
      isJobAborted = signal.aborted
    },
    concurrency: 2,
    retryDelaysSeconds: [1],
  }
  const tools = { db, keys, log: pino({ level: 'silent' }), mailTransport: { send: async () => {} } }
  worker = startWorker(tools, { probe, long })
})
after(async () => {
  await worker.stop(0)
  await api.stop()
})

const buildRemoveArgs = (name: string, ...options: string[]) => ['service', 'remove', name, ...options]
const getStatus = async (caller: Caller) => (await caller.get('/stores')).status

test('a service is removed only after typing its name again', async () => {
  for (const [options, runOptions] of [
    [['--yes', 'other'], undefined],
    [[], typeAnswer('y')],
    [[], typeAnswer('')],
  ] as const) {
    const { code, err } = await runCommand(buildRemoveArgs(api.service.name, ...options), environment, runOptions)
    assert.equal(code, 1)
    assert.match(err, /Nothing was deleted\.$/m)
  }
  const unknown = await runCommand(buildRemoveArgs('nobody', '--yes', 'nobody'), environment)
  assert.match(unknown.err, /^tillbridge: Service nobody not found\. Services: /)
  assert.equal(await getStatus(api), 200)
})

test('a failed or stopped backup reopens the service; --no-backup removes it', async () => {
  const { name } = api.service
  const [reopened, removedCaller] = [await api.createService(), await api.createService()]
  const failing = runCommand(
    buildRemoveArgs(reopened.service.name, '--yes', reopened.service.name, '--backup', join(home, 'nowhere/x')),
    environment,
  )
  const removing = runSuccessfully(
    buildRemoveArgs(removedCaller.service.name, '--no-backup', '--yes', removedCaller.service.name),
    environment,
  )
  const stopped = startCommand(buildRemoveArgs(name, '--yes', name, '--backup', file), environment)
  await waitUntil(() => stopped.out.includes(' closed.'), 'the service is closed', 60_000)
  stopped.child.kill('SIGINT')
  assert.equal((await stopped.ended).code, 130)
  assert.match(stopped.err, /^tillbridge: Stopped\. Nothing was deleted\. Service \S+ is open again\.$/m)
  assert.ok(!fs.existsSync(file))
  await waitUntil(async () => (await getStatus(api)) === 200, 'the service is open', 20_000)

  const failed = await failing
  assert.equal(failed.code, 1)
  assert.match(failed.err, /folder .*nowhere not found\. Nothing was deleted\. Service shop\d+ is open again\.$/m)
  await waitUntil(async () => (await getStatus(reopened)) === 200, 'the other service is open', 20_000)
  assert.doesNotMatch(await removing, /backup/)
  assert.deepEqual(await countRowsByTable(api.db, removedCaller.service), {})
  assert.ok(!fs.existsSync(join(home, 'data/removed')))
})

test('a removal stopped after the backup reopens the service', async () => {
  const { name } = api.service
  const blocker = await api.db.pool.connect()
  try {
    await blocker.query('begin')
    // A backup reads the sequences last.
    await blocker.query('alter sequence service_service_id_seq rename to renamed')
    const stopped = startCommand(buildRemoveArgs(name, '--yes', name, '--backup', file), environment)
    const blockedBackups = sql`
      select from pg_locks where not granted and relation = 'service_service_id_seq'::regclass
         and database = (select oid from pg_database where datname = current_database())`
    await waitUntil(async () => (await api.db.run(blockedBackups)) > 0, 'the backup has read the rows', 60_000)
    stopped.child.kill('SIGINT')
    await blocker.query('rollback')
    assert.equal((await stopped.ended).code, 130)
    assert.match(stopped.err, /^tillbridge: Stopped\. Nothing was deleted\. Service \S+ is open again\.$/m)
    assert.ok(!fs.existsSync(file))
  } finally {
    await blocker.query('rollback')
    blocker.release()
  }
  await waitUntil(async () => (await getStatus(api)) === 200, 'the service is open', 10_000)
})

test('a removal locks its service only and resumes after kill -9', async () => {
  const { db, service } = api
  const { name } = service
  const counts = await countRowsByTable(db, neighbour.service)
  await addJob(db, service.id, 'long')
  const countLeasedJobs = async () => db.run(sql`select from job where name = 'long' and lease is not null`)
  await waitUntil(async () => (await countLeasedJobs()) === 1, 'a job is running', 20_000)
  const release = await holdLocks(
    db,
    `select from tombstone where service_id = ${service.id} and id = to_char(2400, '0000') for update`,
  )
  const countTombstones = () => db.run(sql`select from tombstone where service_id = ${service.id}`)
  try {
    const killed = startCommand(buildRemoveArgs(name, '--backup', file, '--yes', name), environment)
    await waitUntil(() => killed.out.includes(' closed.'), 'the service is closed', 60_000)
    await waitUntil(
      async () => (await getStatus(api)) === 403 && (await getStatus(shared)) === 403,
      'the account is rejected',
      20_000,
    )
    await waitUntil(() => isJobAborted, 'the job is aborted', 20_000)
    await waitUntil(
      async () => (await countTombstones()) === 500 || assert.equal(killed.child.exitCode, null, killed.err),
      'two batches of the table are deleted',
      60_000,
    )
    assert.equal((await post(neighbour, '/customers', buildCustomer())).status, 201)
    await addJob(db, service.id, 'probe')
    await addJob(db, neighbour.service.id, 'probe')
    await waitUntil(() => jobServices.length, "the neighbour's job is done", 20_000)
    process.kill(-killed.pid, 'SIGKILL')
    await killed.ended
    assert.equal(await countTombstones(), 500)
  } finally {
    release()
  }

  assert.match(await runSuccessfully(['service', 'list'], environment), new RegExp(`^${name} +being removed$`, 'm'))
  for (const args of [
    ['import', 'stores', file, '--service', name],
    ['service', 'add', name],
  ])
    assert.match((await runCommand(args, environment)).err, /is being removed\. To continue: tillbridge service remove/)
  const output = await runSuccessfully(buildRemoveArgs(name), environment, typeAnswer(name))
  assert.match(output, new RegExp(`^Service ${name} deleted\\. Accounts deleted with it: .*${api.username}`, 'm'))
  assert.deepEqual(await countRowsByTable(db, service), {})
  assert.deepEqual(jobServices, [neighbour.service.name])
  await waitUntil(async () => (await getStatus(api)) === 401, 'the account is deleted', 10_000)
  assert.equal(
    (await api.sendRaw('/stores', { headers: buildCredentials({ ...shared, service: neighbour.service }) })).status,
    200,
  )
  const { customer = 0, request_block: _, ...countsAfter } = await countRowsByTable(db, neighbour.service)
  assert.equal(customer, (counts.customer ?? 0) + 1)
  for (const table of ['store', 'tombstone', 'voucher_entry', 'account_service', 'email'])
    assert.deepEqual([table, countsAfter[table]], [table, counts[table]])
})

test("a removed service's backup restores into an empty installation", async t => {
  assert.equal(fs.statSync(file).mode & 0o777, 0o600)
  const target = await createEmptyDatabase()
  t.after(() => target.drop())
  const output = await runSuccessfully(['restore', file], { ...environment, DATABASE_URL: target.connection })
  assert.match(output, new RegExp(`^Restored [\\d,]+ rows, service ${api.service.name}, as of `))
  const rows = await countRowsByTable(target.db, api.service)
  assert.deepEqual([rows.tombstone, rows.store, rows.voucher_entry], [2_500, 2, 1])
  assert.ok((rows.request_block ?? 0) >= 2)
  const server = await startSecondServer({ db: target.db, keys: api.keys })
  try {
    const response = await server.sendRequest('/customers/search', { headers: buildCredentials(api) })
    assert.equal(response.status, 200)
    assert.ok(response.json.data.some((record: { firstname: string }) => record.firstname === 'canary-0-customer'))
    assert.doesNotMatch(response.text, /canary-1-/)
  } finally {
    await server.stop()
  }
})
