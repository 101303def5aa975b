import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { toCellText } from './cells.ts'
import { createRepeatCheck, describeNoRecord, repeatedKey } from './clean.ts'
import type { Field } from './columns.ts'
import type { ImportType } from './import-type.ts'
import type { Row } from './ingest.ts'
import { RowError } from './row-error.ts'
import type { Line, Sheet, ValidatedRow } from './sheet.ts'
import { addTime } from './times.ts'

/** With half as many lines an import takes a tenth longer. More lines need more memory. */
const maxBatchLines = 2_000
/** The lines of one record stay in one batch, up to this many. */
const maxRecordLines = 5_000
/** Limits the memory of long lines. The lines of one record can have four times as many bytes. */
const maxBatchBytes = 4 * 1024 * 1024
/** After this many lines the event loop runs, so that the statements of the previous batch don't wait. */
const linesPerTurn = 50

/**
 * Validates the lines of a sheet and yields them in batches. A key has one row per batch: a later line with the key replaces it. If it can't,
 * the later line begins a batch.
 */
export async function* splitIntoBatches({ lines, fields }: Sheet, type: ImportType): AsyncGenerator<ValidatedRow[]> {
  let batch: ValidatedRow[] = []
  let size = 0
  /** The places of the rows in the batch, by key. */
  const places = new Map<string, number>()
  const getRecordKey = createRecordKey(fields, type)
  let count = 0
  const isRepeat = type.replacesPrevious
    ? undefined
    : createRepeatCheck(type.documentedKey ?? type.key, type.documentedKey !== undefined)
  for await (const block of lines)
    for (const line of block) {
      if (++count % linesPerTurn === 0) await yieldToOthers()
      const validated = validateLine(line, fields, type)
      if (validated.row && isRepeat?.(validated.row)) {
        validated.remarks ??= []
        validated.remarks.push(repeatedKey)
      }
      const key = type.key.map(column => validated.row?.[column]).join('\0')
      const place = validated.row !== undefined && key !== '' ? places.get(key) : undefined
      const earlier = place === undefined ? undefined : batch[place]
      const merged = earlier && mergeRepeat(earlier, validated, type)
      const isPart = isSameRecord(batch.at(-1), validated, getRecordKey)
      const isFull = batch.length >= (isPart ? maxRecordLines : maxBatchLines)
      if ((earlier && !merged) || isFull || size >= (isPart ? 4 : 1) * maxBatchBytes) {
        yield batch
        batch = []
        size = 0
        places.clear()
      } else if (earlier && merged) {
        validated.row = merged
        delete earlier.row
        earlier.replacedBy = batch.length
      }
      if (validated.row) places.set(key, batch.length)
      batch.push(validated)
      size += line.size
    }
  if (batch.length) yield batch
}

/**
 * Returns the row that stores the same as two lines with one key, the later one after the earlier one. Returns undefined if they must be
 * imported one after the other. That is so if the later line can be outdated, or if they differ in `separateColumns`. It is also so if the
 * earlier line can be outdated and has a field that the later one lacks.
 */
function mergeRepeat({ row: earlierRow = {} }: ValidatedRow, { row: laterRow = {} }: ValidatedRow, type: ImportType) {
  const { updateTimeStamp: earlierTime, ...earlier } = addImplied(earlierRow, type)
  const later = addImplied(laterRow, type)
  const time = later.updateTimeStamp
  if (time && !(earlierTime && String(time) >= String(earlierTime))) return
  if (earlierTime && Object.keys(earlier).some(name => !(name in later))) return
  if (type.separateColumns?.some(column => laterRow[column] !== earlierRow[column])) return
  return { ...earlier, ...later }
}

/** Adds the values of other columns that a row sets implicitly. */
function addImplied(row: Row, { listImplied }: ImportType): Row {
  const implied = Object.entries(listImplied?.(row) ?? {}).filter(([, value]) => value !== undefined)
  return { ...row, ...Object.fromEntries(implied) }
}

/** Returns a function that finds the record of a line, also of a rejected one. Undefined if each line of the type is a record. */
export function createRecordKey(fields: readonly Field[], { together }: ImportType) {
  const field = together === undefined ? undefined : fields.find(({ name }) => name === together)
  if (!field) return
  return ({ row, line }: ValidatedRow): string | undefined => {
    const value = row ? row[field.name] : (field.constant?.value ?? line.cells[field.place])
    // Trimmed, as the parser of identifiers does.
    return String(value ?? '').trim() || undefined
  }
}

/** True if both lines are, or can be, of one record. The record of a malformed line is unknown. */
function isSameRecord(
  last: ValidatedRow | undefined,
  next: ValidatedRow,
  getRecordKey: ReturnType<typeof createRecordKey>,
) {
  if (!last || !getRecordKey) return false
  if (last.line.unreadable || next.line.unreadable) return true
  const record = getRecordKey(next)
  return record !== undefined && getRecordKey(last) === record
}

/** Parses the cells of a line, and checks the rule of its type. */
function validateLine(line: Line, fields: readonly Field[], type: ImportType): ValidatedRow {
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
