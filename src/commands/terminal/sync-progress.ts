import type { RunCounts } from '../../store/sync/sync.ts'

/** Shows the progress of a sync run in the terminal. */
interface SyncProgress {
  show(tally: Readonly<RunCounts>): void
  end(): void
}

const intervalsMs = { terminal: 200, file: 10_000 }
const formatCount = (n: number) => Math.round(n).toLocaleString('en')

/** Shows one line that is overwritten on a terminal, otherwise a line every ten seconds, both on standard error. */
export function createSyncProgress(sync: string): SyncProgress {
  const stream = process.stderr
  const startedAt = performance.now()
  const intervalMs = stream.isTTY ? intervalsMs.terminal : intervalsMs.file
  let nextLineAt = startedAt + intervalMs
  return {
    show({ read, inserted, changed }) {
      const now = performance.now()
      if (now < nextLineAt) return
      nextLineAt = now + intervalMs
      const rate = read / ((now - startedAt) / 1_000)
      const line = `${sync}: ${formatCount(read)} read | ${formatCount(inserted)} new | ${formatCount(changed)} changed | ${formatCount(rate)} records/s`
      stream.write(stream.isTTY ? `\r\u001b[2K${line}` : `${line}\n`)
    },
    end() {
      if (stream.isTTY) stream.write('\r\u001b[2K')
    },
  }
}
