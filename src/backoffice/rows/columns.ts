import type { Check, ColumnShape } from './cells.ts'
import type { Kind } from './kind.ts'

/** One of our columns, and the cell of a line that it is read from. */
export interface Field {
  name: string
  /** What the lines' header calls it. */
  header: string
  place: number
  required: boolean
  shape: ColumnShape
  check: Check
}

/** The columns of a kind in the order of its shape. */
export function columnsOf(kind: Kind) {
  const required = new Set(kind.shape.required)
  return Object.entries(kind.shape.properties).map(([name, shape]) => ({
    name,
    shape: shape as ColumnShape,
    required: required.has(name),
    kept: kind.kept?.includes(name) ?? false,
    inPath: kind.inPaths?.includes(name) ?? false,
  }))
}
