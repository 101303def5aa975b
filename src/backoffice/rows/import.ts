import type { Database } from '../../db.ts'
import type { Service } from '../../settings.ts'
import { beginLoad } from '../../store/lists/first-load.ts'
import { batchesOf } from './batches.ts'
import type { Judged } from './judge.ts'
import type { Kind } from './kinds.ts'
import type { Reason } from './reason.ts'
import type { Line, Sheet } from './sheet.ts'
import { takeIn } from './take-in.ts'
import { addTaken, type Taken } from './taken.ts'
import type { Violation } from './violations.ts'

/** Where refused lines go, to be mended and imported again. */
export interface Rejected {
  add(line: Line, reasons: readonly Reason[]): Promise<void>
  /** Ends it. Where nothing was refused there is none, nor that of an earlier import. */
  end(): Promise<void>
  /** Throws away what was written so far. */
  discard(): Promise<void>
}

export interface Importing {
  db: Database
  service: Service
  kind: Kind
  /** Find what is wrong, write nothing. */
  dryRun?: boolean
  rejected: Rejected | undefined
  /** Called when a batch is dealt with. */
  onBatch?: () => void
}

/**
 * Puts the lines of a sheet in: what is new is added, what differs is changed, what is there just so is left alone. `taken` is kept up
 * with what has become of them. What was put in until an error stays, and importing it all again is safe.
 */
export async function importSheet(
  sheet: Sheet,
  { db, service, kind, dryRun = false, rejected, onBatch }: Importing,
  taken: Taken,
): Promise<void> {
  const put = async (batch: readonly Judged[]) => {
    const sound = batch.filter(({ row }) => row)
    const refuse = (at: number, { reason }: Violation) => {
      const one = sound[at]
      if (one?.row) one.reasons = [reason(one.row)]
    }
    const rows = sound.map(({ row = {} }) => row)
    const { inserted, changed, notes } = await takeIn(rows, { db, service, intake: kind, dryRun, refuse })
    const refused = await reject(batch, rejected)
    addTaken(taken, { read: batch.length, inserted, changed, refused, notes })
    onBatch?.()
  }
  // The next batch is read while the database is busy with this one; never more, so that the later line of two wins.
  let writing = Promise.resolve()
  const first = dryRun || !kind.backDated ? undefined : await beginLoad(db, service, kind.backDated)
  try {
    for await (const batch of batchesOf(sheet, kind)) {
      await writing
      writing = put(batch)
      writing.catch(() => {})
    }
    await writing
    await rejected?.end()
  } catch (error) {
    await writing.catch(() => {})
    await rejected?.discard()
    throw error
  } finally {
    await first?.end()
  }
}

/** Writes out the refused lines of a batch, in their order, and counts them. */
async function reject(batch: readonly Judged[], rejected: Rejected | undefined) {
  let refused = 0
  for (const { line, reasons } of batch) {
    if (!reasons) continue
    refused++
    await rejected?.add(line, reasons)
  }
  return refused
}
