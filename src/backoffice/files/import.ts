import { type Database, DatabaseAway, DiskFull } from '../../db.ts'
import type { Keys } from '../../secrets.ts'
import type { Service } from '../../settings.ts'
import { holdKind } from '../rows/hold.ts'
import { importSheet, type Left } from '../rows/import.ts'
import { ImportError } from '../rows/import-error.ts'
import { kindNamed, kinds } from '../rows/kinds.ts'
import { nothingTaken, type Taken } from '../rows/taken.ts'
import type { Naming } from './header.ts'
import { rejectedFile } from './rejected.ts'
import { openSheet } from './sheet.ts'
import type { Source } from './source.ts'

/** What became of the lines of a file, the header apart. */
export interface Summary extends Taken, Left {
  /** There already, just so; in a dry run, whatever is good. */
  unchanged: number
}

export interface Progress {
  /** Lines dealt with. */
  lines: number
  /** Bytes taken from the file, of `size` where that is known. */
  bytes: number
  size: number | undefined
}

export interface ImportOptions extends Naming {
  /** For kinds with secrets. */
  keys?: Keys | undefined
  /** Where refused lines go; nowhere when absent. */
  rejected?: string | undefined
  /** Leave there what somebody has edited of an earlier import, or write over that too. Absent: nobody edits it. */
  edited?: 'left' | 'written over'
  /** Ends it early, behind what is under way. */
  signal?: AbortSignal
  /** Find what is wrong, write nothing. */
  dryRun?: boolean | undefined
  onProgress?: (progress: Progress) => void
  /** Called when another import of this kind has to end first. */
  onWait?: () => void
}

/**
 * Imports a file: what is new is added, what differs is changed, what is there just so is left alone. Throws `ImportError` when the
 * file or the database does not let it go on; what was put in until then stays, and importing the file again is safe.
 */
export async function importFile(
  db: Database,
  service: Service,
  kindName: string,
  source: Source,
  { keys, rejected: path, edited, dryRun = false, onProgress, onWait, signal, ...naming }: ImportOptions = {},
): Promise<Summary> {
  const kind = kindNamed(kindName)
  if (!kind) throw new ImportError(`There is no feed ${kindName}. The feeds: ${Object.keys(kinds).join(', ')}.`)
  const taken = nothingTaken()
  let bytes = 0
  const onRead = (read: number) => {
    bytes += read
  }
  const onBatch = () => onProgress?.({ lines: taken.read, bytes, size: source.size })
  let letGo: (() => void) | undefined
  try {
    if (!dryRun) letGo = await holdKind(db, service, kindName, { onWait, signal })
    const sheet = await openSheet(source, kind, { ...naming, currency: service.settings.currency, onRead })
    const marked = edited && { overwrite: edited === 'written over' }
    const rejected = path === undefined ? undefined : rejectedFile(path, sheet, marked)
    const left = await importSheet(sheet, { db, service, kind, keys, dryRun, rejected, onBatch, signal }, taken)
    return { ...taken, ...left, unchanged: taken.read - taken.refused - taken.inserted - taken.changed }
  } catch (error) {
    throw error instanceof DatabaseAway ? cutShort(taken, error) : error
  } finally {
    letGo?.()
    source.stream.destroy()
  }
}

function cutShort({ read, refused }: Taken, cause: DatabaseAway) {
  const [what, until] =
    cause instanceof DiskFull
      ? [cause.message, 'there is room']
      : ['The database cannot be reached any more.', 'it is back']
  const error = new ImportError(
    `${what} ${read - refused} lines were imported and stay; import the file again when ${until}.`,
  )
  error.cause = cause
  return error
}
