import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { csvLine } from './formats/csv-line.ts'
import { mark, removeMarked, takeUnedited, takeUnused, unedited } from './formats/edits.ts'
import { withoutFormula } from './formats/formulas.ts'
import { rejectedColumns, whyFields } from './formats/header.ts'
import type { Field } from './pipeline/columns.ts'
import type { RejectedFile } from './pipeline/import.ts'
import type { RowError } from './pipeline/row-error.ts'
import type { Line, Sheet } from './pipeline/sheet.ts'

/** Cells as they can be opened in a spreadsheet. */
const shown = (cells: readonly unknown[]) => csvLine(cells.map(cell => withoutFormula(String(cell ?? ''))))

/** A text made of a line, as bytes like those of the line. */
const bytesOf = ({ bytes }: Line, text: string) => Buffer.from(text, bytes ? 'latin1' : 'utf8')

/** A rejected line behind why it was, as it is written down. */
interface Form {
  /** The line that names the columns. */
  begins: string
  written(why: readonly unknown[], cells: readonly unknown[]): string
}

const asCsv = (header: readonly string[]): Form => ({
  begins: shown([...rejectedColumns, ...header]),
  written: (reasons, cells) => shown([...reasons, ...cells]),
})

/** JSON has no number for one that is too large, and would say null, which clears. */
const sayable = (cell: unknown) => (Number.isFinite(cell) || typeof cell !== 'number' ? cell : String(cell))

/** Lines that need not all give the same columns are records: in CSV what one of them does not give would be an empty cell, which clears. */
function asRecords(header: readonly string[]): Form {
  const front = whyFields(name => header.includes(name))
  return {
    begins: '',
    written(reasons, cells) {
      const told = front.map(name => [name, reasons[rejectedColumns.indexOf(name)]] as const)
      const own = header.map((name, place) => [name, sayable(cells[place])] as const)
      return `${JSON.stringify(Object.fromEntries([...told, ...own]))}\n`
    },
  }
}

/** Line number, columns and reasons: what stands in front of a rejected line. */
function why(line: Line, reasons: readonly RowError[], headers: ReadonlyMap<string, string>, left = line.text) {
  const named = reasons.map(({ column, text }) => [headers.get(column) ?? column, text] as const)
  const [first] = named
  const reason =
    named.length === 1 && first ? first[1] : named.map(([column, text]) => `${column} ${text}`.trim()).join('; ')
  const separator = line.unreadable ? ' ' : '; '
  return [line.number, named.map(([column]) => column).join('; '), [reason, left].filter(Boolean).join(separator)]
}

/** The line as it may be written down: of a kind with a secret only what is certainly none, and what has to be entered again. */
function withoutSecrets(
  line: Line,
  { header, fields, sparse }: Omit<Sheet, 'lines'>,
): { line: Line; left: string | undefined } {
  const isSecret = ({ shape }: Field) => shape.format === 'secret'
  const secret = fields.find(isSecret)
  if (!secret) return { line, left: undefined }
  // In a line that cannot be read the secret may stand anywhere.
  if (line.unreadable)
    return {
      line: { ...line, cells: sparse ? [] : header.map(() => '') },
      left: `It is left out, since it holds a ${secret.name}: mend it where it comes from.`,
    }
  const readable = new Set(fields.filter(field => !isSecret(field)).map(({ place }) => place))
  readable.delete(secret.place)
  const cells = line.cells.map((cell, place) => (cell === undefined || readable.has(place) ? cell : ''))
  const left = line.cells[secret.place] ? `enter the ${secret.header} again, which is left out here` : undefined
  return { line: { ...line, cells }, left }
}

/** Whose lines they are. */
interface Draft {
  /** Of two that write at the same time each has its own: it is in the name of the draft. */
  run: string
  /** In words. */
  of: string
}

/** Until it is whole a file has another name: what is being imported may be the last import's. */
const draftOf = (path: string, run: string) => `${path}.${run}.part`

/** Gives what an import that was killed had rejected until then a place beside `path`; undefined where there is no such thing. */
export async function keepDraft(path: string, { run, of }: Draft): Promise<string | undefined> {
  const draft = draftOf(path, run)
  const size = await stat(draft).then(
    found => found.size,
    () => 0,
  )
  if (!size) return
  const place = await takeUnused(path)
  await rename(draft, place)
  await mark(place, of)
  return place
}

/**
 * Writes the rejected lines of a sheet to `path`, each with why in front: as CSV, those of a sparse one as NDJSON. Where `marked`, a file
 * of an earlier import that somebody has edited since, or of other lines, is left as it is, unless that is to be overwritten, and these
 * lines go beside it; where an import goes on with an earlier one, beside any that there is.
 */
export function openRejectedFile(
  path: string,
  { header, fields, sparse }: Omit<Sheet, 'lines'>,
  { run, of }: Draft,
  marked?: { overwrite: boolean; goesOn?: boolean },
): RejectedFile {
  const headers = new Map(fields.map(field => [field.name, field.header]))
  const { begins, written } = (sparse ? asRecords : asCsv)(header)
  const draft = draftOf(path, run)
  let file: FileHandle | undefined
  let buffered: Buffer[] = []
  let size = 0

  const put = (piece: Buffer) => {
    buffered.push(piece)
    size += piece.length
  }
  async function flush() {
    file ??= await open(draft, 'w', 0o600)
    await file.appendFile(Buffer.concat(buffered))
    buffered = []
    size = 0
  }
  function placeOf() {
    if (!marked || marked.overwrite) return path
    if (!file) return marked.goesOn ? path : unedited(path, of)
    return marked.goesOn ? takeUnused(path) : takeUnedited(path, of)
  }

  async function end() {
    if (size) await flush()
    await file?.close()
    const place = await placeOf()
    if (!file) {
      if (!marked?.goesOn) await removeMarked(place)
    } else {
      await rename(draft, place)
      if (marked) await mark(place, of)
    }
    return { ...(file && { rejectedPath: place }), ...(place !== path && !marked?.goesOn && { edited: path }) }
  }

  return {
    async add(rejected, reasons) {
      const { line, left } = withoutSecrets(rejected, { header, fields, sparse })
      if (!file && !size) put(Buffer.from(begins))
      put(bytesOf(line, written(why(line, reasons, headers, left), line.cells)))
      if (size > 64 * 1024) await flush()
    },
    end,
    async flush() {
      if (size) await flush()
    },
    async discard() {
      // Whoever goes on with what has failed does not find these lines again.
      if (marked && (file || size)) await end()
      else await file?.close()
      await rm(draft, { force: true })
    },
  }
}
