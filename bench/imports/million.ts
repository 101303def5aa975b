import type { Bench } from '../rig/bench.ts'
import type { Loaded } from '../rig/database.ts'
import { median, percent, type Table, type Target, tenths, whole } from '../rig/report.ts'
import { type File, files, stores } from './files.ts'
import { copyOf, emptyService, imported } from './runs.ts'

export const million = 1_000_000
const kinds = ['products', 'stock', 'customers', 'transactions']
const wanted = 0.3

/** A run of the command beside COPY of what it has made. */
interface Run {
  kind: string
  seconds: number
  peak: number
  copied: number
}

/** Files of a million lines into empty lists, as when a retailer moves in. */
export async function measureMillion(bench: Bench, loaded: Loaded): Promise<{ table: Table; target: Target }> {
  const runs: Run[] = []
  const put = (file: File, lines: number) => imported(bench, loaded, file, lines, 1)
  for (let round = 0; round < bench.rounds; round++) {
    const service = await emptyService(loaded)
    for (const file of files) {
      if (file.kind === 'stores') await put(file, stores)
      if (!kinds.includes(file.kind)) continue
      bench.say(`  round ${round + 1}: a million of ${file.kind}`)
      const run = await put(file, million)
      runs.push({ kind: file.kind, ...run, copied: (await copyOf(loaded, service, file)).seconds })
    }
  }
  const found = kinds.map(kind => {
    const of = runs.filter(run => run.kind === kind)
    const middle = (value: (run: Run) => number) => median(of.map(value))
    const seconds = middle(run => run.seconds)
    return { kind, seconds, share: middle(run => run.copied) / seconds, peak: Math.max(...of.map(({ peak }) => peak)) }
  })
  const least = Math.min(...found.map(({ share }) => share))
  return {
    table: {
      caption: 'A million lines into empty lists',
      head: ['kind', 'seconds', 'lines/s', 'of COPY', 'peak MB'],
      rows: found.map(({ kind, seconds, share, peak }) => [
        ...[kind, tenths(seconds), whole(million / seconds), percent(share), whole(peak)],
      ]),
    },
    target: {
      what: `empty, of COPY, the slowest of ${whole(million)} lines`,
      wanted: `≥ ${percent(wanted)}`,
      found: percent(least),
      met: least >= wanted,
    },
  }
}
