import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { startPostgresProxy } from '../../scenarios/support/postgres-proxy.ts'
import { readCpuSeconds } from '../../scenarios/support/usage.ts'
import { sql } from '../../src/database/db.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { addAccount } from '../../src/store/accounts/accounts.ts'
import type { Bench } from '../rig/bench.ts'
import type { LoadedDatabase } from '../rig/database.ts'
import { type RunningService, startService } from '../rig/processes.ts'
import { createQuantile } from '../rig/quantile.ts'
import { formatPercent, formatTenths, formatWhole, getMedianBy, type Section, type Target } from '../rig/report.ts'
import { type Client, createClient } from './client.ts'
import { createKinds, type Kind } from './kinds.ts'
import { clients, contenders, openShop, shoppers } from './shop.ts'
import { openTpcb, type Rate, type Tpcb } from './tpcb.ts'

/** Milliseconds in which connections are opened and statements planned. */
const warmMs = 2_000
/** Minimum seconds of a measurement, because flushes come in bursts. */
const minSeconds = 3

/** Goals of each kind of write: its rate as a share of the database's rate, milliseconds of CPU, and round trips. */
const goals: Record<string, { share?: number; cpu?: number; trips?: number }> = {
  'new customer': { share: 0.4, cpu: 1.4, trips: 5 },
  'lock of a voucher': { share: 0.4, trips: 5 },
  'lock of one voucher': { share: 0.5 },
  'voucher issued': { share: 0.15 },
  'order of three lines': { share: 0.1, cpu: 5, trips: 10 },
  return: { share: 0.1 },
}

interface WriteResult extends Rate {
  p50: number
  /** Milliseconds of CPU of the service and of PostgreSQL per write. */
  cpu: { service: number; postgres: number }
}

/** One round of a kind of write: with one process, with two processes, and the limit. */
interface Round {
  oneProcess: WriteResult
  twoProcesses: WriteResult
  limit: Rate
}

/** Measures each kind of write over HTTPS and, in the same rounds, the database alone. */
export async function measureWrites(bench: Bench, loaded: LoadedDatabase): Promise<Section> {
  const seconds = Math.max(bench.seconds, minSeconds)
  bench.say('  pgbench')
  const tpcb = await openTpcb(loaded.connection)
  const name = `writes-${randomUUID()}`
  const service = await openShop(loaded, name)
  const password = (await addAccount(loaded.db, loaded.keys, name, service, 'maintainer')) ?? ''
  const running = await startService(bench.directory, { DATABASE_URL: loaded.url })
  const runningTwo = await startService(bench.directory, { DATABASE_URL: loaded.url, WEB_CONCURRENCY: '2' })
  const [client, clientForTwo] = [createClient(running, name, password), createClient(runningTwo, name, password)]
  const kinds = await createKinds(client)
  const results = new Map<Kind, Round[]>(kinds.map(kind => [kind, []]))
  const measure = async (target: RunningService, kind: Kind, sender: Client) => {
    await waitForJobs(loaded, service)
    return measureWrite(bench, target, kind, sender, seconds)
  }
  try {
    for (let round = 0; round < bench.rounds; round++)
      for (const [kind, rounds] of results) {
        bench.say(`  ${kind.name}`)
        const oneProcess = await measure(running, kind, client)
        const twoProcesses = await measure(runningTwo, kind, clientForTwo)
        await waitForJobs(loaded, service)
        rounds.push({ oneProcess, twoProcesses, limit: await measureLimit(tpcb, kind, seconds) })
      }
    const trips = await countRoundTrips(bench, loaded, kinds, (at: RunningService) => createClient(at, name, password))
    return buildSection(results, trips, tpcb !== undefined, seconds)
  } finally {
    client.end()
    clientForTwo.end()
    await running.stop()
    await runningTwo.stop()
    await loaded.db.run(sql`delete from service where service_id = ${service.id}`)
    await loaded.db.run(sql`delete from account where username = ${name}`)
  }
}

/** Waits for emails and other jobs of earlier writes, so that they don't use CPU during the next measurement. */
async function waitForJobs({ db }: LoadedDatabase, { id }: Service) {
  const findDueJob = () =>
    db.row(sql`select from job where service_id = ${id} and (due_at <= now() or leased_until > now()) limit 1`)
  while (await findDueJob()) await delay(200)
}

const measureLimit = async (tpcb: Tpcb | undefined, kind: Kind, seconds: number): Promise<Rate> =>
  (await (kind.clients === contenders
    ? tpcb?.measureOneRow(contenders, seconds)
    : tpcb?.measureTransactions(kind.clients, seconds))) ?? { perSecond: Number.NaN, p99: Number.NaN }

/** Measures one kind of write with all its clients, after a warm-up. */
export async function measureWrite<Sender>(
  { postgresPid }: Bench,
  running: Pick<RunningService, 'pid'>,
  { clients: count, prepare, write }: Kind<Sender>,
  client: Sender,
  seconds: number,
): Promise<WriteResult> {
  let times: number[] = []
  let isRunning = true
  const allClients = Promise.all(
    Array.from({ length: count }, async (_, number) => {
      while (isRunning) {
        await prepare?.(client, number)
        const from = performance.now()
        await write(client, number)
        times.push(performance.now() - from)
      }
    }),
  )
  // A rejected client ends the measurement.
  const run = async (ms: number) => void (await Promise.race([allClients, delay(ms)]))
  const readUsage = () => [running.pid, postgresPid].map(readCpuSeconds)
  try {
    await run(warmMs)
    times = []
    const [from, before] = [performance.now(), readUsage()]
    await run(seconds * 1_000)
    const [service = 0, postgres = 0] = readUsage().map((now, i) => ((now - (before[i] ?? 0)) * 1_000) / times.length)
    const perSecond = (times.length / (performance.now() - from)) * 1_000
    const quantile = createQuantile(times)
    return { perSecond, p50: quantile(0.5), p99: quantile(0.99), cpu: { service, postgres } }
  } finally {
    isRunning = false
    await allClients
  }
}

