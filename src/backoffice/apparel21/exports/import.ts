import { pipeline, Readable } from 'node:stream'
import { parse } from 'csv-parse'
import type { Database } from '../../../db.ts'
import { ApiError } from '../../../errors.ts'
import type { Service } from '../../../settings.ts'
import { ImportError } from '../../feeds/fault.ts'
import { importFeed } from '../../feeds/import.ts'
import { bytesOf, openSource } from '../../feeds/source.ts'
import type { Brought } from '../../places/place.ts'
import type { ExportKind } from './files.ts'
import { type Exported, type Pass, passesOf } from './rows.ts'

/** What became of an export. */
export interface Imported {
  counts: Record<'read' | 'inserted' | 'changed' | 'refused' | 'leftOut', number>
  /** Remarks, each with the number of lines it holds for. */
  notes: Record<string, number>
  /** Why the file could not be read to its end; what came before stays. */
  fault?: string
}

/** A file to import: what is in it, what messages call it, where it is. */
export interface Importable extends Brought {
  kind: ExportKind
  name: string
}

/** Lines that are translated at a time. */
const linesAtOnce = 500
/** A line is never longer: a quotation mark that is not closed would have the rest of the file read as one. */
const lineBytes = 1024 * 1024
/** No file holds more, nor comes to more when it is unpacked. */
export const mostBytes = 2 * 1024 ** 3
export const tooLarge = 'It holds more than 2 GiB.'

/** Imports a file. Throws where that is not the file's fault: it may be imported again, as often as need be. */
export async function importExport(
  db: Database,
  service: Service,
  file: Importable,
  signal: AbortSignal,
): Promise<Imported> {
  const imported: Imported = { counts: { read: 0, inserted: 0, changed: 0, refused: 0, leftOut: 0 }, notes: {} }
  const { counts, notes } = imported
  const note = (text: string, times = 1) => {
    notes[text] = (notes[text] ?? 0) + times
  }
  /** What went wrong here; a reader further on may take it for a fault of its stream. */
  let fault: unknown
  async function* rowsOf(pass: Pass) {
    try {
      yield* translated(file, pass, signal)
    } catch (error) {
      fault = error
      throw error
    }
  }
  const passes = passesOf[file.kind](db, service, why => {
    counts.leftOut++
    note(why)
  })
  try {
    for (const [i, pass] of passes.entries()) {
      const rejected = i ? file.rejected.replace(/\.csv$/, `.${pass.kind}.csv`) : file.rejected
      const source = {
        name: file.name,
        format: 'ndjson' as const,
        stream: Readable.from(rowsOf(pass)),
      }
      const summary = await importFeed(db, service, pass.kind, source, { rejected })
      counts.read += summary.read
      counts.inserted += summary.inserted
      counts.changed += summary.changed
      counts.refused += summary.refused
      for (const [text, times] of Object.entries(summary.notes)) note(text, times)
    }
  } catch (thrown) {
    const error = fault ?? thrown
    if (signal.aborted || !(error instanceof ImportError) || error.cause instanceof ApiError) throw error
    imported.fault = error.message
  }
  return imported
}

/** The rows that a file comes to, as lines of NDJSON. */
async function* translated(file: Importable, { columns, rows }: Pass, signal: AbortSignal): AsyncGenerator<Buffer> {
  let lines: Exported[] = []
  const text = async () => Buffer.from((await rows(lines)).map(row => `${JSON.stringify(row)}\n`).join(''))
  for await (const line of linesOf(file)) {
    signal.throwIfAborted()
    const missing = lines.length ? [] : columns.filter(column => line[column] === undefined)
    if (missing.length) throw new ImportError(`${file.name} has no column ${missing.join(', ')}.`)
    lines.push(line)
    if (lines.length < linesAtOnce) continue
    yield await text()
    lines = []
  }
  if (lines.length) yield await text()
}

async function* linesOf(file: Importable): AsyncGenerator<Exported> {
  const source = { ...(await openSource(file.path, 'csv')), name: file.name }
  const parser = parse({ columns: true, bom: true, skip_empty_lines: true, max_record_size: lineBytes })
  // Faults of either side arrive at the reader below.
  pipeline(Readable.from(atMost(bytesOf(source, () => {}))), parser, () => {})
  try {
    yield* parser as AsyncIterable<Exported>
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (/^CSV_/.test(code)) throw new ImportError(`${file.name} cannot be read: ${message}`)
    throw error
  }
}

async function* atMost(chunks: AsyncIterable<Buffer>) {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > mostBytes) throw new ImportError(tooLarge)
    yield chunk
  }
}
