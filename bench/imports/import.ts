import type { Bench } from '../rig/bench.ts'
import type { LoadedDatabase } from '../rig/database.ts'
import { formatPercent, formatTenths, formatWhole, getMedian, type Section } from '../rig/report.ts'
import { files, largeKinds, storeCount } from './files.ts'
import { measureLarge } from './large.ts'
import { copyImported, createEmptyService, type Disk, importFile, removeService } from './runs.ts'

const minLinesPerSecond = 20_000
const maxGigabytes = 4

const ways = ['empty', 'changed', 'the same'] as const

/** One run of the import command. `jobSeconds` is the duration of the job that renders stock afterwards. */
interface Run {
  kind: string
  way: (typeof ways)[number]
  seconds: number
  peak: number
  jobSeconds: number
}

/** Imports a file of each type into a separate service three times: all lines are new, then changed, then unchanged. */
export async function measureImport(bench: Bench, loaded: LoadedDatabase, lines: number): Promise<Section> {
  const runs: Run[] = []
  const copies = new Map<string, number[]>()
  let disk: Disk[] = []
  for (let round = 0; round < bench.rounds; round++) {
    const service = await createEmptyService(loaded)
    disk = []
    for (const file of files) {
      bench.say(`  round ${round + 1}: ${file.kind}`)
      for (const way of ways) {
        runs.push({ kind: file.kind, way, ...(await importFile(bench, loaded, file, lines, way === 'empty' ? 1 : 2)) })
        if (way !== 'empty' || !file.tables.length) continue
        const copy = await copyImported(loaded, service, file)
        copies.set(file.kind, [...(copies.get(file.kind) ?? []), copy.seconds])
        disk.push(...copy.disk)
      }
    }
  }
  const largeFiles = await measureLarge(bench, loaded, 10 * lines)
  await removeService(loaded)
  const results = files.flatMap(({ kind }) =>
    ways.map(way => {
      const measuredRuns = runs.filter(run => run.kind === kind && run.way === way)
      const seconds = getMedian(measuredRuns.map(run => run.seconds))
      const share = getMedian(copies.get(kind) ?? []) / seconds
      const jobSeconds = getMedian(measuredRuns.map(run => run.jobSeconds))
      return {
        kind,
        way,
        seconds,
        jobSeconds,
        rate: lines / seconds,
        share,
        peak: Math.max(...measuredRuns.map(({ peak }) => peak)),
      }
    }),
  )
  const largeResults = results.filter(({ kind }) => largeKinds.includes(kind))
  const mappings = results.filter(({ kind }) => kind.endsWith('mapping'))
  const gigabytes = ((disk.find(({ table }) => table === 'retail_transaction')?.total ?? Number.NaN) * 1.5e6) / 1e9
  const findLeast = (way: string, metric: 'rate' | 'share') =>
    Math.min(...largeResults.filter(run => run.way === way).map(run => run[metric]))
  return {
    title: 'Imports',
    about:
      `\`tillbridge import\` of generated CSV into another service of the bench, ${formatWhole(lines)} lines. Each run is a process, including its start. Every line changes in the second run, and no line changes in the third. ` +
      `COPY copies the rows of the first run, by the server from a file into a table with the same indexes. ${storeCount} of the stores have stock, ${formatWhole(lines / storeCount)} rows each. If stores or SKUs are mapped, a job renders that stock again, which is timed after the run. If a file has ${formatWhole(10 * lines)} lines, the start of the process is negligible.`,
    tables: [
      {
        caption: 'Files',
        head: ['kind', 'run', 'seconds', 'lines/s', 'share of COPY', 'job, s', 'peak MB'],
        rows: results.map(({ kind, way, seconds, rate, share, jobSeconds, peak }) => [
          ...[kind, way, formatTenths(seconds), formatWhole(rate), Number.isNaN(share) ? '-' : formatPercent(share)],
          ...[jobSeconds < 0.1 ? '-' : formatTenths(jobSeconds), formatWhole(peak)],
        ]),
      },
      largeFiles.table,
      {
        caption: 'A row on disk after COPY, in bytes',
        head: ['table', 'rows', 'row', 'its record', 'indexes', 'all'],
        rows: disk.map(({ table, rows, row, text, indexes, total: size }) => [
          ...[table, formatWhole(rows), formatWhole(row), formatWhole(text), formatWhole(indexes), formatWhole(size)],
        ]),
      },
    ],
    targets: [
      ...(['empty', 'changed'] as const).flatMap(way => {
        const share = way === 'empty' ? 0.3 : 0.15
        const [leastShare, rate] = [findLeast(way, 'share'), findLeast(way, 'rate')]
        return [
          {
            label: `${way}, of COPY, the slowest of ${formatWhole(lines)} lines`,
            expected: `≥ ${formatPercent(share)}`,
            actual: formatPercent(leastShare),
            met: leastShare >= share,
          },
          {
            label: `${way}, lines/s, the slowest`,
            expected: `≥ ${formatWhole(minLinesPerSecond)}`,
            actual: formatWhole(rate),
            met: rate >= minLinesPerSecond,
          },
        ]
      }),
      largeFiles.target,
      {
        label: '3,000,000 lines of transactions on disk, two lines each',
        expected: `< ${maxGigabytes} GB`,
        actual: `${formatTenths(gigabytes)} GB`,
        met: gigabytes < maxGigabytes,
      },
      {
        label: 'mappings, lines/s, the slowest',
        expected: `≥ ${formatWhole(minLinesPerSecond)}`,
        actual: formatWhole(Math.min(...mappings.map(({ rate }) => rate))),
        met: mappings.every(({ rate }) => rate >= minLinesPerSecond),
      },
    ],
  }
}
