import type { Bench } from '../rig/bench.ts'
import type { LoadedDatabase } from '../rig/database.ts'
import { formatPercent, formatTenths, formatWhole, getMedian, type Table, type Target } from '../rig/report.ts'
import { type File, files, largeKinds, storeCount } from './files.ts'
import { copyImported, createEmptyService, importFile, importUnchecked } from './runs.ts'

const minShare = 0.3

/** One run of the import command, and the duration of COPY of the same rows. */
interface Run {
  kind: string
  seconds: number
  peak: number
  copySeconds: number
}

const bare = 'transactions, unchecked'

/** Imports large files into empty lists, as during onboarding. Transactions are also imported by a script that checks nothing. */
export async function measureLarge(
  bench: Bench,
  loaded: LoadedDatabase,
  lines: number,
): Promise<{ table: Table; target: Target }> {
  const runs: Run[] = []
  const importLines = (file: File, count: number) => importFile(bench, loaded, file, count, 1)
  for (let round = 0; round < bench.rounds; round++) {
    const service = await createEmptyService(loaded)
    for (const file of files) {
      if (file.kind === 'stores') await importLines(file, storeCount)
      if (!largeKinds.includes(file.kind)) continue
      bench.say(`  round ${round + 1}: ${formatWhole(lines)} lines of ${file.kind}`)
      const run = await importLines(file, lines)
      const copySeconds = (await copyImported(loaded, service, file)).seconds
      runs.push({ kind: file.kind, ...run, copySeconds })
      if (file.kind === 'transactions')
        runs.push({ kind: bare, ...(await importUnchecked(bench, loaded, service)), copySeconds })
    }
  }
  const results = [...largeKinds, bare].map(kind => {
    const measuredRuns = runs.filter(run => run.kind === kind)
    const getMedianMetric = (value: (run: Run) => number) => getMedian(measuredRuns.map(value))
    const seconds = getMedianMetric(run => run.seconds)
    return {
      kind,
      seconds,
      share: getMedianMetric(run => run.copySeconds) / seconds,
      peak: Math.max(...measuredRuns.map(({ peak }) => peak)),
    }
  })
  const lowestShare = Math.min(...results.filter(({ kind }) => kind !== bare).map(({ share }) => share))
  return {
    table: {
      caption: `${formatWhole(lines)} lines into empty lists`,
      head: ['kind', 'seconds', 'lines/s', 'share of COPY', 'peak MB'],
      rows: results.map(({ kind, seconds, share, peak }) => [
        ...[kind, formatTenths(seconds), formatWhole(lines / seconds), formatPercent(share), formatWhole(peak)],
      ]),
    },
    target: {
      label: `empty, of COPY, the slowest of ${formatWhole(lines)} lines`,
      expected: `≥ ${formatPercent(minShare)}`,
      actual: formatPercent(lowestShare),
      met: lowestShare >= minShare,
    },
  }
}
