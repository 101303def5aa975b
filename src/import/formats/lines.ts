import { isUtf8 } from 'node:buffer'
import { setImmediate } from 'node:timers/promises'
import { parse } from 'csv-parse/sync'
import { RowError } from '../pipeline/row-error.ts'
import type { Line } from '../pipeline/sheet.ts'
import { type Block, blocksOf, type Extent } from './blocks.ts'
import { whyFields } from './header.ts'
import type { RowsOf, Told } from './records.ts'

const invalidText = new RowError(
  'The line is not valid UTF-8: save the file as UTF-8, or say what it is, such as --encoding windows-1252.',
)
const strayQuote = new RowError(
  'A quotation mark stands within a cell: put the cell in quotation marks, and double those that belong to it.',
)
const notAnObject = new RowError('The line is not a JSON object.')
const csv = { record_delimiter: ['\r\n', '\n'], relax_column_count: true, skip_empty_lines: true }

const cellsOf = (bytes: Buffer, options: object = {}) => parse(bytes, { ...csv, ...options }) as unknown as string[][]

/** Parsing this much takes a few milliseconds. */
const maxSliceBytes = 64 * 1024
const maxSliceLines = 1000

/**
 * Reads the lines of a CSV file, the header among them. A block can have a million lines if an open quotation mark kept them together:
 * they are parsed in slices, and other work of the process runs between two slices.
 */
export async function* csvLines(chunks: AsyncIterable<Buffer>, delimiter = ','): AsyncGenerator<Line[]> {
  for await (const { bytes, lines, whole } of blocksOf(chunks, { delimiter }))
    for (const slice of slicesOf(lines)) {
      yield wholeBlock({ bytes, lines: slice, whole }, delimiter) ??
        slice.map(extent => csvLine(bytes.subarray(extent.start, extent.end), extent, delimiter))
      await setImmediate()
    }
}

function* slicesOf(lines: readonly Extent[]): Generator<Extent[]> {
  let from = 0
  for (let i = 1; i <= lines.length; i++) {
    const isFull = i - from >= maxSliceLines || (lines[i]?.end ?? Infinity) - (lines[from]?.start ?? 0) > maxSliceBytes
    if (!isFull) continue
    yield lines.slice(from, i)
    from = i
  }
}

/** Parses contiguous lines at once; undefined if one of them must be parsed alone. */
function wholeBlock({ bytes, lines, whole }: Block, delimiter: string): Line[] | undefined {
  const text = bytes.subarray(lines[0]?.start, lines.at(-1)?.end)
  if (!whole || !isUtf8(text)) return
  // Most files have no quotation mark: splitting their lines is ten times as fast as parsing.
  if (!text.includes('"'))
    return lines.map(({ number, start, end }) => ({
      number,
      cells: bytes.toString('utf8', start, end).split(delimiter),
      size: end - start,
    }))
  try {
    const cells = cellsOf(text, { delimiter })
    if (cells.length !== lines.length) return
    return lines.map(({ number, start, end }, i) => ({ number, cells: cells[i] ?? [], size: end - start }))
  } catch {
    return
  }
}

function csvLine(text: Buffer, { number, unreadable }: Extent, delimiter: string): Line {
  const rejectedLine = (reason: RowError, cells: string[]) => ({ number, size: text.length, cells, unreadable: reason })
  if (unreadable && text.length > 64 * 1024) return rejectedLine(unreadable, [])
  if (!isUtf8(text)) return { ...rejectedLine(invalidText, loose(text, 'latin1', delimiter)), bytes: true }
  if (unreadable) return rejectedLine(unreadable, loose(text, 'utf8', delimiter))
  if (!text.includes('"')) return { number, size: text.length, cells: text.toString('utf8').split(delimiter) }
  try {
    return { number, size: text.length, cells: cellsOf(text, { delimiter })[0] ?? [] }
  } catch {
    return rejectedLine(strayQuote, loose(text, 'utf8', delimiter))
  }
}

/** The cells of a malformed line, as well as they can be told. */
function loose(text: Buffer, encoding: 'utf8' | 'latin1', delimiter: string): string[] {
  try {
    return cellsOf(text, { relax_quotes: true, encoding, delimiter })[0] ?? []
  } catch {
    return cellsOf(text, { quote: null, encoding, delimiter })[0] ?? []
  }
}

interface Records {
  /** Which cell a field goes to. */
  places: ReadonlyMap<string, number>
  /** Other fields are passed over. */
  ignoresUnknown?: boolean | undefined
  /** Hears that a record is one that was rejected: it has in front why. */
  onRest?: () => void
  /** Which rows a record is. */
  rowsOf: (record: Told) => ReturnType<RowsOf>
}

/** The lines of an NDJSON file. */
export async function* jsonLines(chunks: AsyncIterable<Buffer>, records: Records): AsyncGenerator<Line[]> {
  for await (const { bytes, lines } of blocksOf(chunks))
    yield lines.flatMap(({ number, start, end, unreadable }) => {
      const text = bytes.subarray(start, end)
      const read = unreadable ? [{ cells: [], unreadable }] : jsonLine(text, records)
      return read.map(row => ({ number, size: text.length / read.length, ...row }))
    })
}

type Read = Pick<Line, 'cells' | 'unreadable' | 'text' | 'reasons'>

function jsonLine(text: Buffer, records: Records): Read[] {
  if (!isUtf8(text)) return [{ cells: [], unreadable: invalidText, text: text.toString('latin1') }]
  const fields = parsed(text)
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    return [{ cells: [], unreadable: notAnObject, text: text.toString() }]
  const record = withoutWhy(fields as Told, records)
  const rows = records.rowsOf(record) ?? [record]
  if (rows instanceof RowError) return [{ cells: [], unreadable: rows, text: text.toString() }]
  return rows.map(row => placed(row, records))
}

function withoutWhy(record: Told, { places, onRest }: Records): Told {
  const why = whyFields(name => places.has(name))
  const names = Object.keys(record)
  if (!why.length || why.some((name, i) => names[i] !== name)) return record
  onRest?.()
  return Object.fromEntries(Object.entries(record).slice(why.length))
}

/** Fields of a line that are told as unknown, each by its first 100 characters: names come in no other bounds than those of a line. */
const unknownAtMost = 20

function placed(fields: object, { places, ignoresUnknown }: Records): Read {
  const cells: unknown[] = new Array(places.size).fill(undefined)
  const reasons: RowError[] = []
  for (const [name, value] of Object.entries(fields)) {
    const place = places.get(name)
    if (place !== undefined) cells[place] = value
    else if (!ignoresUnknown && reasons.length < unknownAtMost)
      reasons.push(new RowError('There is no such field.', name.slice(0, 100).toWellFormed()))
  }
  return reasons.length ? { cells, reasons } : { cells }
}

function parsed(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString())
  } catch {
    return
  }
}
