import type { Progress } from '../../backoffice/files/import.ts'
import { clock, display } from './progress.ts'

const whole = (n: number) => Math.round(n).toLocaleString('en')

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

/** What the person at the terminal sees of an import under way. */
export const progressDisplay = (name: string, stream?: NodeJS.WriteStream) => display(name, words, stream)
