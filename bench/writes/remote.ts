import type { Bench } from '../rig/bench.ts'
import { ask, askBare } from '../rig/bench.ts'
import type { Loaded } from '../rig/database.ts'
import { repeating } from '../rig/repeating.ts'
import { median, medianBy, percent, type Section, type Target, tenths, whole } from '../rig/report.ts'
import { scenariosOf } from '../rig/scenarios.ts'
import { lookUps, openRemoteShop, orders, type Placed, type RemoteShop, warmSeconds } from './remote-shop.ts'

/** Seconds that the back office needs for an order. */
const delaySeconds = 0.4
/** Minimum seconds of a measurement, because an order takes that long. */
const leastSeconds = 8

const loads = [
  { clients: 64, concurrency: 64 },
  { clients: 256, concurrency: 32 },
] as const

interface RemoteResult extends Placed {
  clients: number
  concurrency: number
  /** Maximum orders per second of the back office. */
  limit: number
}

/**
 * Measures orders through a slow back office, the readers and writers at the same time, and one back office that
 * hangs.
 */
export async function measureRemoteWrites(bench: Bench, loaded: Loaded): Promise<Section> {
  const seconds = Math.max(bench.seconds, leastSeconds)
  const results: RemoteResult[] = []
  const pages = { alone: [] as number[], concurrent: [] as number[] }
  const repeated = { alone: [] as number[], concurrent: [] as number[] }
  const neighbours = { alone: [] as number[], concurrent: [] as number[] }
  const scenario = (await scenariosOf(loaded)).find(candidate => candidate.name === 'customers, first page')
  if (!scenario) throw new Error('there is such a scenario')
  for (const { clients, concurrency } of loads) {
    const shop = await openRemoteShop(bench.directory, loaded, concurrency)
    try {
      const { ca } = shop.running
      const load = { connections: 8, rate: 100, seconds }
      const { ports } = await repeating(bench, shop.running, scenario)
      const page = () => ask(bench, shop.running, scenario, load)
      const bare = () => askBare(bench, ports.tls, scenario.request, { ...load, ca })
      await slow(shop)
      const rounds: Placed[] = []
      for (let round = 0; round < bench.rounds; round++) {
        bench.say(`  ${clients} clients, ${concurrency} at a time`)
        rounds.push(await orders(shop, clients, seconds))
        if (clients !== loads[0].clients) continue
        pages.alone.push((await page()).p99)
        pages.concurrent.push((await Promise.all([page(), orders(shop, clients, seconds)]))[0].p99)
        repeated.alone.push((await bare()).p99)
        repeated.concurrent.push((await Promise.all([bare(), orders(shop, clients, seconds)]))[0].p99)
        await hanging(bench, shop, seconds, neighbours)
      }
      results.push({
        ...medianBy(rounds, ({ perSecond }) => perSecond),
        clients,
        concurrency,
        limit: concurrency / delaySeconds,
      })
    } finally {
      await shop.stop()
    }
  }
  return {
    title: 'Writes through a slow back office',
    about: `Shoppers order through an Apparel21 (the simulator) that takes ${delaySeconds} s for an order. Each sends the next order as soon as it has a response, with an Idempotency-Key. The limit is the capacity of the back office: this many orders at a time, each for ${delaySeconds} s. The simulator runs on the same cores. A measurement takes ${seconds} s, after ${warmSeconds} s of warm-up.`,
    tables: [
      {
        caption: 'Orders',
        head: ['clients', 'at a time', 'orders/s', 'limit', 'share of the limit', 'p50 ms', 'p99 ms', '503', 'other'],
        rows: results.map(({ clients, concurrency, perSecond, limit, p50, p99, rejected, other }) => [
          ...[clients, concurrency].map(String),
          ...[whole(perSecond), whole(limit), percent(perSecond / limit), whole(p50), whole(p99)],
          ...[rejected, other].map(String),
        ]),
      },
      {
        caption: 'Other clients at the same time: p99 ms',
        head: ['client', 'alone', 'with orders', 'ratio'],
        rows: [
          ['customers pages, 64 shoppers ordering', pages],
          ['the same from a server that repeats one page from memory', repeated],
          ["another service's writes, 300 look-ups of a back office that hangs", neighbours],
        ].map(([label, times]) => {
          const { alone, concurrent } = mediansOf(times as typeof pages)
          return [label as string, tenths(alone), tenths(concurrent), (concurrent / alone).toFixed(2)]
        }),
      },
    ],
    targets: [
      ...results.flatMap(ofOrders),
      ratio('customers pages', pages),
      ratio('writes of another tenant', neighbours),
    ],
  }
}

/** Makes the back office respond slowly to orders. */
const slow = ({ simulator: { remote } }: RemoteShop) =>
  remote.addFault({ kind: 'latency', method: 'POST', path: '/Persons/*/Orders', seconds: delaySeconds })

/** Measures look-ups without a response, and another service's writes at the same time. */
async function hanging(
  bench: Bench,
  shop: RemoteShop,
  seconds: number,
  times: { alone: number[]; concurrent: number[] },
) {
  bench.say('  look-ups of a back office that hangs')
  times.alone.push(await shop.neighbour(seconds))
  await shop.simulator.remote.addFault({ kind: 'hang', path: '/Voucher/*' })
  const stop = lookUps(shop, 300)
  times.concurrent.push(await shop.neighbour(seconds))
  await shop.simulator.remote.clearFaults()
  await stop()
  await slow(shop)
}

const mediansOf = ({ alone, concurrent }: { alone: number[]; concurrent: number[] }) => ({
  alone: median(alone),
  concurrent: median(concurrent),
})

function ofOrders({ clients, perSecond, limit, p99, rejected, other }: RemoteResult): Target[] {
  const maxMs = 2 * delaySeconds * 1_000 + 300
  const rate = {
    label: `orders of ${clients} clients`,
    expected: 'at least 75 % of the limit',
    actual: percent(perSecond / limit),
    met: perSecond >= 0.75 * limit,
  }
  if (clients !== loads[0].clients)
    return [
      rate,
      { label: 'responses that are neither an order nor 503', expected: 'none', actual: String(other), met: !other },
    ]
  return [
    rate,
    { label: 'rejected', expected: 'none', actual: String(rejected + other), met: rejected + other === 0 },
    { label: 'p99', expected: `at most ${maxMs} ms`, actual: `${whole(p99)} ms`, met: p99 <= maxMs },
  ]
}

function ratio(label: string, times: { alone: number[]; concurrent: number[] }): Target {
  const { alone, concurrent } = mediansOf(times)
  return {
    label: `p99 of ${label} with load`,
    expected: 'at most 1.3 times that alone',
    actual: (concurrent / alone).toFixed(2),
    met: concurrent <= 1.3 * alone,
  }
}
