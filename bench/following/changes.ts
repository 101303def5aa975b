import { Agent } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { readCpuSeconds, readMemory } from '../../scenarios/support/usage.ts'
import { sql } from '../../src/database/db.ts'
import { addAccount, addPassword } from '../../src/store/accounts/accounts.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import type { Bench } from '../rig/bench.ts'
import { type Child, now, startChild } from '../rig/child.ts'
import { type LoadedDatabase, serviceName } from '../rig/database.ts'
import { type RunningService, startService } from '../rig/processes.ts'
import { formatPercent, formatTenths, formatWhole, getMedian, type Section } from '../rig/report.ts'
import type { CrowdCommand, ReceiptTimes } from './crowd.ts'
import { type Account, buildRequestHead, fetchText } from './follower.ts'

const name = 'bench-following'
/** Maximum streams of an account. */
const maxStreams = 10
/** Numbers of followers of each kind: streams and long polls. */
const crowds = [1, 500] as const
const restSeconds = 5
const updates = 40
/** A follower that hasn't received a change after this time has missed it. */
const timeoutMs = 10_000
/** Changes per page of the complete change feed. */
const pageSize = 1_000

const getQuantile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN

/** Measures the cost of followers, the lag of changes, and the rate at which the complete change feed is read. */
export async function measureChanges(bench: Bench, loaded: LoadedDatabase): Promise<Section> {
  const { db, keys } = loaded
  await db.run(sql`delete from service where name = ${name}`)
  const created = await addService(db, name, { readsPerMinute: 'off', writesPerMinute: 'off' })
  if (!created) throw new Error(`the service ${name} already exists`)
  const accounts: Account[] = []
  for (let i = 0; i < Math.max(...crowds) / maxStreams; i++) {
    const username = `${name}-${i}`
    const password =
      (await addAccount(db, keys, username, created, 'visitor')) ?? (await addPassword(db, keys, username))
    accounts.push({ username, password, serviceName: name })
  }
  let version = 0
  const update = () => upsertCustomers(db, created, [{ id: 'followed', firstname: `Ann ${++version}` }])
  await update()
  const service = await startService(bench.directory, { DATABASE_URL: loaded.url, RUN_JOBS: 'false' })
  const followers = startChild<CrowdCommand, ReceiptTimes>('../following/crowd.ts')
  const rig = { bench, service, followers, accounts, update }
  try {
    const results = []
    for (const crowd of crowds) results.push(await measureFollowers(rig, crowd))
    bench.say('  writers')
    const cost = await measureWriters(rig)
    bench.say('  all changes')
    const reader = { username: serviceName, password: loaded.password, serviceName }
    const pages = await measureBootstrap(service, reader)
    return buildSection(loaded, results, cost, pages)
  } finally {
    followers.end()
    await service.stop()
    await db.run(sql`delete from service where name = ${name}`)
    await db.run(sql`delete from account where username like ${`${name}-%`}`)
  }
}

interface Rig {
  bench: Bench
  service: RunningService
  /** The process of the followers. */
  followers: Child<CrowdCommand, ReceiptTimes>
  accounts: readonly Account[]
  update: () => Promise<unknown>
}

/** Opens `crowd` streams and as many long polls. */
function openFollowers({ service: { port, ca }, followers, accounts }: Rig, crowd: number) {
  const heads = Array.from({ length: crowd }, (_, i) =>
    buildRequestHead(accounts[Math.floor(i / maxStreams)] as Account),
  )
  return followers.send({ open: { port, ca, streams: heads, polls: heads } })
}

type FollowResult = Awaited<ReturnType<typeof measureFollowers>>

/** Opens followers of both kinds, measures them at rest, and then changes one record repeatedly. */
async function measureFollowers(rig: Rig, crowd: number) {
  const { bench, service, followers, update } = rig
  bench.say(`  ${crowd} streams, ${crowd} long polls`)
  const before = readMemory(service.pid).now
  await openFollowers(rig, crowd)
  await delay(1_000)
  const [cpuSecondsAtRest = 0] = await measureCpu([service], () => delay(restSeconds * 1_000))
  const after = readMemory(service.pid).now
  const lags: ReceiptTimes = { stream: [], poll: [] }
  let missed = 0
  const began = performance.now()
  const [serviceCpuSeconds = 0, followerCpuSeconds = 0] = await measureCpu([service, followers], async () => {
    for (let i = 0; i < updates; i++) {
      await update()
      const committedAt = now()
      const receipts = await followers.send({ within: timeoutMs })
      for (const way of ['stream', 'poll'] as const) for (const at of receipts[way]) lags[way].push(at - committedAt)
      missed += 2 * crowd - receipts.stream.length - receipts.poll.length
      await delay(100)
    }
  })
  const seconds = (performance.now() - began) / 1_000
  await followers.send({ close: true })
  return {
    crowd,
    lags,
    megabytes: after - before,
    restShare: cpuSecondsAtRest / restSeconds,
    /** Milliseconds of CPU, minus the CPU at rest. */
    updateMs: ((serviceCpuSeconds - (cpuSecondsAtRest / restSeconds) * seconds) / updates) * 1_000,
    /** The same for the followers. */
    followerMs: (followerCpuSeconds / updates) * 1_000,
    missed,
  }
}

