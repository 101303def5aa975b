import type { Field } from './columns.ts'
import type { RowError } from './row-error.ts'
import type { Line } from './sheet.ts'

/** One reason for rejected lines, with its count and first line. */
export interface Rejection {
  /** The file's name of the column. Empty if the reason is about the whole line. */
  column: string
  /** The message of the first line, with its value. Follows the name of the column. */
  firstMessage: string
  /** The message of all lines, without content. */
  message: string
  line: number
  /** The cell of the first line, unless the import type has a secret. */
  cell?: string
  lines: number
  /** The numbers of the first lines. */
  numbers: number[]
  /** The numbers of all lines, as the first and the last number of each range, in ascending order. */
  ranges: LineRange[]
}

type LineRange = [first: number, last: number]

/** Further reasons are only in the file of rejected lines. */
const maxReasons = 1_000
const maxLineNumbers = 100
const maxCellLength = 60

/** Per import, so that the stored ranges have at most about 1 MB. Further lines are only counted. */
const maxRanges = 50_000

/** Sorts and merges ranges. They are not in order, because rejected lines are tried again after other lines. */
function mergeRanges(ranges: readonly LineRange[]) {
  const merged: LineRange[] = []
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const previous = merged.at(-1)
    if (previous && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last)
    else merged.push([first, last])
  }
  return merged
}

/** Counts rejections by their reasons. */
export function countRejections(fields: readonly Field[]) {
  const byReason = new Map<string, Rejection>()
  const columns = new Map(fields.map(field => [field.name, field]))
  const hasSecret = fields.some(({ shape }) => shape.format === 'secret')
  let rangeCount = 0
  const addToRanges = (ranges: LineRange[], number: number) => {
    const newest = ranges.at(-1)
    if (newest && number >= newest[0] && number <= newest[1] + 1) newest[1] = Math.max(newest[1], number)
    else if (rangeCount < maxRanges) {
      rangeCount++
      ranges.push([number, number])
    }
  }
  return {
    add(line: Line, errors: readonly RowError[]) {
      for (const { column, messageWithValue, message } of errors) {
        const key = `${column} ${message}`
        const rejection = byReason.get(key)
        if (rejection) {
          rejection.lines++
          if (rejection.numbers.length < maxLineNumbers) rejection.numbers.push(line.number)
          addToRanges(rejection.ranges, line.number)
        } else if (byReason.size < maxReasons) {
          const field = columns.get(column)
          const cell = field && !hasSecret ? String(line.cells[field.place] ?? '') : ''
          const ranges: LineRange[] = []
          addToRanges(ranges, line.number)
          byReason.set(key, {
            column: field?.header ?? column,
            firstMessage: messageWithValue,
            message,
            line: line.number,
            lines: 1,
            numbers: [line.number],
            ranges,
            ...(cell && { cell: cell.length > maxCellLength ? `${cell.slice(0, maxCellLength)}…` : cell }),
          })
        }
      }
    },
    /** Returns the reasons, most frequent first. */
    list: () =>
      [...byReason.values()]
        .map(rejection => ({ ...rejection, ranges: mergeRanges(rejection.ranges) }))
        .sort((a, b) => b.lines - a.lines),
  }
}
