import type { Progress } from '../../import/import-file.ts'
import { display, pacedWords, shareOf } from './progress.ts'

const whole = (n: number) => Math.round(n).toLocaleString('en')

/** What the person at the terminal sees of an import under way. */
export const progressDisplay = (name: string) =>
  display(name, ({ lines, ...done }: Progress, elapsedMs) =>
    pacedWords(shareOf(done), elapsedMs, [`${whole(lines)} lines`, `${whole(lines / (elapsedMs / 1_000))} lines/s`]),
  )
