import type { Database } from '../../../database/db.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { everyField } from '../../../import/formats/header.ts'
import type { Field } from '../../../import/pipeline/columns.ts'
import { addCounts, type ImportCounts, noCounts, note } from '../../../import/pipeline/counts.ts'
import { importSheet } from '../../../import/pipeline/import.ts'
import { ImportError } from '../../../import/pipeline/import-error.ts'
import type { ImportType } from '../../../import/pipeline/import-type.ts'
import { lockImportType } from '../../../import/pipeline/import-type-lock.ts'
import { importTypes } from '../../../import/pipeline/import-types.ts'
import type { Line } from '../../../import/pipeline/sheet.ts'
import { openRejectedFile } from '../../../import/rejected-file.ts'
import type { Brought } from '../../../import/sources/export-source.ts'
import type { ExportKind } from './files.ts'
import { type ExportLine, linesOf } from './lines.ts'
import { type Pass, passesOf } from './passes.ts'

/** What became of an export. */
export interface Imported extends ImportCounts {
  /** Lines that are not for us. */
  leftOut: number
  /** Why the file could not be read to its end; what came before stays. */
  fault?: string
}

/** A file to import: what is in it, what messages call it, where it is. */
interface Importable extends Brought {
  kind: ExportKind
  name: string
}

/** Lines that are translated at a time. */
const linesAtOnce = 500

/** Imports a file. Throws where that is not the file's fault: it may be imported again, as often as need be. */
export async function importExport(
  db: Database,
  service: Service,
  file: Importable,
  signal: AbortSignal,
): Promise<Imported> {
  const imported: Imported = { ...noCounts(), leftOut: 0 }
  const passes = passesOf[file.kind](db, service, why => {
    imported.leftOut++
    note(imported.notes, why)
  })
  try {
    for (const [i, pass] of passes.entries()) {
      const rejectedPath = i ? file.rejectedPath.replace(/\.ndjson$/, `.${pass.kind}.ndjson`) : file.rejectedPath
      addCounts(imported, await importPass(db, service, { ...file, rejectedPath }, pass, signal))
    }
  } catch (error) {
    if (signal.aborted || !(error instanceof ImportError) || error.cause) throw error
    imported.fault = error.message
  }
  return imported
}

async function importPass(db: Database, service: Service, file: Importable, pass: Pass, signal: AbortSignal) {
  const known: ImportType = importTypes[pass.kind]
  const type = { ...known, write: pass.write ?? known.write }
  const letGo = await lockImportType(db, service, pass.kind)
  try {
    const taken = noCounts()
    const fields = everyField(type, {}, service.settings.currency)
    const header = fields.map(({ name }) => name)
    const draft = { run: `${service.id}-${pass.kind}`, of: `${pass.kind} of ${service.name}` }
    const sheet = { header, fields, sparse: true, lines: translated(file, pass, fields, signal) }
    await importSheet(
      sheet,
      { db, service, type, rejectedFile: openRejectedFile(file.rejectedPath, sheet, draft) },
      taken,
    )
    return taken
  } finally {
    await letGo()
  }
}

/** What a pass makes of a file: lines of our columns, numbered by themselves. */
async function* translated(
  file: Importable,
  { columns, cells }: Pass,
  fields: readonly Field[],
  signal: AbortSignal,
): AsyncGenerator<Line[]> {
  let number = 0
  const lineOf = (made: Readonly<Record<string, string>>): Line => ({
    number: ++number,
    cells: fields.map(({ name }) => made[name]),
    size: Buffer.byteLength(Object.values(made).join('')),
  })
  let lines: ExportLine[] = []
  for await (const line of linesOf(file)) {
    signal.throwIfAborted()
    const missing = lines.length ? [] : columns.filter(column => line[column] === undefined)
    if (missing.length) throw new ImportError(`${file.name} has no column ${missing.join(', ')}.`)
    lines.push(line)
    if (lines.length < linesAtOnce) continue
    yield (await cells(lines)).map(lineOf)
    lines = []
  }
  if (lines.length) yield (await cells(lines)).map(lineOf)
}
