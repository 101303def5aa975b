import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { formatCsvLine } from './formats/csv-line.ts'
import { claimUneditedPath, claimUnusedPath, findUneditedPath, removeWithDigest, writeDigest } from './formats/edits.ts'
import { escapeFormula } from './formats/formulas.ts'
import { getReasonFields, rejectedColumns } from './formats/header.ts'
import type { Field } from './pipeline/columns.ts'
import type { RejectedFile } from './pipeline/import.ts'
import type { RowError } from './pipeline/row-error.ts'
import type { Line, Sheet } from './pipeline/sheet.ts'

const toSpreadsheetLine = (cells: readonly unknown[]) =>
  formatCsvLine(cells.map(cell => escapeFormula(String(cell ?? ''))))

const encodeLike = ({ bytes }: Line, text: string) => Buffer.from(text, bytes ? 'latin1' : 'utf8')

interface RejectedFormat {
  headerLine: string
  /** `reason`: the values of `rejectedColumns`. */
  formatLine(reason: readonly unknown[], cells: readonly unknown[]): string
}

const createCsvFormat = (header: readonly string[]): RejectedFormat => ({
  headerLine: toSpreadsheetLine([...rejectedColumns, ...header]),
  formatLine: (reason, cells) => toSpreadsheetLine([...reason, ...cells]),
})

/** Converts infinite numbers to text, because JSON would have null, which clears the stored value. */
const toJsonValue = (cell: unknown) => (Number.isFinite(cell) || typeof cell !== 'number' ? cell : String(cell))

/** NDJSON for lines with different columns. In CSV, a missing column would become an empty cell, which clears the stored value. */
function createNdjsonFormat(header: readonly string[]): RejectedFormat {
  const reasonFields = getReasonFields(name => header.includes(name))
  return {
    headerLine: '',
    formatLine(reason, cells) {
      const reasons = reasonFields.map(name => [name, reason[rejectedColumns.indexOf(name)]] as const)
      const content = header.map((name, place) => [name, toJsonValue(cells[place])] as const)
      return `${JSON.stringify(Object.fromEntries([...reasons, ...content]))}\n`
    },
  }
}

/** Returns the values of `rejectedColumns`: line number, columns and reasons, with an optional remark. */
function describeErrors(
  line: Line,
  errors: readonly RowError[],
  headers: ReadonlyMap<string, string>,
  remark = line.text,
) {
  const named = errors.map(({ column, messageWithValue }) => [headers.get(column) ?? column, messageWithValue] as const)
  const [first] = named
  const reason =
    named.length === 1 && first ? first[1] : named.map(([column, text]) => `${column} ${text}`.trim()).join('; ')
  const separator = line.unreadable ? ' ' : '; '
  return [line.number, named.map(([column]) => column).join('; '), [reason, remark].filter(Boolean).join(separator)]
}

/** Returns the line without secrets, and a remark about what to enter again. */
function removeSecrets(
  line: Line,
  { header, fields, sparse }: Omit<Sheet, 'lines'>,
): { line: Line; remark: string | undefined } {
  const isSecret = ({ shape }: Field) => shape.format === 'secret'
  const secret = fields.find(isSecret)
  if (!secret) return { line, remark: undefined }
  // In a malformed line, the secret can be in any cell.
  if (line.unreadable)
    return {
      line: { ...line, cells: sparse ? [] : header.map(() => '') },
      remark: `Its content is omitted, because it has a ${secret.name}. Correct the line in the original file.`,
    }
  const readable = new Set(fields.filter(field => !isSecret(field)).map(({ place }) => place))
  readable.delete(secret.place)
  const cells = line.cells.map((cell, place) => (cell === undefined || readable.has(place) ? cell : ''))
  const remark = line.cells[secret.place] ? `enter the ${secret.header} again, because it is omitted here` : undefined
  return { line: { ...line, cells }, remark }
}

/** A file of rejected lines that is not complete yet. */
interface Draft {
  /** Part of the draft's name, so that concurrent imports have different drafts. */
  run: string
  /** The import, for the digest that detects edits. */
  description: string
}

/** A separate name until the file is complete, because the file to import can be the last import's rejected lines. */
const getDraftPath = (path: string, run: string) => `${path}.${run}.part`

/** Gives the draft of a killed import a name next to `path`. Returns undefined if it does not exist. */
export async function saveDraft(path: string, { run, description }: Draft): Promise<string | undefined> {
  const draft = getDraftPath(path, run)
  const size = await stat(draft).then(
    file => file.size,
    () => 0,
  )
  if (!size) return
  const place = await claimUnusedPath(path)
  await rename(draft, place)
  await writeDigest(place, description)
  return place
}

/**
 * Writes the rejected lines of a sheet to `path`, with the reason in front: as CSV, or as NDJSON if the sheet is sparse. With
 * `detectEdits`, a file that was edited or belongs to another import is kept, unless `overwrite` is set, and the lines go to the next
 * numbered file. A resumed import never replaces a file.
 */
export function openRejectedFile(
  path: string,
  { header, fields, sparse }: Omit<Sheet, 'lines'>,
  { run, description }: Draft,
  detectEdits?: { overwrite: boolean; isResumed?: boolean },
): RejectedFile {
  const headers = new Map(fields.map(field => [field.name, field.header]))
  const { headerLine, formatLine } = (sparse ? createNdjsonFormat : createCsvFormat)(header)
  const draft = getDraftPath(path, run)
  let file: FileHandle | undefined
  let buffered: Buffer[] = []
  let size = 0

  const buffer = (bytes: Buffer) => {
    buffered.push(bytes)
    size += bytes.length
  }
  async function flush() {
    file ??= await open(draft, 'w', 0o600)
    await file.appendFile(Buffer.concat(buffered))
    buffered = []
    size = 0
  }
  function choosePath() {
    if (!detectEdits || detectEdits.overwrite) return path
    if (!file) return detectEdits.isResumed ? path : findUneditedPath(path, description)
    return detectEdits.isResumed ? claimUnusedPath(path) : claimUneditedPath(path, description)
  }

  async function end() {
    if (size) await flush()
    await file?.close()
    const target = await choosePath()
    if (!file) {
      if (!detectEdits?.isResumed) await removeWithDigest(target)
    } else {
      await rename(draft, target)
      if (detectEdits) await writeDigest(target, description)
    }
    return {
      ...(file && { rejectedPath: target }),
      ...(target !== path && !detectEdits?.isResumed && { edited: path }),
    }
  }

  return {
    async add(rejected, errors) {
      const { line, remark } = removeSecrets(rejected, { header, fields, sparse })
      if (!file && !size) buffer(Buffer.from(headerLine))
      buffer(encodeLike(line, formatLine(describeErrors(line, errors, headers, remark), line.cells)))
      if (size > 64 * 1024) await flush()
    },
    end,
    async flush() {
      if (size) await flush()
    },
    async abandon() {
      // A resumed import doesn't read these lines again, so they must be kept.
      if (detectEdits && (file || size)) await end()
      else await file?.close()
      await rm(draft, { force: true })
    },
  }
}
