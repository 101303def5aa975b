import { Presets, SingleBar } from 'cli-progress'
import type { Progress } from '../../backoffice/files/import.ts'

/** What the person at the terminal sees of an import under way. */
export interface ProgressDisplay {
  show(progress: Progress): void
  end(): void
}

const lineEveryMs = 10_000
const whole = (n: number) => Math.round(n).toLocaleString('en')

/** `1:02:03`, `2:03` */
const clock = (seconds: number) => {
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds % 60)]
  const two = (n: number) => String(n).padStart(2, '0')
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`
}

/** Share of the file, rate and time left, as the words of one line. */
function words({ lines, bytes, size }: Progress, elapsedMs: number) {
  const rate = lines / (elapsedMs / 1000)
  const share = size ? Math.min(1, bytes / size) : undefined
  const left = share ? clock((elapsedMs / 1000 / share) * (1 - share)) : undefined
  return {
    share,
    text: [
      ...(share === undefined ? [] : [`${Math.floor(share * 100)} %`]),
      `${whole(lines)} lines`,
      `${whole(rate)} lines/s`,
      ...(left === undefined ? [] : [`${left} left`]),
    ].join(' | '),
  }
}

/** A bar on a terminal, elsewhere a line every ten seconds. Both on standard error. */
export function progressDisplay(name: string, stream: NodeJS.WriteStream = process.stderr): ProgressDisplay {
  const began = performance.now()
  if (!stream.isTTY) {
    let next = began + lineEveryMs
    return {
      show(progress) {
        const now = performance.now()
        if (now < next) return
        next = now + lineEveryMs
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
      const { share = 0, text } = words(progress, performance.now() - began)
      if (started) bar.update(share, { name, text })
      else bar.start(1, share, { name, text })
      started = true
    },
    end: () => bar.stop(),
  }
}
