import { countNoun } from '../../domain/values/nouns.ts'
import type { ImportSummary } from '../../import/import-file.ts'
import type { Rejection } from '../../import/pipeline/rejections.ts'
import { emailTaken } from '../../import/pipeline/violations.ts'
import { formatTable } from './table.ts'

/** The number of reasons to show. The file of rejected lines contains all of them. */
const maxReasons = 12

/** Formats the result of an import as a table with remarks. */
export function formatImportReport(name: string, summary: ImportSummary, dryRun = false) {
  const { read, inserted, changed, unchanged, removed, skipped, outdated, rejected } = summary
  const { notes, rejections, rejectedPath, edited } = summary
  const counts = dryRun
    ? { read, valid: read - rejected, ...(removed > 0 && { removed }), rejected }
    : {
        read,
        new: inserted,
        changed,
        unchanged,
        ...(removed > 0 && { removed }),
        ...(skipped > 0 && { skipped }),
        ...(outdated > 0 && { outdated }),
        rejected,
      }
  const cells = Object.values(counts).map(formatCount)
  const remarks = [
    ...(rejectedPath
      ? [
          `The rejected lines are in ${rejectedPath}, with reasons. ${dryRun ? `Correct them in ${name} before you import it` : 'Correct them, then import that file with the same options'}.`,
        ]
      : []),
    ...(edited
      ? [
          `${edited} was edited or belongs to another import, so it was not changed. To overwrite it: --overwrite-rejected`,
        ]
      : []),
    ...(outdated
      ? [
          `Skipped because the stored records are newer: ${countNoun(outdated, 'line')}. To import older lines: --force-older`,
        ]
      : []),
    ...(rejections.some(({ message }) => message === emailTaken)
      ? ['To import customers with a shared email address without it: --clear-shared-email']
      : []),
    ...formatEnding(name, summary, dryRun),
    ...(dryRun ? ['Dry run: nothing was imported.'] : []),
  ]
  return [
    formatTable(['file', ...Object.keys(counts)], [[name, ...cells]]),
    ...(Object.keys(notes).length ? [formatNotes(notes)] : []),
    ...(rejections.length ? [formatRejections(rejections)] : []),
    ...(remarks.length ? [remarks.join('\n')] : []),
  ].join('\n\n')
}

const formatNotes = (notes: ImportSummary['notes']) =>
  formatTable(
    ['count', 'remark'],
    Object.entries(notes).map(([note, count]) => [formatCount(count), replaceControlCharacters(note)]),
  )

/** Formats the number of rejected lines per reason, each with one example. */
function formatRejections(rejections: readonly Rejection[]) {
  const rows = rejections
    .slice(0, maxReasons)
    .map(({ column, firstMessage, lines, line, cell }) => [
      ...[formatCount(lines), column, replaceControlCharacters(firstMessage), `line ${formatCount(line)}`],
      cell === undefined ? '' : JSON.stringify(cell),
    ])
  const more = rejections.length - maxReasons
  return `${formatTable(['rejected', 'column', 'reason', 'example', ''], rows)}${more > 0 ? `\nand ${countNoun(more, 'more reason')}` : ''}`
}

const replaceControlCharacters = (text: string) => text.replace(/\p{Cc}/gu, ' ')

function formatEnding(name: string, { stoppedAfter, resumedAfter, canResume }: ImportSummary, dryRun: boolean) {
  const resumed = resumedAfter ? [`Resumed after line ${formatCount(resumedAfter)}.`] : []
  if (stoppedAfter === undefined) return resumed
  const next = canResume ? 'To continue, import it again with --resume' : 'Importing it again is safe'
  const remark = dryRun ? '.' : `. The lines before it are imported. ${next}.`
  return [...resumed, `Stopped after line ${formatCount(stoppedAfter)} of ${name}${remark}`]
}

const formatCount = (count: number) => count.toLocaleString('en')
