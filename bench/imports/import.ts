import type { Bench } from '../rig/bench.ts'
import type { Loaded } from '../rig/database.ts'
import { median, percent, type Section, tenths, whole } from '../rig/report.ts'
import { files, large, stores } from './files.ts'
import { measureLarge } from './large.ts'
import { copyOf, type Disk, emptyService, imported, remove } from './runs.ts'

const expected = 20_000
const maxGigabytes = 4

const ways = ['empty', 'changed', 'the same'] as const

/** A run of the command, and the seconds of the job that follows. */
interface Run {
  kind: string
  way: (typeof ways)[number]
  seconds: number
  peak: number
  after: number
}

/** Imports files of `lines` lines of each type into a separate service three times: all lines are new, then changed, then unchanged. */
export async function measureImport(bench: Bench, loaded: Loaded, lines: number): Promise<Section> {
  const runs: Run[] = []
  const copies = new Map<string, number[]>()
  let disk: Disk[] = []
  for (let round = 0; round < bench.rounds; round++) {
    const service = await emptyService(loaded)
    disk = []
    for (const file of files) {
      bench.say(`  round ${round + 1}: ${file.kind}`)
      for (const way of ways) {
        runs.push({ kind: file.kind, way, ...(await imported(bench, loaded, file, lines, way === 'empty' ? 1 : 2)) })
        if (way !== 'empty' || !file.tables.length) continue
        const copy = await copyOf(loaded, service, file)
        copies.set(file.kind, [...(copies.get(file.kind) ?? []), copy.seconds])
        disk.push(...copy.disk)
      }
    }
  }
  const largeFiles = await measureLarge(bench, loaded, 10 * lines)
  await remove(loaded)
  const results = files.flatMap(({ kind }) =>
    ways.map(way => {
      const of = runs.filter(run => run.kind === kind && run.way === way)
      const seconds = median(of.map(run => run.seconds))
      const share = median(copies.get(kind) ?? []) / seconds
      const after = median(of.map(run => run.after))
      return { kind, way, seconds, after, rate: lines / seconds, share, peak: Math.max(...of.map(({ peak }) => peak)) }
    }),
  )
  const many = results.filter(({ kind }) => large.includes(kind))
  const mappings = results.filter(({ kind }) => kind.endsWith('mapping'))
  const gigabytes = ((disk.find(({ table }) => table === 'retail_transaction')?.total ?? Number.NaN) * 1.5e6) / 1e9
  const least = (way: string, of: 'rate' | 'share') =>
    Math.min(...many.filter(run => run.way === way).map(run => run[of]))
  return {
    title: 'Imports',
    about:
      `\`tillbridge import\` of generated CSV into another service of the bench, ${whole(lines)} lines. Each run is a process, including its start. Every line changes in the second run, and no line changes in the third. ` +
      `COPY copies the rows of the first run, by the server from a file into a table with the same indexes. ${stores} of the stores have stock, ${whole(lines / stores)} rows each. If stores or SKUs are mapped, a job renders that stock again, which is timed after the run. If a file has ${whole(10 * lines)} lines, the start of the process is negligible.`,
    tables: [
      {
        caption: 'Files',
        head: ['kind', 'run', 'seconds', 'lines/s', 'share of COPY', 'job, s', 'peak MB'],
        rows: results.map(({ kind, way, seconds, rate, share, after, peak }) => [
          ...[kind, way, tenths(seconds), whole(rate), Number.isNaN(share) ? '-' : percent(share)],
          ...[after < 0.1 ? '-' : tenths(after), whole(peak)],
        ]),
      },
      largeFiles.table,
      {
        caption: 'A row on disk after COPY, in bytes',
        head: ['table', 'rows', 'row', 'its record', 'indexes', 'all'],
        rows: disk.map(({ table, rows, row, text, indexes, total: size }) => [
          ...[table, whole(rows), whole(row), whole(text), whole(indexes), whole(size)],
        ]),
      },
    ],
    targets: [
      ...(['empty', 'changed'] as const).flatMap(way => {
        const share = way === 'empty' ? 0.3 : 0.15
        const [of, rate] = [least(way, 'share'), least(way, 'rate')]
        return [
          {
            label: `${way}, of COPY, the slowest of ${whole(lines)} lines`,
            expected: `≥ ${percent(share)}`,
            actual: percent(of),
            met: of >= share,
          },
          {
            label: `${way}, lines/s, the slowest`,
            expected: `≥ ${whole(expected)}`,
            actual: whole(rate),
            met: rate >= expected,
          },
        ]
      }),
      largeFiles.target,
      {
        label: '3,000,000 lines of transactions on disk, two lines each',
        expected: `< ${maxGigabytes} GB`,
        actual: `${tenths(gigabytes)} GB`,
        met: gigabytes < maxGigabytes,
      },
      {
        label: 'mappings, lines/s, the slowest',
        expected: `≥ ${whole(expected)}`,
        actual: whole(Math.min(...mappings.map(({ rate }) => rate))),
        met: mappings.every(({ rate }) => rate >= expected),
      },
    ],
  }
}
