import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { type Parser, parse } from 'csv-parse'
import { stringify } from 'csv-stringify/sync'
import type { FileAccount, RealDataType } from './accounts.ts'

/** The directory of the sources, the directory of the import files, and the number of lines read from each source. */
export interface Folders {
  from: string
  to: string
  linesRead: Record<string, number>
}

/** Yields the rows of a source file and counts them in `linesRead`. Throws if the header lacks one of `columns`. */
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

/** Yields the lines of an import file or of a file with rejected lines. */
export async function* readLines(path: string): AsyncGenerator<Record<string, string>> {
  const parser = parse({ columns: true })
  pipeToParser(path, parser)
  yield* parser
}

function pipeToParser(path: string, parser: Parser) {
  const file = createReadStream(path)
  const piping = path.endsWith('.gz') ? pipeline(file, createGunzip(), parser) : pipeline(file, parser)
  // The parser already reports a failure to the loop over its rows, so this second report is ignored.
  piping.catch(() => {})
}

/** The values that a row adds to its file's sums. `value` is in minor units, or undefined if the currency has too few decimals. */
export interface Sums {
  quantity?: number
  value?: bigint | undefined
}

/** Writes an import file. */
export interface FileWriter<Row> {
  write(row: Row, sums?: Sums): Promise<void> | undefined
  /** Ends the file. Returns its counts and sums. */
  close(): Promise<FileAccount>
}

/** Creates an import file with these columns of `Row`. The file is compressed if its name ends in `.gz`. */
export function openFile<Row extends object>(
  { to }: Folders,
  name: string,
  kind: RealDataType,
  columns: readonly (keyof Row & string)[],
): FileWriter<Row> {
  // Rows are written in batches of 1,000, because each write is a round trip to the compressing thread.
  const text = new PassThrough({ highWaterMark: 1_000_000 })
  const file = createWriteStream(join(to, name))
  const piped = name.endsWith('.gz') ? pipeline(text, createGzip({ level: 1 }), file) : pipeline(text, file)
  const cast = { boolean: (flag: boolean) => String(flag) }
  let batch: Row[] = []
  const flush = () => {
    const hasRoom = text.write(stringify(batch, { columns: [...columns], cast }))
    batch = []
    return hasRoom
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
      if (batch.length === 1000 && !flush()) return Promise.race([once(text, 'drain').then(() => {}), piped])
    },
    async close() {
      flush()
      text.end()
      await piped
      return { kind, file: name, rows, quantity: String(quantity), value: String(value), beyondCurrency }
    },
  }
}
