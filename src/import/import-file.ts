import { randomUUID } from 'node:crypto'
import type { Keys } from '../crypto/keys.ts'
import type { Database } from '../database/db.ts'
import { DatabaseUnavailable, DiskFull } from '../database/errors.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import { behind, reachedIn } from './checkpoint.ts'
import { withFileRun } from './file-run.ts'
import type { Dialect } from './formats/dialect.ts'
import { openSheet, type Reading } from './formats/sheet.ts'
import { type ImportCounts, noCounts, note } from './pipeline/counts.ts'
import { importSheet, type Left } from './pipeline/import.ts'
import { ImportError } from './pipeline/import-error.ts'
import { lockImportType } from './pipeline/import-type-lock.ts'
import { findImportType, importTypes } from './pipeline/import-types.ts'
import type { Sheet } from './pipeline/sheet.ts'
import { keepDraft, openRejectedFile } from './rejected-file.ts'
import type { Source } from './sources/file.ts'

/** What became of the lines of a file, the header apart. */
export interface Summary extends ImportCounts, Left {
  /** There already, just so; in a dry run, whatever is good. */
  unchanged: number
  /** The line behind which it went on; 0: it began at the beginning. */
  resumedAfter: number
  /** Where it was stopped, it can be gone on with. */
  canResume: boolean
}

export interface Progress {
  /** Lines dealt with. */
  lines: number
  /** Bytes taken from the file, of `size` where that is known. */
  bytes: number
  size: number | undefined
}

export interface ImportOptions extends Dialect {
  /** For kinds with secrets. */
  keys?: Keys | undefined
  /** Where rejected lines go; nowhere when absent. */
  rejectedPath?: string | undefined
  /** Leave there what somebody has edited of an earlier import, or write over that too. Absent: nobody edits it. */
  edited?: 'left' | 'written over'
  /** Ends it early, behind what is under way. */
  signal?: AbortSignal
  /** Find what is wrong, write nothing. */
  dryRun?: boolean | undefined
  /** Go on behind the last line that an interrupted import of the same file has put in. */
  resume?: boolean | undefined
  /** End it early once so many lines are rejected. */
  stopAfter?: number | undefined
  /** Hears what has to be said before the end. */
  onRemark?: (text: string) => void
  onProgress?: (progress: Progress) => void
  /** Called when another import of this kind has to end first. */
  onWait?: () => void
  /** Opens the file in another way than by its stream. */
  open?: (reading: Reading & { signal: AbortSignal }) => Promise<Sheet>
  /** The run's ID, if the caller needs it. A dry run is stored only if it is given. */
  run?: string
}

/**
 * Imports a file: what is new is added, what differs is changed, what is there just so is left alone. Throws `ImportError` when the
 * file or the database does not let it go on; what was put in until then stays, and importing the file again is safe.
 */
export async function importFile(
  db: Database,
  service: Service,
  typeName: string,
  source: Omit<Source, 'stream'> & Partial<Pick<Source, 'stream'>>,
  options: ImportOptions = {},
): Promise<Summary> {
  const { keys, rejectedPath: path, edited, dryRun = false, resume = false, stopAfter = Infinity } = options
  const { onProgress, onWait, onRemark = () => {} } = options
  const type = findImportType(typeName)
  if (!type)
    throw new ImportError(`Import type ${typeName} doesn't exist. Use one of: ${Object.keys(importTypes).join(', ')}.`)
  const taken = noCounts()
  let bytes = 0
  const onRead = (lineCount: number) => {
    bytes += lineCount
  }
  const enough = new AbortController()
  const signal = AbortSignal.any([enough.signal, ...(options.signal ? [options.signal] : [])])
  const run = { importType: typeName, id: options.run ?? randomUUID() }
  // One import of a type runs at a time in a service, and the next one can resume it. A concurrent dry run has its own draft.
  const draft = { run: `${service.id}-${typeName}${dryRun ? '-dry-run' : ''}`, of: `${typeName} of ${service.name}` }
  const read = async () => {
    let sheet: Sheet | undefined
    const letGo = dryRun ? undefined : await lockImportType(db, service, typeName, { onWait, signal })
    try {
      const reached = dryRun ? undefined : await reachedIn(db, service, typeName, source, { resume, onRemark })
      const from = reached?.from ?? 0
      const { currency, timeZone } = service.settings
      const dialect = { ...options, today: Temporal.Now.plainDateISO(timeZone).toString() }
      const reading = { dialect, currency, onRead, onRemark, signal }
      const open = options.open ?? (() => openSheet(source as Source, type, reading))
      sheet = await open(reading)
      const marked = edited && { overwrite: edited === 'written over', goesOn: from > 0 }
      const rejectedFile = path === undefined ? undefined : openRejectedFile(path, sheet, draft, marked)
      const kept = path !== undefined && from > 0 ? await keepDraft(path, draft) : undefined
      if (kept) onRemark(`What was rejected until then is in ${kept}.`)
      const onBatch = async (line: number) => {
        onProgress?.({ lines: taken.read, bytes, size: source.size })
        await reached?.reached(line, () => rejectedFile?.flush())
        if (taken.rejected >= stopAfter) enough.abort()
      }
      const rest = from ? behind(from, sheet) : sheet
      const end = dryRun ? undefined : await type.open?.(db, service)
      const mayEnd = stopAfter < Infinity
      const putIn = importSheet(rest, { db, service, type, keys, dryRun, rejectedFile, onBatch, mayEnd, signal }, taken)
      const left = await putIn.catch(async error => {
        // What is in stays. Where the database is away as well, the file that is imported again sees to it.
        if (end) await ignoreError(end({ isComplete: false, hasImportedLines: false }), 'stale loads are reaped later')
        throw error
      })
      await (left.stoppedAfter === undefined ? reached?.end() : reached?.left(Math.max(from, left.stoppedAfter)))
      const isOver = left.stoppedAfter === undefined
      const isWhole = isOver && !from && !sheet.isRest && taken.rejected === 0
      const gone = await end?.({ isComplete: isWhole, hasImportedLines: isOver && taken.read > taken.rejected })
      if (gone) note(taken.notes, 'removed because they are no longer in the file', gone)
      const unchanged = taken.read - taken.skipped - taken.rejected - taken.inserted - taken.changed
      return { ...taken, ...left, unchanged, resumedAfter: from, canResume: reached !== undefined }
    } finally {
      await sheet?.close?.()
      await letGo?.()
    }
  }
  const isRecorded = !dryRun || options.run !== undefined
  try {
    return await (isRecorded
      ? withFileRun({ db, service, run, isDryRun: dryRun, onCancel: () => enough.abort() }, taken, read)
      : read())
  } catch (error) {
    throw cutShort(error, dryRun ? 0 : taken.read - taken.rejected)
  } finally {
    source.stream?.destroy()
  }
}

/** Why an import broke off, with how many lines are in. */
function cutShort(error: unknown, imported: number): unknown {
  const stay = `${imported} lines were imported and stay`
  if (error instanceof ImportError && imported)
    return new ImportError(`${error.message} ${stay}; importing the file again is safe.`, error.kept)
  if (!(error instanceof DatabaseUnavailable)) return error
  const [what, until] =
    error instanceof DiskFull
      ? [error.message, 'there is room']
      : ['The database cannot be reached any more.', 'it is back']
  const told = new ImportError(
    `${what} ${stay}; import the file again when ${until}, with --resume unless it is a stream.`,
  )
  told.cause = error
  return told
}
