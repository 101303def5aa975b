import type { Database } from '../../../database/db.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { createNdjsonFields } from '../../../import/formats/header.ts'
import type { Field } from '../../../import/pipeline/columns.ts'
import { addCounts, createCounts, type ImportCounts, note } from '../../../import/pipeline/counts.ts'
import { importSheet } from '../../../import/pipeline/import.ts'
import { ImportError } from '../../../import/pipeline/import-error.ts'
import type { ImportType } from '../../../import/pipeline/import-type.ts'
import { lockImportType } from '../../../import/pipeline/import-type-lock.ts'
import { importTypes } from '../../../import/pipeline/import-types.ts'
import type { Line } from '../../../import/pipeline/sheet.ts'
import { openRejectedFile } from '../../../import/rejected-file.ts'
import type { LocalCopy } from '../../../import/sources/export-source.ts'
import type { ExportType } from './files.ts'
import { type ExportLine, readExportLines } from './lines.ts'
import { type ExportPass, passFactories } from './passes.ts'

export interface ExportResult extends ImportCounts {
  /** The reason why the file could not be read to its end. The lines before stay imported. */
  error?: string
}

/** A file to import: its type, its name in messages, and its local path. */
interface ExportSource extends LocalCopy {
  type: ExportType
  name: string
}

/** Lines that are converted at a time. */
const linesPerChunk = 500

/** Imports a file. Can be repeated any number of times. Throws if the import fails for a reason outside the file. */
export async function importExport(
  db: Database,
  service: Service,
  file: ExportSource,
  signal: AbortSignal,
): Promise<ExportResult> {
  const imported: ExportResult = createCounts()
  const passes = passFactories[file.type](db, service, reason => {
    imported.read++
    imported.skipped++
    note(imported.notes, reason)
  })
  try {
    for (const [i, pass] of passes.entries()) {
      const rejectedPath = i ? file.rejectedPath.replace(/\.ndjson$/, `.${pass.type}.ndjson`) : file.rejectedPath
      addCounts(imported, await importPass(db, service, { ...file, rejectedPath }, pass, signal))
    }
  } catch (error) {
    if (signal.aborted || !(error instanceof ImportError) || error.cause) throw error
    imported.error = error.message
  }
  return imported
}

async function importPass(db: Database, service: Service, file: ExportSource, pass: ExportPass, signal: AbortSignal) {
  const importType: ImportType = importTypes[pass.type]
  const type = { ...importType, write: pass.write ?? importType.write }
  const release = await lockImportType(db, service, pass.type)
  try {
    const counts = createCounts()
    const fields = createNdjsonFields(type, {}, service.settings.currency)
    const header = fields.map(({ name }) => name)
    const draft = { run: `${service.id}-${pass.type}`, description: `${pass.type} of ${service.name}` }
    const sheet = { header, fields, sparse: true, lines: convertLines(file, pass, fields, signal) }
    // The back office decides which of two exports is newer.
    const context = { actor: { username: 'tillbridge (export files)', requestId: file.name }, skipOutdated: false }
    await importSheet(
      sheet,
      { db, service, type, context, rejectedFile: openRejectedFile(file.rejectedPath, sheet, draft) },
      counts,
    )
    return counts
  } finally {
    await release()
  }
}

/** Converts an export's lines into numbered lines of an import type. */
async function* convertLines(
  file: ExportSource,
  { columns, convert }: ExportPass,
  fields: readonly Field[],
  signal: AbortSignal,
): AsyncGenerator<Line[]> {
  let number = 0
  const toLine = (cells: Readonly<Record<string, string>>): Line => ({
    number: ++number,
    cells: fields.map(({ name }) => cells[name]),
    size: Buffer.byteLength(Object.values(cells).join('')),
  })
  let lines: ExportLine[] = []
  for await (const line of readExportLines(file)) {
    signal.throwIfAborted()
    const missing = lines.length ? [] : columns.filter(column => line[column] === undefined)
    if (missing.length) throw new ImportError(`${file.name} must have the columns ${missing.join(', ')}.`)
    lines.push(line)
    if (lines.length < linesPerChunk) continue
    yield (await convert(lines)).map(toLine)
    lines = []
  }
  if (lines.length) yield (await convert(lines)).map(toLine)
}
