import type { Check, ColumnShape } from './cells.ts'
import type { ImportType } from './import-type.ts'
import type { DecimalMark } from './numbers.ts'

/** One of our columns, and the cell of a line that it is read from. */
export interface Field {
  name: string
  /** What the lines' header calls it. */
  header: string
  place: number
  required: boolean
  shape: ColumnShape
  check: Check
  /** What it is in every line, whatever its cell says. */
  constant?: { value: unknown }
  /** The cell with the clock of a time, where the column has its day alone. */
  clock?: number
  /** What stands before the decimals of its numbers, where it is no point. */
  decimal?: DecimalMark | undefined
}

/** The columns of a kind in the order of its shape. */
export function columnsOf(type: ImportType) {
  const required = new Set(type.shape.required)
  return Object.entries(type.shape.properties).map(([name, shape]) => ({
    name,
    shape: shape as ColumnShape,
    required: required.has(name),
    kept: type.kept?.includes(name) ?? false,
    mayBeEmpty: type.mayBeEmpty === name,
    inPath: type.inPaths?.includes(name) ?? false,
  }))
}
