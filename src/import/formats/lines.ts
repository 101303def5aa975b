import { isUtf8 } from 'node:buffer'
import { setImmediate } from 'node:timers/promises'
import { parse } from 'csv-parse/sync'
import { RowError } from '../pipeline/row-error.ts'
import type { Line } from '../pipeline/sheet.ts'
import { type Block, type LineExtent, splitIntoBlocks } from './blocks.ts'
import { getReasonFields } from './header.ts'
import type { ApiRecord, ToRows } from './records.ts'

const invalidText = new RowError(
  'The line must be valid UTF-8. Save the file as UTF-8, or set its encoding, such as --encoding windows-1252.',
)
const strayQuote = new RowError(
  'A cell has a quotation mark inside. Put the cell in quotation marks, and double the ones inside.',
)
const notAnObject = new RowError('The line must be a JSON object.')
/** The maximum nesting depth of a record. Records of the API have five levels. */
const maxDepth = 32
const tooDeep = new RowError(`The line can have at most ${maxDepth} levels.`)
const csv = { record_delimiter: ['\r\n', '\n'], relax_column_count: true, skip_empty_lines: true }

const parseCsv = (bytes: Buffer, options: object = {}) => parse(bytes, { ...csv, ...options }) as unknown as string[][]

/** Parsing this much takes a few milliseconds. */
const maxSliceBytes = 64 * 1024
const maxSliceLines = 1000

/**
 * Reads the lines of a CSV file, the header among them. A block can have a million lines if an open quotation mark kept them together:
 * they are parsed in slices, and other work of the process runs between two slices.
 */
export async function* readCsvLines(chunks: AsyncIterable<Buffer>, delimiter = ','): AsyncGenerator<Line[]> {
  for await (const { bytes, lines, isContiguous } of splitIntoBlocks(chunks, { delimiter }))
    for (const slice of sliceLines(lines)) {
      yield parseSlice({ bytes, lines: slice, isContiguous }, delimiter) ??
        slice.map(extent => parseCsvLine(bytes.subarray(extent.start, extent.end), extent, delimiter))
      await setImmediate()
    }
}

function* sliceLines(lines: readonly LineExtent[]): Generator<LineExtent[]> {
  let from = 0
  for (let i = 1; i <= lines.length; i++) {
    const isFull = i - from >= maxSliceLines || (lines[i]?.end ?? Infinity) - (lines[from]?.start ?? 0) > maxSliceBytes
    if (!isFull) continue
    yield lines.slice(from, i)
    from = i
  }
}

/** Parses contiguous lines at once. Returns undefined if one of them must be parsed alone. */
function parseSlice({ bytes, lines, isContiguous }: Block, delimiter: string): Line[] | undefined {
  const text = bytes.subarray(lines[0]?.start, lines.at(-1)?.end)
  if (!isContiguous || !isUtf8(text)) return
  // Most files have no quotation mark: splitting their lines is ten times as fast as parsing.
  if (!text.includes('"'))
    return lines.map(({ number, start, end }) => ({
      number,
      cells: bytes.toString('utf8', start, end).split(delimiter),
      size: end - start,
    }))
  try {
    const cells = parseCsv(text, { delimiter })
    if (cells.length !== lines.length) return
    return lines.map(({ number, start, end }, i) => ({ number, cells: cells[i] ?? [], size: end - start }))
  } catch {
    return
  }
}

function parseCsvLine(text: Buffer, { number, unreadable }: LineExtent, delimiter: string): Line {
  const buildRejectedLine = (reason: RowError, cells: string[]) => ({
    number,
    size: text.length,
    cells,
    unreadable: reason,
  })
  if (unreadable && text.length > 64 * 1024) return buildRejectedLine(unreadable, [])
  if (!isUtf8(text)) return { ...buildRejectedLine(invalidText, parseLoosely(text, 'latin1', delimiter)), bytes: true }
  if (unreadable) return buildRejectedLine(unreadable, parseLoosely(text, 'utf8', delimiter))
  if (!text.includes('"')) return { number, size: text.length, cells: text.toString('utf8').split(delimiter) }
  try {
    return { number, size: text.length, cells: parseCsv(text, { delimiter })[0] ?? [] }
  } catch {
    return buildRejectedLine(strayQuote, parseLoosely(text, 'utf8', delimiter))
  }
}

