import { randomUUID } from 'node:crypto'
import type { Keys } from '../crypto/keys.ts'
import type { Database } from '../database/db.ts'
import { DatabaseUnavailable, DiskFull } from '../database/errors.ts'
import type { Actor } from '../domain/audit.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { readDatabaseTime } from '../store/lists/change-timestamp.ts'
import { type CompleteList, removeMissing } from '../store/sync/remove-unseen.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import { openCheckpoint, skipLines } from './checkpoint.ts'
import { withFileRun } from './file-run.ts'
import type { Confidence } from './formats/code-pages.ts'
import type { Dialect } from './formats/dialect.ts'
import { openSheet, type SheetOptions } from './formats/sheet.ts'
import { createCounts, type ImportCounts, note } from './pipeline/counts.ts'
import { type ImportResult, importSheet } from './pipeline/import.ts'
import { ImportError } from './pipeline/import-error.ts'
import type { ImportType } from './pipeline/import-type.ts'
import { lockImportType } from './pipeline/import-type-lock.ts'
import { findImportType, importTypes } from './pipeline/import-types.ts'
import type { Sheet } from './pipeline/sheet.ts'
import { openRejectedFile, saveDraft } from './rejected-file.ts'
import type { Source } from './sources/file.ts'

/** The author of changes by the command line. */
const importer = 'tillbridge (command line)'

const incompleteFile =
  'the file is not complete, because lines were rejected or the import was resumed or stopped: no record was removed'
const keptRecords =
  'missing from the file, but kept because they are more than half of the list: check the file, or override the stop with --remove-most (API: remove_most)'
const removedRecords: Readonly<Record<CompleteList, string>> = {
  stock: 'stock levels became 0 because they are missing from the file',
  variant: 'SKUs removed because they are missing from the file',
  customer: 'customers removed because they are missing from the file',
}
const recordsToRemove: Readonly<Record<CompleteList, string>> = {
  stock: 'stock levels would become 0 because they are missing from the file',
  variant: 'SKUs would be removed because they are missing from the file',
  customer: 'customers would be removed because they are missing from the file',
}

/** The result of an import. The header isn't counted. */
export interface ImportSummary extends ImportCounts, ImportResult {
  /** Lines that equal the stored record, or that a later line with the same key replaces. In a dry run, all valid lines. */
  unchanged: number
  /** The line after which the import was resumed. 0: it started at the beginning. */
  resumedAfter: number
  /** True if a stopped import can be resumed. */
  canResume: boolean
}

export interface Progress {
  /** Lines processed. */
  lines: number
  /** Bytes read. */
  bytes: number
  /** Bytes of the file. Undefined for a stream. */
  size: number | undefined
}

export interface ImportOptions extends Dialect {
  /** Required for import types with secrets. */
  keys?: Keys | undefined
  /** The file for rejected lines. Absent: they are only counted. */
  rejectedPath?: string | undefined
  /** Keep or overwrite an edited file of rejected lines. Absent: edits aren't detected. */
  edited?: 'kept' | 'overwritten'
  /** Stops the import after the current batches. */
  signal?: AbortSignal
  /** Validate without writing. */
  dryRun?: boolean | undefined
  /** Continue after the last imported line of an interrupted import of the same file. */
  resume?: boolean | undefined
  /** Import lines that are older than the stored record. */
  forceOlder?: boolean | undefined
  /** The file is complete: what it lacks is removed, unless a line is rejected or more than half of the list is missing. */
  complete?: boolean | undefined
  /** Remove what a complete file lacks even if it is more than half of the list. */
  removeMost?: boolean | undefined
  /** Store the second customer with an email address without it, instead of rejecting the line. */
  clearSharedEmail?: boolean | undefined
  /** The author of the import. Default: the command line. */
  actor?: Actor | undefined
  /** Stop after this many rejected lines. */
  stopAfter?: number | undefined
  /** Receives remarks before the end of the import. */
  onRemark?: (text: string) => void
  onProgress?: (progress: Progress) => void
  /** Called if the import must wait for another one of its type. */
  onWait?: () => void
  /** Replaces the default way to open the file from its stream. */
  open?: (sheetOptions: SheetOptions & { signal: AbortSignal }) => Promise<Sheet>
  /** The ID of the run, if the caller needs it. A dry run is stored only if it is given. */
  run?: string
}

