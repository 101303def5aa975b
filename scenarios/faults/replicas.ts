import { mkdtempSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { randomFor } from '../../seed/random.ts'
import { type Database, type Db, openDatabase, raw, sql } from '../../src/database/db.ts'
import { type Postgres, startPostgres } from '../../src/postgres/postgres.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { createCustomer } from '../support/actors/customer-writers.ts'
import { check } from '../support/expectations/check.ts'
import { findFreePort } from '../support/free-port.ts'
import { haltPostgresWhile } from '../support/halt.ts'
import { openInstallation } from '../support/installation.ts'
import { openClient, toOutcome } from '../support/operations/client.ts'
import { parseInteger } from '../support/options.ts'
import { quantile, report } from '../support/report.ts'
import { buildDatabaseUrl, startStandby } from '../support/standby.ts'
import { type Poller, pollChanges, pollList, type Read, readReplicaCounts } from './replicas/pollers.ts'

const {
  clients,
  seconds,
  late: lateSeconds,
  keep,
} = new Command('npm run scenario -- replicas')
  .description(
    'Two processes read from two replicas while writers commit late or not at all: one replica is always late, the other pauses its replay,\njumps and hangs. Checks that clients that poll a list or /changes end with the records of the primary, and that clients read their own writes.',
  )
  .option(
    '--clients <number>',
    'number of clients that poll the list, and of those that poll /changes',
    parseInteger,
    6,
  )
  .option('--seconds <number>', 'duration of the writes', parseInteger, 60)
  .option('--late <number>', 'seconds that one of the replicas is late', parseInteger, 10)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run scenario -- replicas\n  npm run scenario -- replicas --clients 2 --seconds 6 --late 2\n',
  )
  .parse()
  .opts<{ clients: number; seconds: number; late: number; keep?: boolean }>()

const home = mkdtempSync(join(tmpdir(), 'tillbridge-replicas-'))
await chmod(home, 0o711)
const settings = { max_connections: '100' }
const primary = await startPostgres(join(home, 'primary'), { settings })
const source = { directory: join(home, 'primary'), postgres: primary }
const delayed = await startStandby(join(home, 'late'), source, {
  ...settings,
  recovery_min_apply_delay: `${lateSeconds}s`,
})
const unsteady = await startStandby(join(home, 'unsteady'), source, settings)
const { database } = primary.connection
const random = randomFor('replicas')
const ports = [await findFreePort(), await findFreePort()]
const installation = await openInstallation({
  apis: 2,
  database: { url: buildDatabaseUrl([primary], database), stop: async () => {} },
  environment: { DATABASE_READ_URL: buildDatabaseUrl([delayed, unsteady], database) },
  buildEnvironment: name => ({ METRICS_PORT: String(ports[Number(name.slice(-1)) - 1]) }),
})
const { db, service, credentials, apis } = installation
const api = openClient(apis, credentials, random)
const readMs: number[] = []
/** Times of the reads that began while a replica was halted. */
const readMsDuringHalt: number[] = []
let isHalted = false
const statuses = new Map<number, number>()
let isOver = false
/** True after the last write. */
let isAllWritten = false

const sendRead: Read = async call => {
  const [startedAt, wasHalted] = [performance.now(), isHalted]
  const { status, data, code } = await toOutcome(call(api))
  readMs.push(performance.now() - startedAt)
  if (wasHalted) readMsDuringHalt.push(performance.now() - startedAt)
  statuses.set(status, (statuses.get(status) ?? 0) + 1)
  if (data === undefined) throw new Error(`a read failed: ${status} ${code}`)
  return data
}

/** Waits before each commit; one transaction in ten loses its connection instead. */
const slowDatabase: Database = {
  ...db,
  transaction: <T>(work: (tx: Db) => Promise<T>) =>
    db.transaction(async tx => {
      const result = await work(tx)
      await delay(random.fraction() ** 3 * 400)
      if (random.chance(0.1)) await tx.run(sql`select pg_terminate_backend(pg_backend_pid())`)
      return result
    }),
}

let commits = 0
const ids = Array.from({ length: 400 }, (_, i) => `c${i}`)
async function write() {
  while (!isOver) {
    const rows = ids.filter(() => random.chance(0.02)).map(id => ({ id, firstname: `Ann ${random.integer(1, 1e6)}` }))
    commits += await upsertCustomers(slowDatabase, service, rows).then(
      () => 1,
      () => 0,
    )
    await delay(20)
  }
}

const unseen: string[] = []
let ownWrites = 0
/** Creates customers, and reads each immediately by its path and by the list. */
async function writeAndRead() {
  for (let i = 0; !isOver; i++) {
    const email = `own-${i}@example.com`
    const { data: created } = await createCustomer(api, email)
    const id = created?.id ?? ''
    const byId = await toOutcome(sendRead(() => api.customers.get(id))).catch(() => undefined)
    const byEmail = await sendRead(() => api.customers.find({ email }).page())
    if (byId?.data?.id !== id) unseen.push(`${id} by its path`)
    if (byEmail.data[0]?.id !== id) unseen.push(`${id} by the list`)
    ownWrites++
    await delay(100)
  }
}

