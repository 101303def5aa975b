import type { RunCounts } from '../../store/sync/sync.ts'

/** What the person at the terminal sees of a run under way. */
interface SyncProgress {
  show(tally: Readonly<RunCounts>): void
  end(): void
}

const everyMs = { terminal: 200, file: 10_000 }
const whole = (n: number) => Math.round(n).toLocaleString('en')

/** A line that is written over on a terminal, elsewhere a line every ten seconds. Both on standard error. */
export function syncProgress(sync: string): SyncProgress {
  const stream = process.stderr
  const began = performance.now()
  const waitMs = stream.isTTY ? everyMs.terminal : everyMs.file
  let next = began + waitMs
  return {
    show({ read, inserted, changed }) {
      const now = performance.now()
      if (now < next) return
      next = now + waitMs
      const rate = read / ((now - began) / 1_000)
      const line = `${sync}: ${whole(read)} read | ${whole(inserted)} new | ${whole(changed)} changed | ${whole(rate)} records/s`
      stream.write(stream.isTTY ? `\r\u001b[2K${line}` : `${line}\n`)
    },
    end() {
      if (stream.isTTY) stream.write('\r\u001b[2K')
    },
  }
}