/**
 * Imports a file: adds new records, updates records that differ. Throws `ImportError` if the file is malformed or the database is
 * unavailable. The lines imported until then stay, and importing the file again is safe.
 */
export async function importFile(
  db: Database,
  service: Service,
  typeName: string,
  source: Omit<Source, 'stream'> & Partial<Pick<Source, 'stream'>>,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  const {
    keys,
    rejectedPath: path,
    edited,
    dryRun = false,
    resume = false,
    forceOlder = false,
    stopAfter = Infinity,
  } = options
  const { onProgress, onWait, onRemark = () => {} } = options
  const type = requireImportType(typeName, options)
  const counts = createCounts()
  const seen = new Set<string>()
  const storeIds = new Set<string>()
  const onInputs = (inputs: readonly object[]) => {
    for (const input of inputs) {
      if (type.complete) seen.add(type.complete.getId(input))
      if ('storeId' in input) storeIds.add(String(input.storeId))
    }
  }
  let bytes = 0
  const onRead = (readBytes: number) => {
    bytes += readBytes
  }
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, ...(options.signal ? [options.signal] : [])])
  const run = { importType: typeName, id: options.run ?? randomUUID() }
  // One import of a type runs at a time in a service, and the next one can resume it. A concurrent dry run has its own draft.
  const draft = {
    run: `${service.id}-${typeName}${dryRun ? '-dry-run' : ''}`,
    description: `${typeName} of ${service.name}`,
  }
  const runImport = async () => {
    let sheet: Sheet | undefined
    const release = dryRun ? undefined : await lockImportType(db, service, typeName, { onWait, signal })
    try {
      const checkpoint = dryRun ? undefined : await openCheckpoint(db, service, typeName, source, { resume, onRemark })
      const resumedAfter = checkpoint?.resumeAfter ?? 0
      const { currency, timeZone } = service.settings
      const dialect = { ...options, timeZone, today: Temporal.Now.plainDateISO(timeZone).toString() }
      let encodingNote: string | undefined
      const onGuess = (confidence: Confidence) => {
        encodingNote = `read as Windows-1252 with ${confidence} confidence, because the file is not UTF-8`
        onRemark(
          `${source.name} is not UTF-8. It is read as Windows-1252 with ${confidence} confidence. If that is wrong, use --encoding.`,
        )
      }
      const sheetOptions = { dialect, currency, onRead, onRemark, onGuess, signal }
      const open = options.open ?? (() => openSheet(source as Source, type, sheetOptions))
      sheet = await open(sheetOptions)
      const detectEdits = edited && { overwrite: edited === 'overwritten', isResumed: resumedAfter > 0 }
      const rejectedFile = path === undefined ? undefined : openRejectedFile(path, sheet, draft, detectEdits)
      const savedDraft = path !== undefined && resumedAfter > 0 ? await saveDraft(path, draft) : undefined
      if (savedDraft) onRemark(`Lines rejected before the interruption are in ${savedDraft}.`)
      const onBatch = async (line: number) => {
        if (encodingNote) counts.notes[encodingNote] = counts.read
        onProgress?.({ lines: counts.read, bytes, size: source.size })
        await checkpoint?.save(line, () => rejectedFile?.flush())
        if (counts.rejected >= stopAfter) stop.abort()
      }
      const remainder = resumedAfter ? skipLines(resumedAfter, sheet) : sheet
      const end = dryRun ? undefined : await type.open?.(db, service)
      const canStop = stopAfter < Infinity
      const context = { actor: options.actor ?? { username: importer, requestId: run.id }, skipOutdated: !forceOlder }
      const importing = {
        db,
        service,
        type,
        keys,
        context,
        dryRun,
        rejectedFile,
        onBatch,
        canStop,
        signal,
        clearSharedEmail: options.clearSharedEmail,
        onInputs: options.complete ? onInputs : undefined,
      }
      const startedAt = options.complete ? await readDatabaseTime(db) : ''
      const result = await importSheet(remainder, importing, counts).catch(async error => {
        // If the database is unavailable too, the next import of the file does this.
        if (end) await ignoreError(end({ isComplete: false, hasImportedLines: false }), 'stale loads are reaped later')
        throw error
      })
      const { stoppedAfter } = result
      const isAtEnd = stoppedAfter === undefined
      await (isAtEnd ? checkpoint?.clear() : checkpoint?.saveNow(Math.max(resumedAfter, stoppedAfter)))
      const isComplete = isAtEnd && !resumedAfter && !sheet.isRejectedFile && counts.rejected === 0
      if (options.complete && type.complete) {
        const { list } = type.complete
        const removal = {
          list,
          seen,
          storeIds: [...storeIds],
          startedAt,
          removeMost: options.removeMost ?? false,
          dryRun,
        }
        if (!isComplete || seen.size === 0) note(counts.notes, incompleteFile)
        else await removeMissingRecords(db, service, removal, counts)
      }
      const removed = await end?.({ isComplete, hasImportedLines: isAtEnd && counts.read > counts.rejected })
      if (removed) {
        counts.removed += removed
        note(counts.notes, 'removed because they are no longer in the file', removed)
      }
      const unchanged =
        counts.read - counts.skipped - counts.outdated - counts.rejected - counts.inserted - counts.changed
      return { ...counts, ...result, unchanged, resumedAfter, canResume: checkpoint !== undefined }
    } finally {
      await sheet?.close?.()
      await release?.()
    }
  }
  const isRecorded = !dryRun || options.run !== undefined
  try {
    return await (isRecorded
      ? withFileRun({ db, service, run, isDryRun: dryRun, onCancel: () => stop.abort() }, counts, runImport)
      : runImport())
  } catch (error) {
    throw toInterruption(error, dryRun ? 0 : counts.read - counts.rejected)
  } finally {
    source.stream?.destroy()
  }
}

