import { Agent } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { addAccount, addPassword, addService } from '../../src/accounts.ts'
import { sql } from '../../src/db.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { cpuSeconds, memory } from '../../trials/usage.ts'
import type { Bench } from '../rig/bench.ts'
import { type Loaded, serviceName } from '../rig/database.ts'
import { type Running, startService } from '../rig/processes.ts'
import { median, percent, type Section, tenths, whole } from '../rig/report.ts'
import { type Account, byLongPoll, byStream, get } from './follower.ts'

const name = 'bench-following'
/** An account has so many streams at most. */
const streamsOfAccount = 10
/** How many follow in each of the two ways. */
const crowds = [1, 500] as const
const restSeconds = 5
const updates = 40
/** Milliseconds after which who has not heard of an update has missed it. */
const patienceMs = 10_000
/** Changes of a page of the whole feed. */
const pageSize = 1_000

const quantile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN

/** What following the changes costs, how soon a change is told, and how fast all of them are read. */
export async function measureChanges(bench: Bench, loaded: Loaded): Promise<Section> {
  const { db, keys } = loaded
  await db.run(sql`delete from service where name = ${name}`)
  const made = await addService(db, name, { readsPerMinute: 'off', writesPerMinute: 'off' })
  if (!made) throw new Error('it was just deleted')
  const accounts: Account[] = []
  for (let i = 0; i < Math.max(...crowds) / streamsOfAccount; i++) {
    const username = `${name}-${i}`
    const password = (await addAccount(db, keys, username, made, 'visitor')) ?? (await addPassword(db, keys, username))
    accounts.push({ username, password, serviceName: name })
  }
  let version = 0
  const update = () => upsertCustomers(db, made, [{ id: 'followed', firstname: `Ann ${++version}` }])
  await update()
  const service = await startService(bench.directory, { DATABASE_URL: loaded.url, JOBS: 'off' })
  try {
    const found = []
    for (const crowd of crowds) found.push(await followed(bench, service, accounts, crowd, update))
    bench.say('  writers')
    const cost = await writers(bench, service, accounts, update)
    bench.say('  all changes')
    const reader = { username: serviceName, password: loaded.password, serviceName }
    const pages = await bootstrapped(service, reader)
    return sectionOf(loaded, found, cost, pages)
  } finally {
    await service.stop()
    await db.run(sql`delete from service where name = ${name}`)
    await db.run(sql`delete from account where username like ${`${name}-%`}`)
  }
}

type Found = Awaited<ReturnType<typeof followed>>

/** Has a crowd follow in both ways, leaves it alone for a while, and then changes one record time and again. */
async function followed(
  bench: Bench,
  service: Running,
  accounts: readonly Account[],
  crowd: number,
  update: () => Promise<unknown>,
) {
  bench.say(`  ${crowd} streams, ${crowd} long polls`)
  const before = memory(service.pid).now
  let committedAt = 0
  let heard = 0
  const lags: Record<'stream' | 'long poll', number[]> = { stream: [], 'long poll': [] }
  const hears = (way: keyof typeof lags) => () => {
    heard++
    if (committedAt) lags[way].push(performance.now() - committedAt)
  }
  const following = []
  for (let i = 0; i < crowd; i++) {
    const account = accounts[Math.floor(i / streamsOfAccount)] as Account
    following.push(await byStream(service, account, hears('stream')))
    following.push(await byLongPoll(service, account, hears('long poll')))
  }
  await delay(1_000)
  const rest = await usedIn(service, () => delay(restSeconds * 1_000))
  const after = memory(service.pid).now
  let missed = 0
  const began = performance.now()
  const busy = await usedIn(service, async () => {
    for (let i = 0; i < updates; i++) {
      heard = 0
      await update()
      committedAt = performance.now()
      while (heard < 2 * crowd && performance.now() < committedAt + patienceMs) await delay(20)
      missed += 2 * crowd - heard
      await delay(100)
    }
  })
  const seconds = (performance.now() - began) / 1_000
  for (const one of following) one.close()
  return {
    crowd,
    lags,
    megabytes: after - before,
    restShare: rest / restSeconds,
    /** Milliseconds of CPU, what is used at rest taken off. */
    updateMs: ((busy - (rest / restSeconds) * seconds) / updates) * 1_000,
    missed,
  }
}

async function usedIn(service: Running, work: () => Promise<unknown>) {
  const before = cpuSeconds(service.pid)
  await work()
  return cpuSeconds(service.pid) - before
}

