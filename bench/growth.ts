import { Agent, get } from 'node:https'
import { sql } from '../src/database/db.ts'
import { type Bench, measureRequest } from './rig/bench.ts'
import { type Cluster, type LoadedDatabase, type Size, serviceName } from './rig/database.ts'
import { type RunningService, startService } from './rig/processes.ts'
import { formatTenths, formatWhole, getMedian, type Section } from './rig/report.ts'
import { buildScenarios } from './rig/scenarios.ts'

const measuredNames = /first page|deepest page/

/** Measures the same pages of small and large lists, one request at a time. */
export async function measureGrowth(bench: Bench, cluster: Cluster, largest: Size): Promise<Section> {
  const sizes = [100, 10, 1].map(part => ({
    customers: Math.ceil(largest.customers / part),
    transactions: Math.ceil(largest.transactions / part),
  }))
  const measuredLists = []
  for (const size of sizes) {
    const loaded = await cluster.open(size)
    const scenarios = (await buildScenarios(loaded)).filter(({ name }) => measuredNames.test(name))
    const service = await startService(bench.directory, { DATABASE_URL: loaded.url })
    measuredLists.push({ size, scenarios, service, loaded, paths: await buildFilteredPaths(loaded) })
  }
  const times = new Map<string, number[][]>()
  for (let round = 0; round < bench.rounds; round++)
    for (const [i, { scenarios, service }] of measuredLists.entries())
      for (const scenario of scenarios) {
        const { p50 } = await measureRequest(bench, service, scenario, { connections: 1, seconds: 1 })
        const bySize = times.get(scenario.name) ?? sizes.map(() => [])
        times.set(scenario.name, bySize)
        bySize[i]?.push(p50)
      }
  const paginations = new Map<string, PaginationResult[]>()
  for (const { service, loaded, paths } of measuredLists) {
    bench.say('  every filter of the large lists')
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (const [name, path] of paths)
      paginations.set(name, [...(paginations.get(name) ?? []), await paginate(service, loaded, agent, path)])
    agent.destroy()
  }
  for (const { service } of measuredLists) await service.stop()

  const last = sizes.length - 1
  const getTime = (name: string, size: number) => getMedian(times.get(name)?.[size] ?? [])
  const getGrowth = (name: string) => getTime(name, last) / getTime(name, 0)
  const [first, deepest] = ['customers, first page', 'customers, deepest page'] as const
  const depth = getTime(deepest, last) / getTime(first, last)
  return {
    title: 'Growth',
    about:
      'Median milliseconds of a page on one connection, one request at a time, by the number of records in the list. The rounds go from list to list.',
    tables: [
      {
        caption: 'A page of 100, in milliseconds',
        head: ['request', ...sizes.map(size => formatWhole(size.customers)), 'largest/smallest'],
        rows: [...times.keys()].map(name => [
          name,
          ...sizes.map((_, i) => formatTenths(getTime(name, i))),
          formatTenths(getGrowth(name)),
        ]),
      },
      {
        caption: `Every filter, alone and together, in each direction: the first ${nearPages} pages of a paginated read, and those up to the ${deepPages}th`,
        head: [
          'request',
          ...sizes.flatMap(size => [formatWhole(size.customers), 'deep']),
          'deep/first',
          'largest/tenth',
        ],
        rows: [...paginations].map(([name, results]) => [
          name,
          ...results.flatMap(({ first: firstPage, late }) => [formatTenths(firstPage), formatTenths(late)]),
          formatTenths((results.at(-1)?.late ?? 0) / (results.at(-1)?.first ?? 0)),
          formatTenths((results.at(-1)?.first ?? 0) / (results.at(-2)?.first ?? 0)),
        ]),
      },
    ],
    targets: [
      buildWorstTarget(
        'a page deep in a paginated read, whatever the filters',
        'first',
        [...paginations.values()],
        results => [results.at(-1)?.late, results.at(-1)?.first],
      ),
      buildWorstTarget(
        'a first page of the largest list',
        'share of a list a tenth as large',
        [...paginations.values()],
        results => [results.at(-1)?.first, results.at(-2)?.first],
      ),
      {
        label: 'customers: deepest page in time',
        expected: '≤ 1.15 × first',
        actual: `${formatTenths(depth)} ×`,
        met: depth <= 1.15,
      },
    ],
  }
}

/** Pages that are timed at the beginning and at the end of a pagination, and the number of pages that are read. */
const nearPages = 5
const deepPages = 40
/** Milliseconds below which the ratio of two pages is ignored. */
const negligibleMs = 2

