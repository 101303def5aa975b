import { toCellText } from './cells.ts'
import { describeNoRecord } from './clean.ts'
import type { Field } from './columns.ts'
import type { ImportType } from './import-type.ts'
import { RowError } from './row-error.ts'
import type { Line, ValidatedRow } from './sheet.ts'
import { addTime } from './times.ts'

/** Parses the cells of a line, and checks the rule of its type. */
export function validateLine(line: Line, fields: readonly Field[], type: ImportType): ValidatedRow {
  const remark = line.skipReason ?? describeNoRecord(line, fields)
  if (remark !== undefined) return { line, remarks: [remark] }
  if (line.unreadable) return { line, errors: [line.unreadable] }
  const row: Record<string, unknown> = {}
  let { errors } = line
  let remarks: string[] | undefined
  const addRemark = (text: string) => {
    remarks ??= []
    if (!remarks.includes(text)) remarks.push(text)
  }
  for (const { name, place, parse, shape, required, constant, timePlace, decimal, clean, describeDoubt } of fields) {
    const cell = line.cells[place]
    let value: unknown
    if (constant) value = constant.value
    else if (typeof cell === 'string') value = parse(clean(cell, addRemark))
    else if (cell !== undefined) {
      const text = toCellText(cell, shape, decimal)
      value = typeof text === 'string' ? parse(text) : text
    } else if (required) value = parse('')
    if (timePlace !== undefined) value = addTime(value, line.cells[timePlace])
    if (value instanceof RowError) {
      errors ??= []
      errors.push(value.withColumn(name))
    } else if (value !== undefined) {
      row[name] = value
      const doubt = describeDoubt?.(value)
      if (doubt) addRemark(doubt)
    }
  }
  if (errors) return { line, errors }
  const error = type.rule?.(row)
  for (const doubt of error ? [] : (type.listDoubts?.(row) ?? [])) addRemark(doubt)
  return { line, ...(error ? { errors: [error] } : { row }), ...(remarks && { remarks }) }
}
