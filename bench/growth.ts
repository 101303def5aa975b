import { Agent, get } from 'node:https'
import { sql } from '../src/database/db.ts'
import { ask, type Bench } from './rig/bench.ts'
import { type Cluster, type Loaded, type Size, serviceName } from './rig/database.ts'
import { type Running, startService } from './rig/processes.ts'
import { median, type Section, tenths, whole } from './rig/report.ts'
import { scenariosOf } from './rig/scenarios.ts'

const listed = /first page|deepest page/

/** The same pages of small and large lists, requested one at a time. */
export async function measureGrowth(bench: Bench, cluster: Cluster, largest: Size): Promise<Section> {
  const sizes = [100, 10, 1].map(part => ({
    customers: Math.ceil(largest.customers / part),
    transactions: Math.ceil(largest.transactions / part),
  }))
  const served = []
  for (const size of sizes) {
    const loaded = await cluster.open(size)
    const scenarios = (await scenariosOf(loaded)).filter(({ name }) => listed.test(name))
    const service = await startService(bench.directory, { DATABASE_URL: loaded.url })
    served.push({ size, scenarios, service, loaded, paths: await filtered(loaded) })
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
  const paginations = new Map<string, PaginationResult[]>()
  for (const { service, loaded, paths } of served) {
    bench.say('  every filter of the large lists')
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (const [name, path] of paths)
      paginations.set(name, [...(paginations.get(name) ?? []), await paginate(service, loaded, agent, path)])
    agent.destroy()
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
        head: ['request', ...sizes.map(size => whole(size.customers)), 'largest/smallest'],
        rows: [...times.keys()].map(name => [
          name,
          ...sizes.map((_, i) => tenths(timeOf(name, i))),
          tenths(grown(name)),
        ]),
      },
      {
        caption: `Every filter, alone and together, in each direction: the first ${near} pages of a paginated read, and those up to the ${deep}th`,
        head: ['request', ...sizes.flatMap(size => [whole(size.customers), 'deep']), 'deep/first', 'largest/tenth'],
        rows: [...paginations].map(([name, of]) => [
          name,
          ...of.flatMap(({ first: firstPage, late }) => [tenths(firstPage), tenths(late)]),
          tenths((of.at(-1)?.late ?? 0) / (of.at(-1)?.first ?? 0)),
          tenths((of.at(-1)?.first ?? 0) / (of.at(-2)?.first ?? 0)),
        ]),
      },
    ],
    targets: [
      worst('a page deep in a paginated read, whatever the filters', 'first', [...paginations.values()], of => [
        of.at(-1)?.late,
        of.at(-1)?.first,
      ]),
      worst('a first page of the largest list', 'share of a list a tenth as large', [...paginations.values()], of => [
        of.at(-1)?.first,
        of.at(-2)?.first,
      ]),
      {
        label: 'customers: deepest page in time',
        expected: '≤ 1.15 × first',
        actual: `${tenths(depth)} ×`,
        met: depth <= 1.15,
      },
    ],
  }
}

/** Pages that are timed at the beginning, and the number of pages that are read. */
const near = 5
const deep = 40
/** Milliseconds below which the ratio of two pages is ignored. */
const negligible = 2

/** Median milliseconds of the first and of the last pages of a pagination. */
interface PaginationResult {
  first: number
  late: number
}

type Pair = [now: number | undefined, before: number | undefined]

/** The largest ratio among pages that take long enough to matter. */
function worst(
  label: string,
  than: string,
  paginations: PaginationResult[][],
  of: (pagination: PaginationResult[]) => Pair,
) {
  const ratios = paginations.map(of).flatMap(([now = 0, before = 0]) => (now > negligible ? [now / before] : []))
  const worstRatio = Math.max(0, ...ratios)
  return {
    label,
    expected: `at most 2 times ${than}, or ${negligible} ms`,
    actual: `${tenths(worstRatio)} ×`,
    met: worstRatio <= 2,
  }
}

/** The large lists, by a name, with every filter alone and together, in each direction. */
async function filtered({ db, service }: Loaded): Promise<[name: string, path: string][]> {
  const quarters = async (table: ReturnType<typeof sql>, column: ReturnType<typeof sql>) => {
    const row = await db.row<{ low: string; high: string }>(sql`
      select to_char(q[1], 'YYYY-MM-DD HH24:MI:SS') as low, to_char(q[2], 'YYYY-MM-DD HH24:MI:SS') as high
        from (select percentile_disc(array[0.25, 0.75]) within group (order by ${column}::timestamp) as q from ${table} where service_id = ${service.id}) of`)
    if (!row) throw new Error('an aggregate has a row')
    return row
  }
  const [customers, changed, sold] = await Promise.all([
    quarters(sql`customer`, sql`changed_at`),
    quarters(sql`retail_transaction`, sql`changed_at`),
    quarters(sql`retail_transaction`, sql`sale_date`),
  ])
  const filters = [
    ['updated_after', changed.low],
    ['updated_before', changed.high],
    ['sold_after', sold.low],
    ['sold_before', sold.high],
  ] as const
  const sales = Array.from({ length: 16 }, (_, bits) => filters.filter((__, i) => bits & (1 << i))).flatMap(chosen =>
    [undefined, 'true', 'false'].map((asc): [string, string] => {
      const query = new URLSearchParams([
        ...chosen.map(([filter, value]): [string, string] => [filter, value]),
        ...(asc ? [['asc', asc] as [string, string]] : []),
      ])
      const name = ['transactions', ...chosen.map(([filter]) => filter), ...(asc ? [`asc=${asc}`] : [])].join(', ')
      return [name, `/orders/transactions/search?${query}`]
    }),
  )
  return [
    ['customers, updated_after', `/customers/search?${new URLSearchParams({ updated_after: customers.low })}`],
    ...sales,
  ]
}

/** Reads a list, one page after the other. */
async function paginate(
  { port, ca }: Running,
  { password }: Loaded,
  agent: Agent,
  path: string,
): Promise<PaginationResult> {
  const headers = {
    authorization: `Basic ${Buffer.from(`${serviceName}:${password}`).toString('base64')}`,
    'x-service-name': serviceName,
  }
  const page = (of: string) =>
    new Promise<{ meta: { hasNextPage: boolean; endCursor: string | null } }>((resolve, reject) => {
      const options = { host: '127.0.0.1', servername: 'localhost', port, ca, agent, path: of, headers }
      get(options, async response => {
        const text = Buffer.concat(await response.toArray()).toString()
        if (response.statusCode === 200) resolve(JSON.parse(text))
        else reject(new Error(`${of}: ${response.statusCode} ${text}`))
      }).on('error', reject)
    })
  // The first request is not timed: it loads plans and pages from disk.
  await page(path)
  const times: number[] = []
  for (let next: string | undefined = path; next !== undefined && times.length < deep; ) {
    const from = performance.now()
    const { meta } = await page(next)
    times.push(performance.now() - from)
    next = meta.hasNextPage ? `${path}${path.endsWith('?') ? '' : '&'}after_cursor=${meta.endCursor}` : undefined
  }
  return { first: median(times.slice(0, near)), late: median(times.slice(-near)) }
}
