import { resolve } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { sql } from '../src/database/db.ts'
import { measureBackup } from './backup.ts'
import { measureBreaker } from './breaker.ts'
import { measureColdStart } from './cold-start.ts'
import { measureCost } from './cost.ts'
import { measureExport } from './export.ts'
import { measureChanges } from './following/changes.ts'
import { measureWebhooks } from './following/webhooks.ts'
import { measureFreshness } from './freshness.ts'
import { measureGrowth } from './growth.ts'
import { measureImport } from './imports/import.ts'
import { measureMappings } from './mappings.ts'
import { measurePages } from './pages.ts'
import { measurePeers } from './peers.ts'
import { measurePlatform } from './platform.ts'
import { measureReplicas } from './replicas.ts'
import { measureRequestLog } from './requests.ts'
import { type Bench, startBench } from './rig/bench.ts'
import { type Cluster, type LoadedDatabase, openCluster, type Size } from './rig/database.ts'
import { collectFacts, publish, type Section } from './rig/report.ts'
import { measureSync, type StockSize } from './sync.ts'
import { measureTraces } from './traces.ts'
import { measureWorkers } from './workers.ts'
import { measureRemoteWrites } from './writes/remote.ts'
import { measureReservations } from './writes/reservations.ts'
import { measureWrites } from './writes/writes.ts'

/** The parts, in the order in which they run. The last one runs after the database has stopped. */
const parts = [
  'pages',
  'cost',
  'peers',
  'export',
  'backup',
  'growth',
  'workers',
  'replicas',
  'writes',
  'reservations',
  'remote-writes',
  'breaker',
  'sync',
  'freshness',
  'import',
  'mappings',
  'platform',
  'traces',
  'requests',
  'changes',
  'webhooks',
  'cold-start',
] as const
type Part = (typeof parts)[number]

interface Options extends Size, StockSize {
  variants: number
  seconds: number
  rounds: number
  compare: boolean
  only: Part[]
}

const parseAtLeast = (minimum: number) => (text: string) => {
  const value = Number(text)
  if (!(value >= minimum)) throw new InvalidArgumentError(`It must be at least ${minimum}.`)
  return value
}

const { customers, transactions, stores, skus, variants, seconds, rounds, compare, only } = new Command(
  'npm run bench --',
)
  .description('Measures the service and its limits, prints tables and writes them to bench/results/.')
  .option('--customers <number>', 'customers in the list', parseAtLeast(20_000), 1_000_000)
  .option('--transactions <number>', 'retail transactions in the list', parseAtLeast(20_000), 1_000_000)
  .option('--stores <number>', 'stores of the back office whose stock is synced', parseAtLeast(2), 83)
  .option('--skus <number>', 'SKUs of the back office; 60000 SKUs have 525,000 rows of stock', parseAtLeast(10), 60_000)
  .option('--variants <number>', 'variants of the platform, each at 5 locations', parseAtLeast(10), 100_000)
  .option('--seconds <number>', 'duration of each measurement', parseAtLeast(0.5), 1)
  .option('--rounds <number>', 'rounds of each measurement; the median counts', parseAtLeast(1), 5)
  .option('--compare', 'compare the cost of requests with bench/results/cost.json, and fail if it has grown', false)
  .addOption(
    new Option('--only <parts...>', 'parts to measure').choices(parts).default(
      parts.filter(part => part !== 'peers'),
      'all except peers, which installs other products',
    ),
  )
  .addHelpText(
    'after',
    '\nThe first run loads the data into .data/bench. To load it again, remove that directory.\nThe part freshness takes as many minutes as there are rounds. A short run: --only freshness --rounds 1 --skus 600 --stores 6\n',
  )
  .parse()
  .opts<Options>()

const directory = resolve('.data/bench')
const started = performance.now()
const say = (line: string) =>
  console.log(
    `${Math.round((performance.now() - started) / 1_000)
      .toString()
      .padStart(4)} s  ${line}`,
  )

say('Starting PostgreSQL.')
const cluster = await openCluster(directory, say)
const facts = await measureServed(cluster, { customers, transactions })
await cluster.stop()
if (only.includes('cold-start')) {
  say('cold-start')
  await publish('cold-start', await measureColdStart(directory), facts())
}
say('Done.')

/** Measures all parts that use the cluster. Returns a function that lists the facts of the run. */
async function measureServed(running: Cluster, size: Size) {
  const loaded = await running.open(size)
  const version = await loaded.db.row<{ version: string }>(sql`select current_setting('server_version') as version`)
  const description = `${size.customers.toLocaleString('en-US')} customers and ${size.transactions.toLocaleString('en-US')} transactions; ${rounds} rounds of ${seconds} s, the median`
  const listFacts = () => collectFacts(version?.version ?? '', description)
  const bench = startBench({ directory, postgresPid: running.postgres.pid, seconds, rounds, say })
  const measure: Record<Exclude<Part, 'cold-start'>, (bench: Bench, loaded: LoadedDatabase) => Promise<Section>> = {
    pages: measurePages,
    cost: (rig, data) => measureCost(rig, data, compare),
    peers: measurePeers,
    export: measureExport,
    backup: measureBackup,
    growth: rig => measureGrowth(rig, running, size),
    workers: measureWorkers,
    replicas: (rig, data) => measureReplicas(rig, running, data),
    writes: measureWrites,
    reservations: measureReservations,
    'remote-writes': measureRemoteWrites,
    breaker: measureBreaker,
    mappings: measureMappings,
    platform: (rig, data) => measurePlatform(rig, data, { variants }),
    traces: measureTraces,
    requests: measureRequestLog,
    changes: measureChanges,
    webhooks: measureWebhooks,
    sync: (rig, data) => measureSync(rig, data, { stores, skus }),
    freshness: (rig, data) => measureFreshness(rig, data, { stores, skus }),
    import: (rig, data) => measureImport(rig, data, Math.min(size.customers, 100_000)),
  }
  for (const part of parts) {
    if (part === 'cold-start' || !only.includes(part)) continue
    say(part)
    await publish(part, await measure[part](bench, loaded), listFacts(), { save: !(part === 'cost' && compare) })
  }
  bench.end()
  return listFacts
}
