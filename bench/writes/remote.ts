import type { Bench } from '../rig/bench.ts'
import { measureBareServer, measureRequest } from '../rig/bench.ts'
import type { LoadedDatabase } from '../rig/database.ts'
import { repeatResponse } from '../rig/repeat-response.ts'
import {
  formatPercent,
  formatTenths,
  formatWhole,
  getMedian,
  getMedianBy,
  type Section,
  type Target,
} from '../rig/report.ts'
import { buildScenarios } from '../rig/scenarios.ts'
import {
  measureOrders,
  type OrderResults,
  openRemoteShop,
  type RemoteShop,
  startLookUps,
  warmSeconds,
} from './remote-shop.ts'

/** Seconds that the back office needs for an order. */
const delaySeconds = 0.4
/** Minimum seconds of a measurement, because an order takes `delaySeconds`. */
const minSeconds = 8

const loads = [
  { clients: 64, concurrency: 64 },
  { clients: 256, concurrency: 32 },
] as const

interface RemoteResult extends OrderResults {
  clients: number
  concurrency: number
  /** Maximum orders per second of the back office. */
  limit: number
}

/**
 * Measures orders through a slow back office, other readers and writers at the same time, and a back office that
 * never responds.
 */
export async function measureRemoteWrites(bench: Bench, loaded: LoadedDatabase): Promise<Section> {
  const seconds = Math.max(bench.seconds, minSeconds)
  const results: RemoteResult[] = []
  const pages = { alone: [] as number[], concurrent: [] as number[] }
  const repeated = { alone: [] as number[], concurrent: [] as number[] }
  const neighbours = { alone: [] as number[], concurrent: [] as number[] }
  const scenario = (await buildScenarios(loaded)).find(candidate => candidate.name === 'customers, first page')
  if (!scenario) throw new Error('the scenario "customers, first page" is missing')
  for (const { clients, concurrency } of loads) {
    const shop = await openRemoteShop(bench.directory, loaded, concurrency)
    try {
      const { ca } = shop.running
      const load = { connections: 8, rate: 100, seconds }
      const { ports } = await repeatResponse(bench, shop.running, scenario)
      const measurePage = () => measureRequest(bench, shop.running, scenario, load)
      const measureBarePage = () => measureBareServer(bench, ports.tls, scenario.request, { ...load, ca })
      await delayOrders(shop)
      const rounds: OrderResults[] = []
      for (let round = 0; round < bench.rounds; round++) {
        bench.say(`  ${clients} clients, ${concurrency} at a time`)
        rounds.push(await measureOrders(shop, clients, seconds))
        if (clients !== loads[0].clients) continue
        pages.alone.push((await measurePage()).p99)
        pages.concurrent.push((await Promise.all([measurePage(), measureOrders(shop, clients, seconds)]))[0].p99)
        repeated.alone.push((await measureBarePage()).p99)
        repeated.concurrent.push((await Promise.all([measureBarePage(), measureOrders(shop, clients, seconds)]))[0].p99)
        await measureHanging(bench, shop, seconds, neighbours)
      }
      results.push({
        ...getMedianBy(rounds, ({ perSecond }) => perSecond),
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
          ...[
            formatWhole(perSecond),
            formatWhole(limit),
            formatPercent(perSecond / limit),
            formatWhole(p50),
            formatWhole(p99),
          ],
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
          const { alone, concurrent } = getMedians(times as typeof pages)
          return [label as string, formatTenths(alone), formatTenths(concurrent), (concurrent / alone).toFixed(2)]
        }),
      },
    ],
    targets: [
      ...results.flatMap(buildOrderTargets),
      buildRatioTarget('customers pages', pages),
      buildRatioTarget('writes of another service', neighbours),
    ],
  }
}

/** Delays the back office's responses to orders. */
const delayOrders = ({ simulator: { remote } }: RemoteShop) =>
  remote.addFault({ kind: 'latency', method: 'POST', path: '/Persons/*/Orders', seconds: delaySeconds })

/** Measures another service's writes alone, and while look-ups of this service get no response. */
async function measureHanging(
  bench: Bench,
  shop: RemoteShop,
  seconds: number,
  times: { alone: number[]; concurrent: number[] },
) {
  bench.say('  look-ups of a back office that hangs')
  times.alone.push(await shop.measureNeighbour(seconds))
  await shop.simulator.remote.addFault({ kind: 'hang', path: '/Voucher/*' })
  const stop = startLookUps(shop, 300)
  times.concurrent.push(await shop.measureNeighbour(seconds))
  await shop.simulator.remote.clearFaults()
  await stop()
  await delayOrders(shop)
}

const getMedians = ({ alone, concurrent }: { alone: number[]; concurrent: number[] }) => ({
  alone: getMedian(alone),
  concurrent: getMedian(concurrent),
})

function buildOrderTargets({ clients, perSecond, limit, p99, rejected, other }: RemoteResult): Target[] {
  const maxMs = 2 * delaySeconds * 1_000 + 300
  const rate = {
    label: `orders of ${clients} clients`,
    expected: 'at least 75 % of the limit',
    actual: formatPercent(perSecond / limit),
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
    { label: 'p99', expected: `at most ${maxMs} ms`, actual: `${formatWhole(p99)} ms`, met: p99 <= maxMs },
  ]
}

function buildRatioTarget(label: string, times: { alone: number[]; concurrent: number[] }): Target {
  const { alone, concurrent } = getMedians(times)
  return {
    label: `p99 of ${label} with load`,
    expected: 'at most 1.3 times that alone',
    actual: (concurrent / alone).toFixed(2),
    met: concurrent <= 1.3 * alone,
  }
}
