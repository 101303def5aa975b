import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readMemory } from '../scenarios/support/usage.ts'
import { type Bench, measureRequest, type Sample } from './rig/bench.ts'
import { type LoadedDatabase, serviceName } from './rig/database.ts'
import { type RunningService, startService } from './rig/processes.ts'
import { formatPercent, formatTenths, formatWhole, getMedian, type Section } from './rig/report.ts'
import { buildScenarios } from './rig/scenarios.ts'

const maxMegabytes = 200
/** Pages per second that other clients request during the export. */
const pagesPerSecond = 20

interface ExportResult {
  seconds: number
  bytes: number
}

/** Measures a bulk export, COPY of the same rows for comparison, and the pages of other clients at the same time. */
export async function measureExport(bench: Bench, loaded: LoadedDatabase): Promise<Section> {
  const { customers } = loaded.size
  const service = await startService(bench.directory, { DATABASE_URL: loaded.url })
  const scenarios = await buildScenarios(loaded)
  const page = scenarios.find(({ name }) => name === 'customers, deepest page')
  if (!page) throw new Error('the scenario "customers, deepest page" is missing')
  const runExport = (encoding?: string) => timeExport(service, loaded, encoding)
  const rounds: Record<'copy' | 'plain' | 'zstd' | 'gzip', ExportResult>[] = []
  const pages: Record<'alone' | 'concurrent', Sample>[] = []
  for (let round = 0; round < bench.rounds; round++) {
    bench.say(`  round ${round + 1}`)
    rounds.push({
      copy: await timeCopy(loaded),
      plain: await runExport(),
      zstd: await runExport('zstd'),
      gzip: await runExport('gzip'),
    })
  }
  const peak = readMemory(service.pid).peak
  bench.say('  pages, alone and during a bulk export')
  const load = { connections: 4, rate: pagesPerSecond, seconds: Math.max(5, bench.seconds) }
  for (let round = 0; round < bench.rounds; round++) {
    const alone = await measureRequest(bench, service, page, load)
    let isOver = false
    const listing = (async () => {
      while (!isOver) await runExport()
    })()
    const concurrent = await measureRequest(bench, service, page, load)
    isOver = true
    await listing
    pages.push({ alone, concurrent })
  }
  await service.stop()

  const getMedianMetric = (way: keyof (typeof rounds)[number], metric: keyof ExportResult) =>
    getMedian(rounds.map(round => round[way][metric]))
  const share = getMedian(rounds.map(({ copy, plain }) => copy.seconds / plain.seconds))
  const tail = getMedian(pages.map(({ alone, concurrent }) => concurrent.p99 / alone.p99))
  const getMedianLatency = (when: keyof (typeof pages)[number], metric: 'p50' | 'p99') =>
    formatTenths(getMedian(pages.map(round => round[when][metric])))
  return {
    title: 'Bulk export',
    about:
      `All ${formatWhole(customers)} customers as NDJSON over TLS to curl on the same machine, which discards them. The same rounds measure COPY of the same texts by psql. ` +
      `At the same time clients read the deepest page of the same list, ${pagesPerSecond} a second at even intervals, each timed from when it was due. All processes share the cores.`,
    tables: [
      {
        caption: 'The export',
        head: ['way', 'seconds', 'records/s', 'MB sent', 'share of COPY'],
        rows: (['copy', 'plain', 'zstd', 'gzip'] as const).map(way => [
          { copy: 'COPY', plain: 'NDJSON', zstd: 'NDJSON, zstd', gzip: 'NDJSON, gzip' }[way],
          formatTenths(getMedianMetric(way, 'seconds')),
          formatWhole(customers / getMedianMetric(way, 'seconds')),
          formatWhole(getMedianMetric(way, 'bytes') / 1e6),
          formatPercent(getMedian(rounds.map(round => round.copy.seconds / round[way].seconds))),
        ]),
      },
      {
        caption: 'Pages of other clients',
        head: ['during', 'p50 ms', 'p99 ms'],
        rows: [
          ['nothing', getMedianLatency('alone', 'p50'), getMedianLatency('alone', 'p99')],
          ['a bulk export, repeated', getMedianLatency('concurrent', 'p50'), getMedianLatency('concurrent', 'p99')],
        ],
      },
    ],
    targets: [
      { label: 'rate, of COPY', expected: '≥ 50 %', actual: formatPercent(share), met: share >= 0.5 },
      {
        label: 'memory of the service, at most',
        expected: `≤ ${maxMegabytes} MB`,
        actual: `${formatWhole(peak)} MB`,
        met: peak <= maxMegabytes,
      },
      { label: 'p99 of pages during an export', expected: '≤ 2 ×', actual: `${formatTenths(tail)} ×`, met: tail <= 2 },
    ],
  }
}

/** Runs COPY by `psql` and discards the rows. */
async function timeCopy({ url, service }: LoadedDatabase): Promise<ExportResult> {
  const copy = `copy (select record || ecommerce_ids from customer where service_id = ${service.id}) to stdout`
  const { seconds } = await timeProgram('psql', [
    '--no-psqlrc',
    '--quiet',
    '--dbname',
    url,
    '--command',
    copy,
    '--output',
    '/dev/null',
  ])
  return { seconds, bytes: Number.NaN }
}

/** Runs a bulk export by `curl` and discards the records. */
async function timeExport(
  { port }: RunningService,
  { password }: LoadedDatabase,
  encoding = 'identity',
): Promise<ExportResult> {
  const headers = { accept: 'application/x-ndjson', 'accept-encoding': encoding, 'x-service-name': serviceName }
  const { seconds, out } = await timeProgram('curl', [
    ...['--silent', '--fail', '--insecure', '--http1.1', '--user', `${serviceName}:${password}`],
    ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    ...['--output', '/dev/null', '--write-out', '%{size_download}', `https://localhost:${port}/customers/search`],
  ])
  return { seconds, bytes: Number(out) }
}

/** Runs a program. Returns its duration and output. */
async function timeProgram(program: string, args: readonly string[]) {
  const began = performance.now()
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', chunk => {
    out += chunk
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${program} ended with code ${code}.`)
  return { seconds: (performance.now() - began) / 1_000, out }
}
