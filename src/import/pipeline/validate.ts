import { textOf } from './cells.ts'
import type { Field } from './columns.ts'
import type { Kind } from './import-type.ts'
import type { Row } from './ingest.ts'
import { Reason } from './row-error.ts'
import type { Line } from './sheet.ts'
import { withClock } from './times.ts'

/** A line with its row, or with all that is wrong with it. */
export interface Judged {
  line: Line
  row?: Row
  reasons?: Reason[]
}

/** Reads the row of a line, and judges it by the shapes of its columns and the rule of its kind. */
export function judge(line: Line, fields: readonly Field[], kind: Kind): Judged {
  if (line.unreadable) return { line, reasons: [line.unreadable] }
  const row: Record<string, unknown> = {}
  let reasons = line.reasons
  for (const { name, place, check, shape, required, constant, clock, decimal } of fields) {
    const cell = line.cells[place]
    let value: unknown
    if (constant) value = constant.value
    else if (typeof cell === 'string') value = check(cell)
    else if (cell !== undefined) {
      const text = textOf(cell, shape, decimal)
      value = typeof text === 'string' ? check(text) : text
    } else if (required) value = check('')
    if (clock !== undefined) value = withClock(value, line.cells[clock])
    if (value instanceof Reason) {
      reasons ??= []
      reasons.push(value.of(name))
    } else if (value !== undefined) row[name] = value
  }
  if (reasons) return { line, reasons }
  const broken = kind.rule?.(row)
  return broken ? { line, reasons: [broken] } : { line, row }
}
