import { Presets, SingleBar } from 'cli-progress'
import { countNoun } from '../../domain/values/nouns.ts'
import type { Progress } from '../../import/import-file.ts'
import type { RunCounts } from '../../store/sync/sync.ts'

/** Shows the progress of some work in the terminal. */
interface ProgressDisplay<T> {
  show(progress: T): void
  end(): void
}

/** The text of a progress line, and the completed share of the work from 0 to 1 (undefined if unknown). */
interface ProgressLine {
  share: number | undefined
  text: string
}

const lineIntervalMs = 10_000

/** Formats a duration: `1:02:03` or `2:03`. */
const formatDuration = (seconds: number) => {
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds % 60)]
  const pad = (n: number) => String(n).padStart(2, '0')
  return h ? `${h}:${pad(m)}:${pad(s)}` : `${m}:${pad(s)}`
}

/**
 * Shows a bar on a terminal, otherwise a line every ten seconds, both on standard error. The clock starts with the first `show`, which can
 * come long after the display is created.
 */
export function createDisplay<T>(
  name: string,
  formatProgress: (progress: T, elapsedMs: number) => ProgressLine,
): ProgressDisplay<T> {
  const stream = process.stderr
  let startedAt: number | undefined
  if (!stream.isTTY) {
    let lastShownAt: number | undefined
    return {
      show(progress) {
        const now = performance.now()
        startedAt ??= now
        lastShownAt ??= now
        if (now - lastShownAt < lineIntervalMs) return
        lastShownAt = now
        stream.write(`${name}: ${formatProgress(progress, now - startedAt).text}\n`)
      },
      end() {},
    }
  }
  const bar = new SingleBar(
    { format: '{name} {bar} {text}', stream, hideCursor: true, clearOnComplete: true, barsize: 24, fps: 5 },
    Presets.shades_classic,
  )
  let started = false
  return {
    show(progress) {
      const now = performance.now()
      if (startedAt === undefined) {
        startedAt = now
        return
      }
      const { share = 0, text } = formatProgress(progress, now - startedAt)
      if (started) bar.update(share, { name, text })
      else bar.start(1, share, { name, text })
      started = true
    },
    end: () => bar.stop(),
  }
}

const formatMegabytes = (bytes: number) => (bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 })

const formatPercent = (share: number) => `${Math.floor(share * 100)} %`

/** Returns the completed share. Returns undefined if the size is unknown. */
const getShare = ({ bytes, size }: { bytes: number; size?: number | undefined }) =>
  size ? Math.min(1, bytes / size) : undefined

/** Formats the share, then `values`, then the remaining time at the current pace. */
export const formatPace = (share: number | undefined, elapsedMs: number, values: readonly string[]): ProgressLine => ({
  share,
  text: [
    ...(share === undefined ? [] : [formatPercent(share)]),
    ...values,
    ...(share ? [`${formatDuration((elapsedMs / 1_000 / share) * (1 - share))} left`] : []),
  ].join(' | '),
})

/** Shows megabytes and megabytes per second, and the share if the size is known. */
export const createBytesDisplay = (name: string) =>
  createDisplay(name, (progress: { bytes: number; size?: number }, elapsedMs) =>
    formatPace(getShare(progress), elapsedMs, [
      `${formatMegabytes(progress.bytes)} MB`,
      `${formatMegabytes(progress.bytes / (elapsedMs / 1_000))} MB/s`,
    ]),
  )

const formatCount = (count: number) => Math.round(count).toLocaleString('en')

/** Shows lines and lines per second. */
export const createLinesDisplay = (name: string) =>
  createDisplay(name, ({ lines, ...progress }: Progress, elapsedMs) =>
    formatPace(getShare(progress), elapsedMs, [
      countNoun(lines, 'line'),
      `${formatCount(lines / (elapsedMs / 1_000))} lines/s`,
    ]),
  )

/** Shows the counts of a sync run, and records per second. */
export const createRecordsDisplay = (name: string) =>
  createDisplay(name, ({ read, inserted, changed }: Readonly<RunCounts>, elapsedMs) =>
    formatPace(undefined, elapsedMs, [
      `${formatCount(read)} read`,
      `${formatCount(inserted)} new`,
      `${formatCount(changed)} changed`,
      `${formatCount(read / (elapsedMs / 1_000))} records/s`,
    ]),
  )

/** Shows the number of rows. */
export const createRowsDisplay = (name: string) =>
  createDisplay(name, ({ rows, total }: { rows: number; total: number }, elapsedMs) =>
    formatPace(total ? rows / total : 1, elapsedMs, [countNoun(rows, 'row')]),
  )

/** Shows only the share. */
export const createShareDisplay = (name: string) =>
  createDisplay(name, (share: number) => ({ share, text: formatPercent(share) }))

/** Formats a finished transfer: `41.3 MB in 2.1 s (19.7 MB/s)`. */
export function formatRate(bytes: number, elapsedMs: number) {
  const seconds = elapsedMs / 1_000
  return `${formatMegabytes(bytes)} MB in ${seconds.toLocaleString('en', { maximumFractionDigits: 1 })} s (${formatMegabytes(bytes / seconds)} MB/s)`
}