/** Median milliseconds of the first and of the last pages of a pagination. */
interface PaginationResult {
  first: number
  late: number
}

type Pair = [now: number | undefined, before: number | undefined]

/** Builds the target for the largest ratio of the pairs that take longer than `negligibleMs`. */
function buildWorstTarget(
  label: string,
  baseline: string,
  paginations: PaginationResult[][],
  getPair: (pagination: PaginationResult[]) => Pair,
) {
  const ratios = paginations.map(getPair).flatMap(([now = 0, before = 0]) => (now > negligibleMs ? [now / before] : []))
  const worstRatio = Math.max(0, ...ratios)
  return {
    label,
    expected: `at most 2 times ${baseline}, or ${negligibleMs} ms`,
    actual: `${formatTenths(worstRatio)} ×`,
    met: worstRatio <= 2,
  }
}

/** Builds the paths of the large lists, each with its name: every combination of filters, in each direction. */
async function buildFilteredPaths({ db, service }: LoadedDatabase): Promise<[name: string, path: string][]> {
  const findQuartiles = async (table: ReturnType<typeof sql>, column: ReturnType<typeof sql>) => {
    const row = await db.row<{ low: string; high: string }>(sql`
      select to_char(q[1], 'YYYY-MM-DD HH24:MI:SS') as low, to_char(q[2], 'YYYY-MM-DD HH24:MI:SS') as high
        from (select percentile_disc(array[0.25, 0.75]) within group (order by ${column}::timestamp) as q from ${table} where service_id = ${service.id}) of`)
    if (!row) throw new Error('an aggregate returned no row')
    return row
  }
  const [customers, changed, sold] = await Promise.all([
    findQuartiles(sql`customer`, sql`changed_at`),
    findQuartiles(sql`retail_transaction`, sql`changed_at`),
    findQuartiles(sql`retail_transaction`, sql`sale_date`),
  ])
  const filters = [
    ['updated_after', changed.low],
    ['updated_before', changed.high],
    ['sold_after', sold.low],
    ['sold_before', sold.high],
  ] as const
  const sales = Array.from({ length: 16 }, (_, bits) => filters.filter((__, i) => bits & (1 << i))).flatMap(
    usedFilters =>
      [undefined, 'true', 'false'].map((asc): [string, string] => {
        const query = new URLSearchParams([
          ...usedFilters.map(([filter, value]): [string, string] => [filter, value]),
          ...(asc ? [['asc', asc] as [string, string]] : []),
        ])
        const name = ['transactions', ...usedFilters.map(([filter]) => filter), ...(asc ? [`asc=${asc}`] : [])].join(
          ', ',
        )
        return [name, `/orders/transactions/search?${query}`]
      }),
  )
  return [
    ['customers, updated_after', `/customers/search?${new URLSearchParams({ updated_after: customers.low })}`],
    ...sales,
  ]
}

/** Reads the first pages of a list, one after the other. */
async function paginate(
  { port, ca }: RunningService,
  { password }: LoadedDatabase,
  agent: Agent,
  path: string,
): Promise<PaginationResult> {
  const headers = {
    authorization: `Basic ${Buffer.from(`${serviceName}:${password}`).toString('base64')}`,
    'x-service-name': serviceName,
  }
  const fetchPage = (pagePath: string) =>
    new Promise<{ meta: { hasNextPage: boolean; endCursor: string | null } }>((resolve, reject) => {
      const options = { host: '127.0.0.1', servername: 'localhost', port, ca, agent, path: pagePath, headers }
      get(options, async response => {
        const text = Buffer.concat(await response.toArray()).toString()
        if (response.statusCode === 200) resolve(JSON.parse(text))
        else reject(new Error(`${pagePath}: ${response.statusCode} ${text}`))
      }).on('error', reject)
    })
  // The first request isn't timed, because it loads plans and pages from disk.
  await fetchPage(path)
  const times: number[] = []
  for (let next: string | undefined = path; next !== undefined && times.length < deepPages; ) {
    const from = performance.now()
    const { meta } = await fetchPage(next)
    times.push(performance.now() - from)
    next = meta.hasNextPage ? `${path}${path.endsWith('?') ? '' : '&'}after_cursor=${meta.endCursor}` : undefined
  }
  return { first: getMedian(times.slice(0, nearPages)), late: getMedian(times.slice(-nearPages)) }
}