/** Returns the seconds of CPU that each process uses while `work` runs. */
async function measureCpu(processes: readonly { pid: number }[], work: () => Promise<unknown>) {
  const readUsage = () => processes.map(({ pid }) => readCpuSeconds(pid))
  const before = readUsage()
  await work()
  return readUsage().map((after, i) => after - (before[i] ?? 0))
}

/** Measures writes at full speed, in turn without followers and with ten streams and ten long polls. Returns the median rate and slowdown. */
async function measureWriters(rig: Rig) {
  const { bench, followers, update } = rig
  const measureRate = async () => {
    const ends = performance.now() + bench.seconds * 1_000
    let count = 0
    for (; performance.now() < ends; count++) await update()
    return count / bench.seconds
  }
  const shares: number[] = []
  const rates: number[] = []
  for (let round = 0; round < bench.rounds; round++) {
    const alone = await measureRate()
    await openFollowers(rig, maxStreams)
    shares.push((await measureRate()) / alone - 1)
    rates.push(alone)
    await followers.send({ close: true })
    await delay(500)
  }
  return { rate: getMedian(rates), slowdown: -getMedian(shares) }
}

/** Reads the complete change feed. Returns the pages per second of each tenth. */
async function measureBootstrap(service: RunningService, account: Account) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  let cursor = ''
  for (let hasMore = true; hasMore; ) {
    const began = performance.now()
    const text = await fetchText(
      service,
      account,
      `/changes?limit=${pageSize}${cursor && `&after_cursor=${cursor}`}`,
      agent,
    )
    times.push(performance.now() - began)
    const { meta } = JSON.parse(text) as { meta: { endCursor: string; hasNextPage: boolean } }
    cursor = meta.endCursor
    hasMore = meta.hasNextPage
  }
  agent.destroy()
  const size = Math.max(1, Math.floor(times.length / 10))
  const getTenth = (i: number) => times.slice(i * size, i === 9 ? undefined : (i + 1) * size)
  return Array.from({ length: 10 }, (_, i) => 1_000 / getMedian(getTenth(i)))
}

function buildSection(
  { size }: LoadedDatabase,
  results: readonly FollowResult[],
  cost: { rate: number; slowdown: number },
  pages: readonly number[],
): Section {
  const crowd = results.at(-1)
  const getLag = (result: FollowResult, way: keyof FollowResult['lags'], share: number) =>
    getQuantile(result.lags[way], share)
  const slowest = Math.max(...results.flatMap(result => [getLag(result, 'stream', 0.99), getLag(result, 'poll', 0.99)]))
  // A tenth takes about ten seconds. Other work of the machine can disturb one, so medians are compared.
  const flat = getMedian(pages.slice(5)) / getMedian(pages.slice(0, 5))
  return {
    title: 'Following changes',
    about: `One process serves. All followers are in another process on the same machine, and so is PostgreSQL. One record is changed ${updates} times, and each change is sent to all followers. The lag is the time from the commit until a follower has the change, including its own work. Followers only read bytes from their connections. CPU at rest is the CPU of the service while all followers wait. CPU of an update is the CPU of one more update. The complete change feed has ${formatWhole(size.customers + size.transactions)} records or more and is read in pages of ${formatWhole(pageSize)}. Writers write customers one after the other. Their slowdown with ten streams and ten long polls is the median of the rounds.`,
    tables: [
      {
        caption: 'Lag',
        head: [
          'streams and long polls, each',
          'stream p50 ms',
          'p99 ms',
          'long poll p50 ms',
          'p99 ms',
          'MB more',
          'CPU at rest',
          'CPU ms of an update',
          'CPU ms of followers',
          'not sent',
        ],
        rows: results.map(result => [
          String(result.crowd),
          ...(['stream', 'poll'] as const).flatMap(way => [
            formatWhole(getLag(result, way, 0.5)),
            formatWhole(getLag(result, way, 0.99)),
          ]),
          ...[
            formatTenths(result.megabytes),
            formatPercent(result.restShare),
            formatTenths(result.updateMs),
            formatTenths(result.followerMs),
            String(result.missed),
          ],
        ]),
      },
      {
        caption: 'Pages/s in each tenth of the change feed',
        head: pages.map((_, i) => `${i + 1}`),
        rows: [pages.map(formatTenths)],
      },
    ],
    targets: [
      { label: 'lag, p99', expected: '< 1 s', actual: `${formatWhole(slowest)} ms`, met: slowest < 1_000 },
      {
        label: 'second half of the feed compared with the first, medians of the tenths',
        expected: '≥ 90 % of its pages/s',
        actual: formatPercent(flat),
        met: flat >= 0.9,
      },
      {
        label: `writers with followers (${formatWhole(cost.rate)} writes/s alone)`,
        expected: '< 3 % slower',
        actual: `${(cost.slowdown * 100).toFixed(1)} %`,
        met: cost.slowdown < 0.03,
      },
      {
        label: `${crowd?.crowd} of each: all receive the change`,
        expected: '0 not sent',
        actual: String(crowd?.missed),
        met: crowd?.missed === 0,
      },
    ],
  }
}
