import { createReadStream } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { rejectedColumns } from './columns.ts'
import type { Fault } from './fault.ts'
import { csvLines, type Line } from './lines.ts'

/** The refused lines of a file, to be mended and imported again. */
export interface Rejected {
  add(line: Line, faults: readonly Fault[]): Promise<void>
  /** Ends the file. Where nothing was refused there is none, nor that of an earlier import. */
  end(): Promise<void>
  /** Throws away what was written so far. */
  discard(): Promise<void>
}

interface Layout {
  /** The columns of the file. */
  header: readonly string[]
  /** What the file calls our columns. */
  headerOf(column: string): string
  /** Columns that no refused line gives are left out: to NDJSON they are absent, while an empty cell would clear. */
  sparse: boolean
}

/** Cells as a line of CSV. What a cell begins with is left alone, so that it is imported as it was. */
const csvLine = (cells: readonly unknown[]) => `${cells.map(csvCell).join(',')}\n`

function csvCell(value: unknown) {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Line number, columns and reasons: what stands in front of a refused line. */
function why(line: Line, faults: readonly Fault[], headerOf: Layout['headerOf']) {
  const named = faults.map(({ column, reason }) => [headerOf(column), reason] as const)
  const [first] = named
  const reason =
    named.length === 1 && first ? first[1] : named.map(([column, text]) => `${column} ${text}`.trim()).join('; ')
  return [line.number, named.map(([column]) => column).join('; '), reason]
}

/** Writes the refused lines to `path`, each with why in front. */
export function rejectedFile(path: string, { header, headerOf, sparse }: Layout): Rejected {
  // Under another name until it is whole: what is being imported may be the last import's.
  const draft = `${path}.part`
  const given = new Set<number>()
  let file: FileHandle | undefined
  let buffered: Buffer[] = []
  let size = 0

  const put = (text: string, encoding: BufferEncoding = 'utf8') => {
    const piece = Buffer.from(text, encoding)
    buffered.push(piece)
    size += piece.length
  }
  async function flush() {
    file ??= await open(draft, 'w', 0o600)
    await file.appendFile(Buffer.concat(buffered))
    buffered = []
    size = 0
  }
  /** Copies the draft without the columns that nobody gave. */
  async function thin() {
    const places = [0, 1, 2, ...header.keys().map(place => place + 3)].filter(
      place => place < 3 || given.has(place - 3),
    )
    const thinned = await open(path, 'w', 0o600)
    for await (const lines of csvLines(createReadStream(draft)))
      await thinned.appendFile(lines.map(line => csvLine(places.map(place => line.cells[place]))).join(''))
    await thinned.close()
    await rm(draft)
  }

  return {
    async add(line, faults) {
      if (!file && !size) put(csvLine([...rejectedColumns, ...header]))
      if (sparse) for (const [place, cell] of line.cells.entries()) if (cell !== undefined) given.add(place)
      put(csvLine([...why(line, faults, headerOf), ...line.cells]), line.bytes ? 'latin1' : 'utf8')
      if (size > 64 * 1024) await flush()
    },
    async end() {
      if (size) await flush()
      if (!file) return rm(path, { force: true })
      await file.close()
      await (sparse ? thin() : rename(draft, path))
    },
    async discard() {
      await file?.close()
      await rm(draft, { force: true })
    },
  }
}
