import type { Summary } from '../../import/import-file.ts'
import type { Rejection } from '../../import/pipeline/rejections.ts'
import { table } from './table.ts'

/** Reasons that are shown; the file of the rejected lines has them all. */
const reasonsShown = 12

/** What became of a file, as a small table and remarks. */
export function importReport(name: string, summary: Summary, dryRun = false) {
  const { read, inserted, changed, unchanged, rejected, notes, rejections, rejectedPath, edited } = summary
  const counts = dryRun
    ? { read, good: read - rejected, rejected }
    : { read, new: inserted, changed, unchanged, rejected }
  const figures = Object.values(counts).map(whole)
  return [
    table(['file', ...Object.keys(counts)], [[name, ...figures]]),
    ...Object.entries(notes).map(([note, count]) => `${whole(count)} lines ${note}.`),
    ...(rejections.length ? ['', reasons(rejections), ''] : []),
    ...(rejectedPath ? [`The rejected lines are in ${rejectedPath}, with reasons: mend and import that file.`] : []),
    ...(edited
      ? [
          `${edited} was edited, or is of another import, and is left as it is (--overwrite-rejected would write over it).`,
        ]
      : []),
    ...ending(name, summary, dryRun),
    ...(dryRun ? ['Nothing was written into the database.'] : []),
  ].join('\n')
}

/** Refusals by reason: how many lines, and one of them. */
function reasons(rejections: readonly Rejection[]) {
  const rows = rejections
    .slice(0, reasonsShown)
    .map(({ column, text, lines, line, cell }) => [
      ...[whole(lines), column, printable(text), `line ${whole(line)}`],
      cell === undefined ? '' : JSON.stringify(cell),
    ])
  const more = rejections.length - reasonsShown
  return `${table(['rejected', 'column', 'why', 'such as', ''], rows)}${more > 0 ? `\nand ${whole(more)} more reasons` : ''}`
}

const printable = (text: string) => text.replace(/\p{Cc}/gu, ' ')

function ending(name: string, { stoppedAfter, resumedAfter, canResume }: Summary, dryRun: boolean) {
  const wentOn = resumedAfter ? [`Went on behind line ${whole(resumedAfter)}.`] : []
  if (stoppedAfter === undefined) return wentOn
  const next = canResume ? '--resume goes on from there' : 'importing it again is safe'
  const stayed = dryRun ? '' : `: what went in stays, and ${next}`
  return [...wentOn, `Stopped after line ${whole(stoppedAfter)} of ${name}${stayed}.`]
}

const whole = (count: number) => count.toLocaleString('en')