/** Writes as fast as they go, while nobody follows and while ten do in both ways, in turn; how much slower that is. */
async function writers(bench: Bench, service: Running, accounts: readonly Account[], update: () => Promise<unknown>) {
  const rate = async () => {
    const ends = performance.now() + bench.seconds * 1_000
    let count = 0
    for (; performance.now() < ends; count++) await update()
    return count / bench.seconds
  }
  const shares: number[] = []
  const rates: number[] = []
  for (let round = 0; round < bench.rounds; round++) {
    const alone = await rate()
    const account = accounts[0] as Account
    const following = []
    for (let i = 0; i < streamsOfAccount; i++) {
      following.push(await byStream(service, account, () => {}))
      following.push(await byLongPoll(service, account, () => {}))
    }
    shares.push((await rate()) / alone - 1)
    rates.push(alone)
    for (const one of following) one.close()
    await delay(500)
  }
  return { rate: median(rates), more: -median(shares) }
}

/** Reads the whole feed; pages a second in each tenth of it. */
async function bootstrapped(service: Running, account: Account) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  let cursor = ''
  for (let hasMore = true; hasMore; ) {
    const began = performance.now()
    const text = await get(service, account, `/changes?limit=${pageSize}${cursor && `&after_cursor=${cursor}`}`, agent)
    times.push(performance.now() - began)
    const { meta } = JSON.parse(text) as { meta: { endCursor: string; hasNextPage: boolean } }
    cursor = meta.endCursor
    hasMore = meta.hasNextPage
  }
  agent.destroy()
  const size = Math.max(1, Math.floor(times.length / 10))
  const tenth = (i: number) => times.slice(i * size, i === 9 ? undefined : (i + 1) * size)
  return Array.from({ length: 10 }, (_, i) => 1_000 / median(tenth(i)))
}

function sectionOf(
  { size }: Loaded,
  found: readonly Found[],
  cost: { rate: number; more: number },
  pages: readonly number[],
): Section {
  const crowd = found.at(-1)
  const lag = (one: Found, way: keyof Found['lags'], share: number) => quantile(one.lags[way], share)
  const slowest = Math.max(...found.flatMap(one => [lag(one, 'stream', 0.99), lag(one, 'long poll', 0.99)]))
  const flat = (pages.at(-1) ?? Number.NaN) / (pages[0] ?? Number.NaN)
  return {
    title: 'Following changes',
    about: `One process serves; those who follow are in one other, and share the machine. One record is changed ${updates} times, and told to all. From its commit to when it is heard, the client's own work included. CPU at rest is that of the service while everybody waits; that of an update is what one more takes. The whole feed has ${whole(size.customers + size.transactions)} records and more, read in pages of ${whole(pageSize)}; writers write customers one after the other, and how much slower they are while ten streams and ten long polls follow them is the median of the rounds.`,
    tables: [
      {
        caption: 'Waiting, and being told',
        head: [
          'streams and long polls, each',
          'stream p50 ms',
          'p99 ms',
          'long poll p50 ms',
          'p99 ms',
          'MB more',
          'CPU at rest',
          'CPU ms of an update',
          'not told',
        ],
        rows: found.map(one => [
          String(one.crowd),
          ...(['stream', 'long poll'] as const).flatMap(way => [whole(lag(one, way, 0.5)), whole(lag(one, way, 0.99))]),
          ...[tenths(one.megabytes), percent(one.restShare), tenths(one.updateMs), String(one.missed)],
        ]),
      },
      {
        caption: 'The whole feed, pages/s in each tenth of it',
        head: pages.map((_, i) => `${i + 1}`),
        rows: [pages.map(tenths)],
      },
    ],
    targets: [
      { what: 'commit to heard, p99', wanted: '< 1 s', found: `${whole(slowest)} ms`, met: slowest < 1_000 },
      {
        what: 'the last tenth of the feed beside the first',
        wanted: '≥ 90 % of its pages/s',
        found: percent(flat),
        met: flat >= 0.9,
      },
      {
        what: `writers while they are followed (${whole(cost.rate)} writes/s alone)`,
        wanted: '< 3 % slower',
        found: `${(cost.more * 100).toFixed(1)} %`,
        met: cost.more < 0.03,
      },
      {
        what: `${crowd?.crowd} of each: all are told`,
        wanted: '0 not told',
        found: String(crowd?.missed),
        met: crowd?.missed === 0,
      },
    ],
  }
}
