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
}

/** Further reasons are only in the file of rejected lines. */
const maxReasons = 1_000
const maxLineNumbers = 100
const maxCellLength = 60

/** Counts rejections by their reasons. */
export function countRejections(fields: readonly Field[]) {
  const byReason = new Map<string, Rejection>()
  const columns = new Map(fields.map(field => [field.name, field]))
  const hasSecret = fields.some(({ shape }) => shape.format === 'secret')
  return {
    add(line: Line, errors: readonly RowError[]) {
      for (const { column, messageWithValue, message } of errors) {
        const key = `${column} ${message}`
        const rejection = byReason.get(key)
        if (rejection) {
          rejection.lines++
          if (rejection.numbers.length < maxLineNumbers) rejection.numbers.push(line.number)
        } else if (byReason.size < maxReasons) {
          const field = columns.get(column)
          const cell = field && !hasSecret ? String(line.cells[field.place] ?? '') : ''
          byReason.set(key, {
            column: field?.header ?? column,
            firstMessage: messageWithValue,
            message,
            line: line.number,
            lines: 1,
            numbers: [line.number],
            ...(cell && { cell: cell.length > maxCellLength ? `${cell.slice(0, maxCellLength)}…` : cell }),
          })
        }
      }
    },
    /** Returns the reasons, most frequent first. */
    list: () => [...byReason.values()].sort((a, b) => b.lines - a.lines),
  }
}