async function execute(server: Postgres, statement: string) {
  const admin = openDatabase(server.connection, { max: 1, acceptStandby: true, onFault: () => {} })
  await admin.run(raw(statement)).finally(() => admin.close())
}

const disturbances = { replay: 0, halt: 0 }
/** Pauses the replay of the unsteady replica, resumes it, and halts the whole server. */
async function disturb() {
  while (!isOver) {
    await delay(random.integer(300, 1_000))
    await execute(unsteady, 'select pg_wal_replay_pause()')
    await delay(random.integer(300, 2_000))
    await execute(unsteady, 'select pg_wal_replay_resume()')
    disturbances.replay++
    await delay(random.integer(300, 1_000))
    isHalted = true
    await haltPostgresWhile(unsteady.pid, () => delay(random.integer(300, 1_500)))
    isHalted = false
    disturbances.halt++
  }
}

/** Counts the reads that each replica executed. */
async function countReadsByReplica() {
  const counts = await readReplicaCounts(ports)
  return [delayed, unsteady].map(({ connection: { host } }) => counts(host, 'answered'))
}

/** Waits at most 60 s until each replica executed a read: a slow machine needs longer than the scenario lasts. */
async function waitUntilAllReplicasRead() {
  for (const startedAt = performance.now(); performance.now() - startedAt < 60_000; await delay(200))
    if ((await countReadsByReplica()).every(count => count > 0)) return
}

try {
  await upsertCustomers(
    db,
    service,
    ids.map(id => ({ id, firstname: 'Ann' })),
  )
  // The first request of a process takes longest.
  for (const _ of apis) await sendRead(() => api.customers.search({ limit: 1 }).page())
  readMs.length = 0
  // Some scans take longer than a replica is late.
  const createPause = (i: number) =>
    i % 2 ? () => random.integer(0, 20) : () => random.integer(100, 150 * lateSeconds)
  const pollers: Poller[] = Array.from({ length: clients }, (_, i) => [
    pollList(sendRead, createPause(i), () => isAllWritten),
    pollChanges(sendRead, createPause(i), () => isAllWritten),
  ]).flat()
  const polling = Promise.all(pollers.map(({ done }) => done))
  const writing = Promise.all([write(), write(), write(), writeAndRead(), disturb()])
  await Promise.race([delay(seconds * 1_000).then(waitUntilAllReplicasRead), writing, polling])
  isOver = true
  await writing
  isAllWritten = true
  await polling
  const rows = await db.rows<{ id: string; firstname: string }>(sql`select id, firstname from customer`)
  const stored = new Map(rows.map(({ id, firstname }) => [id, firstname]))
  const compareCopies = (path: string) =>
    pollers
      .filter(poller => poller.path === path)
      .flatMap(({ copy }) =>
        [...new Set([...stored.keys(), ...copy.keys()])]
          .filter(id => stored.get(id) !== copy.get(id))
          .map(id => `${id} is ${copy.get(id)}, not ${stored.get(id)}`),
      )
  const counts = await readReplicaCounts(ports)
  const [byLate = 0, byUnsteady = 0] = await countReadsByReplica()
  const formatTimes = (times: number[]) => [0.5, 0.99].map(share => quantile(times, share).toFixed(0)).join(', ')
  report('replicas', {
    keep,
    measurements: [
      ['duration, and seconds that one replica is late', `${seconds}, ${lateSeconds}`],
      ['commits of writers, without those that lost their connection', commits],
      ['clients that poll the list, and /changes', `${clients}, ${clients}`],
      ['pauses of the replay, halts of the other replica', `${disturbances.replay}, ${disturbances.halt}`],
      ['reads', readMs.length],
      ['executed by the late replica', byLate],
      ['executed by the unsteady replica', byUnsteady],
      ['replica attempts that were too early for the data', counts('', 'behind')],
      ['replica attempts that failed or timed out', counts('', 'failed')],
      ['response time, p50 and p99, ms', formatTimes(readMs)],
      ['response time while a replica was halted, p50 and p99, ms', formatTimes(readMsDuringHalt)],
    ],
    checks: [
      check(
        'clients that poll the list have the records of the primary',
        compareCopies('/customers/search'),
        rows.length,
      ),
      check('clients that poll /changes have the records of the primary', compareCopies('/changes'), rows.length),
      check('clients read their own writes', unseen, ownWrites),
      check(
        'each replica executes reads',
        [byLate, byUnsteady].flatMap((count, i) => (count ? [] : [`replica ${i + 1}`])),
      ),
      check('every read succeeds', [...statuses.keys()].filter(status => status !== 200).map(String), readMs.length),
    ],
  })
} finally {
  isOver = true
  isAllWritten = true
  await installation.close()
  for (const server of [delayed, unsteady, primary]) await server.stop()
  await rm(home, { recursive: true, force: true })
}