/** Returns the import type. Throws `ImportError` if it doesn't exist, or doesn't support the options about complete files. */
function requireImportType(typeName: string, { complete, removeMost }: ImportOptions): ImportType {
  const type = findImportType(typeName)
  if (!type)
    throw new ImportError(`Import type ${typeName} doesn't exist. Use one of: ${Object.keys(importTypes).join(', ')}.`)
  if (complete && !type.complete)
    throw new ImportError(`--complete can't be used with ${typeName}. Use it with stock, products or customers.`)
  if (removeMost && !complete) throw new ImportError('--remove-most requires --complete.')
  return type
}

/** Removes the records that a complete file lacks, and counts them. A dry run only counts them. */
async function removeMissingRecords(
  db: Database,
  service: Service,
  removal: Parameters<typeof removeMissing>[2],
  counts: ImportCounts,
) {
  const { removed, retained } = await removeMissing(db, service, removal)
  counts.removed = removed
  const remarks = removal.dryRun ? recordsToRemove : removedRecords
  if (removed) note(counts.notes, remarks[removal.list], removed)
  if (retained) note(counts.notes, keptRecords, retained)
}

/** Adds the number of imported lines to the error that interrupted an import. */
function toInterruption(error: unknown, imported: number): unknown {
  const stay = `${imported} lines were imported and stay.`
  if (error instanceof ImportError && imported)
    return new ImportError(`${error.message} ${stay} Importing the file again is safe.`, error.messageWithoutContent)
  if (!(error instanceof DatabaseUnavailable)) return error
  const [cause, condition] =
    error instanceof DiskFull
      ? [error.message, 'has free space']
      : ['The database is unavailable.', 'is available again']
  const interruption = new ImportError(
    `${cause} ${stay} Import the file again when the database ${condition}, with --resume unless it is a stream.`,
  )
  interruption.cause = error
  return interruption
}
