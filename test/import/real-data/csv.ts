import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { type Parser, parse } from 'csv-parse'
import { stringify } from 'csv-stringify/sync'
import type { FileAccount, Kind } from './accounts.ts'

/** The directory of the sources, the directory of the import files, and the number of lines read from each source. */
export interface Folders {
  from: string
  to: string
  linesRead: Record<string, number>
}

/** The rows of a source file, one after the other; what is read is counted. A name in `columns` that is not in the header is an error. */
export async function* readSource<const Column extends string>(
  { from, linesRead }: Folders,
  path: string,
  columns: readonly Column[],
): AsyncGenerator<Record<Column, string>> {
  const parser = parse({
    columns: (header: string[]) => {
      const missing = columns.filter(name => !header.includes(name))
      if (missing.length) throw new Error(`${path} has no column ${missing.join(', ')}`)
      return header.map(name => (columns.some(expected => expected === name) ? name : false))
    },
  })
  pipeToParser(join(from, path), parser)
  let lines = 0
  for await (const row of parser) {
    lines++
    yield row
  }
  linesRead[path] = lines
}

/** The lines of a feed file, or of the file of its rejected lines. */
export async function* readLines(path: string): AsyncGenerator<Record<string, string>> {
  const parser = parse({ columns: true })
  pipeToParser(path, parser)
  yield* parser
}

function pipeToParser(path: string, parser: Parser) {
  const file = createReadStream(path)
  const reading = path.endsWith('.gz') ? pipeline(file, createGunzip(), parser) : pipeline(file, parser)
  // The parser passes a failure on to the loop over its rows; without this it would be reported twice.
  reading.catch(() => {})
}

/** The values that a row adds to the sums of its file. Amounts are in minor units; undefined if the currency has too few decimals. */
export interface Sums {
  quantity?: number
  value?: bigint | undefined
}

/** A feed file being written. */
export interface FileWriter<Row> {
  write(row: Row, sums?: Sums): Promise<void> | undefined
  /** Ends the file; the answer is what it holds. */
  close(): Promise<FileAccount>
}

/** Opens a feed file of the shape `Row`, with these of its columns. A name that ends in `.gz` is compressed. */
export function openFile<Row extends object>(
  { to }: Folders,
  name: string,
  kind: Kind,
  columns: readonly (keyof Row & string)[],
): FileWriter<Row> {
  // Rows go out by the thousand: one by one, each would be a round trip of its own to the thread that compresses.
  const text = new PassThrough({ highWaterMark: 1_000_000 })
  const file = createWriteStream(join(to, name))
  const writing = name.endsWith('.gz') ? pipeline(text, createGzip({ level: 1 }), file) : pipeline(text, file)
  const cast = { boolean: (flag: boolean) => String(flag) }
  let batch: Row[] = []
  const flush = () => {
    const room = text.write(stringify(batch, { columns: [...columns], cast }))
    batch = []
    return room
  }
  let rows = 0
  let quantity = 0n
  let value = 0n
  let beyondCurrency = 0
  text.write(stringify([[...columns]]))
  return {
    write(row, sums = {}) {
      rows++
      quantity += BigInt(sums.quantity ?? 0)
      value += sums.value ?? 0n
      if ('value' in sums && sums.value === undefined) beyondCurrency++
      batch.push(row)
      if (batch.length === 1000 && !flush()) return Promise.race([once(text, 'drain').then(() => {}), writing])
    },
    async close() {
      flush()
      text.end()
      await writing
      return { kind, file: name, rows, quantity: String(quantity), value: String(value), beyondCurrency }
    },
  }
}
