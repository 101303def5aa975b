import type { Field } from './columns.ts'
import type { RowError } from './row-error.ts'
import type { Line } from './sheet.ts'

/** How often something was rejected for one reason, and the first line of it. */
export interface Rejection {
  /** What the lines call the column; empty where it is the line as a whole. */
  column: string
  /** The first line's, in words that are said after the column's name. */
  text: string
  /** The same of all the lines: without what stands in them. */
  kept: string
  line: number
  /** What the cell of that line says, where that may be repeated. */
  cell?: string
  lines: number
  /** The numbers of the first lines. */
  numbers: number[]
}

/** Reasons that are told apart; what is rarer than that is in the file of the rejected lines. */
const atMost = 1_000
const numbersKept = 100
const cellLength = 60

/** Counts rejections by their reasons. */
export function countRejections(fields: readonly Field[]) {
  const byReason = new Map<string, Rejection>()
  const columns = new Map(fields.map(field => [field.name, field]))
  const hasSecret = fields.some(({ shape }) => shape.format === 'secret')
  return {
    add(line: Line, reasons: readonly RowError[]) {
      for (const { column, text, kept } of reasons) {
        const key = `${column} ${kept}`
        const known = byReason.get(key)
        if (known) {
          known.lines++
          if (known.numbers.length < numbersKept) known.numbers.push(line.number)
        } else if (byReason.size < atMost) {
          const field = columns.get(column)
          const cell = field && !hasSecret ? String(line.cells[field.place] ?? '') : ''
          byReason.set(key, {
            column: field?.header ?? column,
            text,
            kept,
            line: line.number,
            lines: 1,
            numbers: [line.number],
            ...(cell && { cell: cell.length > cellLength ? `${cell.slice(0, cellLength)}…` : cell }),
          })
        }
      }
    },
    /** The most frequent first. */
    list: () => [...byReason.values()].sort((a, b) => b.lines - a.lines),
  }
}
