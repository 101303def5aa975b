import { createReadStream } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import type { Rejected } from '../rows/import.ts'
import type { Reason } from '../rows/reason.ts'
import type { Line, Sheet } from '../rows/sheet.ts'
import { rejectedColumns } from './header.ts'
import { csvLines } from './lines.ts'

/** Cells as a line of CSV. What a cell begins with is left alone, so that it is imported as it was. */
const csvLine = (cells: readonly unknown[]) => `${cells.map(csvCell).join(',')}\n`

function csvCell(value: unknown) {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Line number, columns and reasons: what stands in front of a refused line. */
function why(line: Line, reasons: readonly Reason[], headers: ReadonlyMap<string, string>) {
  const named = reasons.map(({ column, text }) => [headers.get(column) ?? column, text] as const)
  const [first] = named
  const reason =
    named.length === 1 && first ? first[1] : named.map(([column, text]) => `${column} ${text}`.trim()).join('; ')
  return [line.number, named.map(([column]) => column).join('; '), reason]
}

/**
 * Writes the refused lines of a sheet to `path`, each with why in front. Of a sparse one, the columns that no refused line gives are left
 * out: to NDJSON they are absent, while an empty cell would clear.
 */
export function rejectedFile(path: string, { header, fields, sparse }: Sheet): Rejected {
  const headers = new Map(fields.map(field => [field.name, field.header]))
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
    async add(line, reasons) {
      if (!file && !size) put(csvLine([...rejectedColumns, ...header]))
      if (sparse) for (const [place, cell] of line.cells.entries()) if (cell !== undefined) given.add(place)
      put(csvLine([...why(line, reasons, headers), ...line.cells]), line.bytes ? 'latin1' : 'utf8')
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
