import type { CleanCell, ColumnShape, ParseCell } from './cells.ts'
import type { ImportType } from './import-type.ts'
import type { DecimalMark } from './numbers.ts'
import type { DescribeDoubt } from './rules.ts'

/** One of our columns, and the place of its cell in a line. */
export interface Field {
  name: string
  /** The file's name of the column. */
  header: string
  place: number
  required: boolean
  shape: ColumnShape
  parse: ParseCell
  clean: CleanCell
  describeDoubt: DescribeDoubt | undefined
  /** The value for all lines (`--set`), which overrides the cell. */
  constant?: { value: unknown }
  /** The place of the time of day, if the column has only the date. */
  timePlace?: number
  /** The decimal mark. Undefined: a point. */
  decimal?: DecimalMark | undefined
}

/** Returns the columns of a type in the order of its schema. */
export function getColumns(type: ImportType) {
  const required = new Set(type.shape.required)
  return Object.entries(type.shape.properties).map(([name, shape]) => ({
    name,
    shape: shape as ColumnShape,
    required: required.has(name),
    keepsIfEmpty: type.keptIfEmpty?.includes(name) ?? false,
    isNullable: type.nullableColumn === name,
    isPathSegment: type.pathColumns?.includes(name) ?? false,
  }))
}