/** Counts the round trips to the database of one write of each kind: the minimum of eight writes. */
async function countRoundTrips(
  bench: Bench,
  loaded: LoadedDatabase,
  kinds: readonly Kind[],
  connect: (at: RunningService) => Client,
) {
  const proxy = await startPostgresProxy(loaded.url)
  const running = await startService(bench.directory, { DATABASE_URL: proxy.connection, RUN_JOBS: 'false' })
  const client = connect(running)
  try {
    const counts = new Map<Kind, number>()
    for (const kind of kinds)
      for (let i = 0; i < 8; i++) {
        await kind.prepare?.(client, 0)
        const before = proxy.roundTrips()
        await kind.write(client, 0)
        counts.set(kind, Math.min(counts.get(kind) ?? Number.POSITIVE_INFINITY, proxy.roundTrips() - before))
      }
    return counts
  } finally {
    client.end()
    await running.stop()
    proxy.close()
  }
}

function buildSection(
  results: ReadonlyMap<Kind, Round[]>,
  trips: ReadonlyMap<Kind, number>,
  hasPgbench: boolean,
  seconds: number,
): Section {
  const rows: string[][] = []
  const targets: Target[] = []
  for (const [kind, rounds] of results) {
    const { oneProcess } = getMedianBy(rounds, round => round.oneProcess.perSecond)
    const { limit } = getMedianBy(rounds, round => round.limit.perSecond)
    const { twoProcesses } = getMedianBy(rounds, round => round.twoProcesses.perSecond)
    const share = oneProcess.perSecond / limit.perSecond
    const { service, postgres } = oneProcess.cpu
    const waits = trips.get(kind) ?? Number.NaN
    rows.push([
      kind.name,
      String(kind.clients),
      ...[formatWhole(oneProcess.perSecond), formatTenths(oneProcess.p50), formatTenths(oneProcess.p99)],
      ...[formatWhole(limit.perSecond), formatTenths(limit.p99), Number.isNaN(share) ? '-' : formatPercent(share)],
      ...[formatTenths(service), formatTenths(postgres), String(waits), formatWhole(twoProcesses.perSecond)],
    ])
    const target = goals[kind.name]
    const buildLabel = (measurement: string) => `${kind.name}: ${measurement}`
    if (target?.share !== undefined)
      targets.push({
        label: buildLabel(kind.clients === contenders ? 'share of updates of one row' : 'share of TPC-B'),
        expected: `at least ${formatPercent(target.share)}`,
        actual: Number.isNaN(share) ? 'no pgbench here' : formatPercent(share),
        met: share >= target.share,
      })
    if (kind.clients === contenders)
      targets.push({
        label: buildLabel('p99 of that of updates of one row'),
        expected: 'at most 2 x',
        actual: `${(oneProcess.p99 / limit.p99).toFixed(1)} x`,
        met: oneProcess.p99 <= 2 * limit.p99,
      })
    if (target?.cpu !== undefined)
      targets.push({
        label: buildLabel('CPU of service and PostgreSQL'),
        expected: `at most ${target.cpu} ms`,
        actual: `${formatTenths(service + postgres)} ms`,
        met: service + postgres <= target.cpu,
      })
    if (target?.trips !== undefined)
      targets.push({
        label: buildLabel('waits for the database'),
        expected: `at most ${target.trips}`,
        actual: String(waits),
        met: waits <= target.trips,
      })
  }
  return {
    title: 'Writes',
    about:
      'Clients keep their connections open. Each sends the next write as soon as it has a response, with a new Idempotency-Key. ' +
      `The limit is the write rate of the database alone${hasPgbench ? ': pgbench with as many clients and its own transaction (TPC-B, scale 50, prepared). For the contended voucher all clients update one row' : '; there is no pgbench on this machine'}. ` +
      `The orders are of ${formatWhole(shoppers)} members of a reward programme, and shipped at once. Each client returns its own orders, one unit at a time. Placing those orders is not timed, but uses the same machine. ` +
      `The contended voucher is locked again and again by ${contenders} clients at once. A proxy counts the round trips to the database of one write at a time; pipelined statements count once. ` +
      `The generator runs on the same cores, in a process that serves ${clients} clients. A measurement takes ${seconds} s, after ${warmMs / 1_000} s of warm-up.`,
    tables: [
      {
        caption: 'Over HTTPS, and the limit',
        head: [
          ...['write', 'clients', 'writes/s', 'p50 ms', 'p99 ms', 'limit/s', 'p99 ms', 'share of the limit'],
          ...['CPU ms, service', 'CPU ms, PostgreSQL', 'waits', '`WEB_CONCURRENCY=2`, writes/s'],
        ],
        rows,
      },
    ],
    targets,
  }
}