/** Parses the cells of a malformed line as far as possible. */
function parseLoosely(text: Buffer, encoding: 'utf8' | 'latin1', delimiter: string): string[] {
  try {
    return parseCsv(text, { relax_quotes: true, encoding, delimiter })[0] ?? []
  } catch {
    return parseCsv(text, { quote: null, encoding, delimiter })[0] ?? []
  }
}

interface NdjsonOptions {
  /** The place of the cell by the name of the field. */
  places: ReadonlyMap<string, number>
  /** Ignores other fields. */
  ignoreUnknown?: boolean | undefined
  /** Called for a record of an earlier import's rejected lines. */
  onRejectedRecord?: () => void
  toRows: (record: ApiRecord) => ReturnType<ToRows>
}

/** Reads the lines of an NDJSON file. */
export async function* readJsonLines(chunks: AsyncIterable<Buffer>, records: NdjsonOptions): AsyncGenerator<Line[]> {
  for await (const { bytes, lines } of splitIntoBlocks(chunks))
    yield lines.flatMap(({ number, start, end, unreadable }) => {
      const text = bytes.subarray(start, end)
      const read = unreadable ? [{ cells: [], unreadable }] : parseJsonLine(text, records)
      return read.map(row => ({ number, size: text.length / read.length, ...row }))
    })
}

type ParsedLine = Pick<Line, 'cells' | 'unreadable' | 'text' | 'errors'>

function parseJsonLine(text: Buffer, records: NdjsonOptions): ParsedLine[] {
  if (!isUtf8(text)) return [{ cells: [], unreadable: invalidText, text: text.toString('latin1') }]
  const fields = parseJson(text)
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    return [{ cells: [], unreadable: notAnObject, text: text.toString() }]
  if (isDeeperThan(maxDepth, fields)) return [{ cells: [], unreadable: tooDeep, text: text.toString() }]
  const record = removeReasonFields(fields as ApiRecord, records)
  const rows = records.toRows(record) ?? [record]
  if (rows instanceof RowError) return [{ cells: [], unreadable: rows, text: text.toString() }]
  return rows.map(row => toCells(row, records))
}

/** True if an object or array has more levels. Copying or serializing such a value would overflow the stack. */
const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some(member => isDeeperThan(levels - 1, member)))

function removeReasonFields(record: ApiRecord, { places, onRejectedRecord }: NdjsonOptions): ApiRecord {
  const reasonFields = getReasonFields(name => places.has(name))
  const names = Object.keys(record)
  if (!reasonFields.length || reasonFields.some((name, i) => names[i] !== name)) return record
  onRejectedRecord?.()
  return Object.fromEntries(Object.entries(record).slice(reasonFields.length))
}

/** The number of unknown fields that a line reports, each by its first 100 characters. */
const maxUnknownFields = 20

function toCells(fields: object, { places, ignoreUnknown }: NdjsonOptions): ParsedLine {
  const cells: unknown[] = new Array(places.size).fill(undefined)
  const errors: RowError[] = []
  for (const [name, value] of Object.entries(fields)) {
    const place = places.get(name)
    if (place !== undefined) cells[place] = value
    else if (!ignoreUnknown && errors.length < maxUnknownFields)
      errors.push(new RowError("doesn't exist", name.slice(0, 100).toWellFormed()))
  }
  return errors.length ? { cells, errors } : { cells }
}

function parseJson(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString())
  } catch {
    return
  }
}
