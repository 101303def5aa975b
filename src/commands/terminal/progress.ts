import { Presets, SingleBar } from 'cli-progress'

/** What the person at the terminal sees of work under way. */
interface ProgressDisplay<T> {
  show(progress: T): void
  end(): void
}

/** A line's text, and how much of the work is done, from 0 to 1; undefined where nobody knows. */
interface Words {
  share: number | undefined
  text: string
}

const lineEveryMs = 10_000

/** `1:02:03`, `2:03` */
const clock = (seconds: number) => {
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds % 60)]
  const two = (n: number) => String(n).padStart(2, '0')
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`
}

/**
 * A bar on a terminal, elsewhere a line every ten seconds. Both on standard error. The clock runs from when the work is first heard of, which
 * may be long after this was made.
 */
export function display<T>(name: string, words: (progress: T, elapsedMs: number) => Words): ProgressDisplay<T> {
  const stream = process.stderr
  let began: number | undefined
  if (!stream.isTTY) {
    let shown: number | undefined
    return {
      show(progress) {
        const now = performance.now()
        began ??= now
        shown ??= now
        if (now - shown < lineEveryMs) return
        shown = now
        stream.write(`${name}: ${words(progress, now - began).text}\n`)
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
      if (began === undefined) {
        began = now
        return
      }
      const { share = 0, text } = words(progress, now - began)
      if (started) bar.update(share, { name, text })
      else bar.start(1, share, { name, text })
      started = true
    },
    end: () => bar.stop(),
  }
}

const megabytes = (bytes: number) => (bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 })

const percent = (share: number) => `${Math.floor(share * 100)} %`

/** How much of so many bytes is done; undefined where their number is not known. */
export const shareOf = ({ bytes, size }: { bytes: number; size?: number | undefined }) =>
  size ? Math.min(1, bytes / size) : undefined

/** Figures between the share of the work and the time that the rest takes at the pace of what is done. */
export const pacedWords = (share: number | undefined, elapsedMs: number, figures: readonly string[]): Words => ({
  share,
  text: [
    ...(share === undefined ? [] : [percent(share)]),
    ...figures,
    ...(share ? [`${clock((elapsedMs / 1_000 / share) * (1 - share))} left`] : []),
  ].join(' | '),
})

/** Progress through so many bytes, of so many where that is known. */
export const bytesDisplay = (name: string) =>
  display(name, (done: { bytes: number; size?: number }, elapsedMs) =>
    pacedWords(shareOf(done), elapsedMs, [
      `${megabytes(done.bytes)} MB`,
      `${megabytes(done.bytes / (elapsedMs / 1_000))} MB/s`,
    ]),
  )

/** Progress through so many rows. */
export const rowsDisplay = (name: string) =>
  display(name, ({ rows, of }: { rows: number; of: number }, elapsedMs) =>
    pacedWords(of ? rows / of : 1, elapsedMs, [`${rows.toLocaleString('en')} rows`]),
  )

/** Progress of which only the share is known. */
export const shareDisplay = (name: string) => display(name, (share: number) => ({ share, text: percent(share) }))

/** What became of it, once it is done: `41.3 MB in 2.1 s (19.7 MB/s)`. */
export function rateOf(bytes: number, elapsedMs: number) {
  const seconds = elapsedMs / 1_000
  return `${megabytes(bytes)} MB in ${seconds.toLocaleString('en', { maximumFractionDigits: 1 })} s (${megabytes(bytes / seconds)} MB/s)`
}
