import { ask, type Bench } from './bench.ts'
import type { Cluster, Size } from './database.ts'
import { startService } from './processes.ts'
import { median, type Section, tenths, whole } from './report.ts'
import { scenariosOf } from './scenarios.ts'

const listed = /first page|deepest page/

/** The same pages of small and large lists, asked one at a time. */
export async function measureGrowth(bench: Bench, cluster: Cluster, largest: Size): Promise<Section> {
  const sizes = [100, 10, 1].map(part => ({
    customers: Math.ceil(largest.customers / part),
    transactions: Math.ceil(largest.transactions / part),
  }))
  const served = []
  for (const size of sizes) {
    const loaded = await cluster.open(size)
    const scenarios = (await scenariosOf(loaded)).filter(({ name }) => listed.test(name))
    served.push({ size, scenarios, service: await startService(bench.directory, { DATABASE_URL: loaded.url }) })
  }
  const times = new Map<string, number[][]>()
  for (let round = 0; round < bench.rounds; round++)
    for (const [i, { scenarios, service }] of served.entries())
      for (const scenario of scenarios) {
        const { p50 } = await ask(bench, service, scenario, { connections: 1, seconds: 1 })
        const bySize = times.get(scenario.name) ?? sizes.map(() => [])
        times.set(scenario.name, bySize)
        bySize[i]?.push(p50)
      }
  for (const { service } of served) await service.stop()

  const last = sizes.length - 1
  const timeOf = (name: string, size: number) => median(times.get(name)?.[size] ?? [])
  const grown = (name: string) => timeOf(name, last) / timeOf(name, 0)
  const [first, deepest] = ['customers, first page', 'customers, deepest page'] as const
  const depth = timeOf(deepest, last) / timeOf(first, last)
  return {
    title: 'Growth',
    about:
      'Median milliseconds of a page on one connection, one request at a time, by the number of records in the list. The rounds go from list to list.',
    tables: [
      {
        caption: 'A page of 100, in milliseconds',
        head: ['request', ...sizes.map(size => `of ${whole(size.customers)}`), 'largest/smallest'],
        rows: [...times.keys()].map(name => [
          name,
          ...sizes.map((_, i) => tenths(timeOf(name, i))),
          tenths(grown(name)),
        ]),
      },
    ],
    targets: [
      {
        what: 'customers: deepest page in time',
        wanted: '≤ 1.15 × first',
        found: `${tenths(depth)} ×`,
        met: depth <= 1.15,
      },
    ],
  }
}
