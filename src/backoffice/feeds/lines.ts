import { isUtf8 } from 'node:buffer'
import { parse } from 'csv-parse/sync'
import type { Fault } from './fault.ts'
import { type Block, type Frame, framed } from './frames.ts'

/** A record of the file, taken apart. */
export interface Line {
  /** Where it begins in the file, counted from 1. */
  number: number
  /** A cell for each column of the header: text, or in NDJSON any flat value; undefined where the line does not give it. */
  cells: unknown[]
  /** Why it cannot be read; the cells are then as near to the file as can be. */
  unreadable?: string
  /** The cells hold bytes, one a character, because they are no UTF-8. */
  bytes?: true
  /** Faults found in reading it. */
  faults?: Fault[]
  size: number
}

const invalidText = 'The line is not valid UTF-8: save the file as UTF-8.'
const strayQuote =
  'A quotation mark stands within a cell: put the cell in quotation marks, and double those that belong to it.'
const csv = { record_delimiter: ['\r\n', '\n'], relax_column_count: true, skip_empty_lines: true }

const cellsOf = (bytes: Buffer, options: object = {}) => parse(bytes, { ...csv, ...options }) as unknown as string[][]

/** The records of a CSV file, the header among them. */
export async function* csvLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  for await (const block of framed(chunks, true))
    yield wholeBlock(block) ?? block.frames.map(frame => csvLine(block.bytes.subarray(frame.start, frame.end), frame))
}

/** The lines of a block in one go; undefined where one of them needs a closer look. */
function wholeBlock({ bytes, frames, whole }: Block): Line[] | undefined {
  const text = bytes.subarray(frames[0]?.start, frames.at(-1)?.end)
  if (!whole || !isUtf8(text)) return
  try {
    const records = cellsOf(text)
    if (records.length !== frames.length) return
    return frames.map(({ line, start, end }, i) => ({ number: line, cells: records[i] ?? [], size: end - start }))
  } catch {
    return
  }
}

function csvLine(text: Buffer, { line, fault }: Frame): Line {
  const refused = (unreadable: string, cells: string[]) => ({ number: line, size: text.length, cells, unreadable })
  if (fault && text.length > 64 * 1024) return refused(fault, [])
  if (!isUtf8(text)) return { ...refused(invalidText, loose(text, 'latin1')), bytes: true }
  if (fault) return refused(fault, loose(text, 'utf8'))
  try {
    return { number: line, size: text.length, cells: cellsOf(text)[0] ?? [] }
  } catch {
    return refused(strayQuote, loose(text, 'utf8'))
  }
}

/** The cells of a malformed line, as well as they can be told. */
function loose(text: Buffer, encoding: 'utf8' | 'latin1'): string[] {
  try {
    return cellsOf(text, { relax_quotes: true, encoding })[0] ?? []
  } catch {
    return cellsOf(text, { quote: null, encoding })[0] ?? []
  }
}

/** The lines of an NDJSON file; `places` says which cell a field goes to. */
export async function* jsonLines(
  chunks: AsyncIterable<Buffer>,
  places: ReadonlyMap<string, number>,
): AsyncGenerator<Line[]> {
  for await (const { bytes, frames } of framed(chunks, false))
    yield frames.map(({ line, start, end, fault }) => {
      const text = bytes.subarray(start, end)
      const read = fault ? { cells: [], unreadable: fault } : jsonLine(text, places)
      return { number: line, size: text.length, ...read }
    })
}

function jsonLine(text: Buffer, places: ReadonlyMap<string, number>): Pick<Line, 'cells' | 'unreadable' | 'faults'> {
  if (!isUtf8(text)) return { cells: [], unreadable: invalidText }
  const record = parsed(text)
  if (typeof record !== 'object' || record === null || Array.isArray(record))
    return { cells: [], unreadable: 'The line is not a JSON object.' }
  const cells: unknown[] = new Array(places.size).fill(undefined)
  const faults: Fault[] = []
  for (const [name, value] of Object.entries(record)) {
    const place = places.get(name)
    if (place === undefined) faults.push({ column: name, reason: 'There is no such field.' })
    else cells[place] = value
  }
  return faults.length ? { cells, faults } : { cells }
}

function parsed(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString())
  } catch {
    return
  }
}
