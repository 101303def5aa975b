import type { Bench } from '../rig/bench.ts'
import type { Loaded } from '../rig/database.ts'
import { median, percent, type Table, type Target, tenths, whole } from '../rig/report.ts'
import { type File, files, large, stores } from './files.ts'
import { copyOf, emptyService, imported, importedBarely } from './runs.ts'

const expected = 0.3

/** A run of the command, compared with COPY of the same rows. */
interface Run {
  kind: string
  seconds: number
  peak: number
  copied: number
}

const bare = 'transactions, nothing checked'

/** Imports large files into empty lists, as during onboarding. Transactions are also imported by a script that checks nothing. */
export async function measureLarge(
  bench: Bench,
  loaded: Loaded,
  lines: number,
): Promise<{ table: Table; target: Target }> {
  const runs: Run[] = []
  const put = (file: File, count: number) => imported(bench, loaded, file, count, 1)
  for (let round = 0; round < bench.rounds; round++) {
    const service = await emptyService(loaded)
    for (const file of files) {
      if (file.kind === 'stores') await put(file, stores)
      if (!large.includes(file.kind)) continue
      bench.say(`  round ${round + 1}: ${whole(lines)} lines of ${file.kind}`)
      const run = await put(file, lines)
      const copied = (await copyOf(loaded, service, file)).seconds
      runs.push({ kind: file.kind, ...run, copied })
      if (file.kind === 'transactions')
        runs.push({ kind: bare, ...(await importedBarely(bench, loaded, service)), copied })
    }
  }
  const results = [...large, bare].map(kind => {
    const of = runs.filter(run => run.kind === kind)
    const middle = (value: (run: Run) => number) => median(of.map(value))
    const seconds = middle(run => run.seconds)
    return { kind, seconds, share: middle(run => run.copied) / seconds, peak: Math.max(...of.map(({ peak }) => peak)) }
  })
  const least = Math.min(...results.filter(({ kind }) => kind !== bare).map(({ share }) => share))
  return {
    table: {
      caption: `${whole(lines)} lines into empty lists`,
      head: ['kind', 'seconds', 'lines/s', 'share of COPY', 'peak MB'],
      rows: results.map(({ kind, seconds, share, peak }) => [
        ...[kind, tenths(seconds), whole(lines / seconds), percent(share), whole(peak)],
      ]),
    },
    target: {
      label: `empty, of COPY, the slowest of ${whole(lines)} lines`,
      expected: `≥ ${percent(expected)}`,
      actual: percent(least),
      met: least >= expected,
    },
  }
}
