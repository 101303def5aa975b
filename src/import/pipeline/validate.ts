import { textOf } from './cells.ts'
import type { Field } from './columns.ts'
import type { ImportType } from './import-type.ts'
import { RowError } from './row-error.ts'
import type { Line, ValidatedRow } from './sheet.ts'
import { withClock } from './times.ts'

/** Reads the row of a line, and judges it by the shapes of its columns and the rule of its type. */
export function validateLine(line: Line, fields: readonly Field[], type: ImportType): ValidatedRow {
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
    if (value instanceof RowError) {
      reasons ??= []
      reasons.push(value.of(name))
    } else if (value !== undefined) row[name] = value
  }
  if (reasons) return { line, reasons }
  const broken = type.rule?.(row)
  return broken ? { line, reasons: [broken] } : { line, row }
}
