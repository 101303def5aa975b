import type { Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { withInitialLoad } from '../../store/lists/initial-load.ts'
import { analyzeGrownTables } from '../../store/lists/statistics.ts'
import { handleLater, ignoreError } from '../../telemetry/ignored-errors.ts'
import { batchesOf, recordsBy } from './batches.ts'
import { addCounts, type ImportCounts } from './counts.ts'
import type { ImportType } from './import-type.ts'
import type { Prepared } from './ingest.ts'
import { ingestPrepared } from './ingest-rows.ts'
import { countRejections, type Rejection } from './rejections.ts'
import { RowError } from './row-error.ts'
import type { Line, Sheet, ValidatedRow } from './sheet.ts'
import type { Violation } from './violations.ts'

/** Where rejected lines go, to be mended and imported again. */
export interface RejectedFile {
  add(line: Line, reasons: readonly RowError[]): Promise<void>
  /** Ends it. Where nothing was rejected there is none, nor that of an earlier import. */
  end(): Promise<Pick<Left, 'rejectedPath' | 'edited'>>
  /** Has what was added so far outlive this process. */
  flush(): Promise<void>
  /** The import has failed: throws away what was written so far, or leaves it for whoever goes on. */
  discard(): Promise<void>
}

/** What an import leaves behind. */
export interface Left {
  /** The file of the rejected lines. */
  rejectedPath?: string
  /** That of an earlier import, which somebody has edited, and which is left as it is. */
  edited?: string
  /** The last line that was dealt with, where it was stopped before the end. */
  stoppedAfter?: number
  /** Why lines were rejected. */
  rejections: readonly Rejection[]
}

interface Importing {
  db: Database
  service: Service
  type: ImportType
  /** For kinds with secrets. */
  keys?: Keys | undefined
  /** Find what is wrong, write nothing. */
  dryRun?: boolean
  rejectedFile: RejectedFile | undefined
  /** Called when a batch is dealt with, with its last line; the next one waits for it. */
  onBatch?: (line: number) => Promise<void> | void
  /** A batch may be the last one: none goes in beside it. */
  mayEnd?: boolean
  /** Stops it behind what is under way. */
  signal?: AbortSignal | undefined
}

/**
 * Puts the lines of a sheet in: what is new is added, what differs is changed, what is there just so is left alone. `taken` is kept up
 * with what has become of them. What was put in until an error stays, and importing it all again is safe.
 */
export function importSheet(sheet: Sheet, importing: Importing, taken: ImportCounts): Promise<Left> {
  const { db, service, type, dryRun } = importing
  const put = (isFirst = false) => putSheet(sheet, { ...importing, isFirst }, taken)
  return dryRun || !type.list ? put() : withInitialLoad(db, service, type.list, put)
}

/** A batch whose turn has not come yet, while what its rows name is looked up. */
interface Coming {
  batch: readonly ValidatedRow[]
  sound: readonly ValidatedRow[]
  prepared: Promise<Prepared>
}

async function putSheet(sheet: Sheet, importing: Importing & { isFirst: boolean }, taken: ImportCounts): Promise<Left> {
  const { db, service, type, keys, dryRun = false, rejectedFile, onBatch, mayEnd, signal, isFirst } = importing
  let lastLine = 0
  let batches = 0
  const rejections = countRejections(sheet.fields)
  const recordOf = recordsBy(sheet.fields, type)
  const prepare = (batch: readonly ValidatedRow[]): Coming => {
    rejectIncompleteRecords(batch, type, recordOf)
    const sound = batch.filter(({ row }) => row)
    const rows = sound.map(({ row = {} }) => row)
    const prepared = type.prepare(db, service, rows, keys)
    handleLater(prepared)
    return { batch, sound, prepared }
  }
  const isApart = apartFrom(isFirst && !mayEnd ? type.apart : undefined)
  /** Puts in a batch; where it is beside the one before it, that may still be under way. */
  const put = async ({ batch, sound, prepared }: Coming, before: Promise<void>, isBeside: boolean) => {
    const reject = (at: number, { reason }: Violation) => {
      const one = sound[at]
      if (one?.row) one.reasons = [reason(one.row)]
    }
    const { inserted, changed, skipped, notes } = await ingestPrepared(await prepared, {
      db,
      service,
      ingestion: type,
      dryRun,
      // It may claim what that one gives up.
      retry: isBeside ? before : undefined,
      reject,
    })
    await before
    const rejected = await writeRejections(batch, rejectedFile, rejections)
    addCounts(taken, { read: batch.length, inserted, changed, skipped, rejected, notes })
    // Behind the second batch, the fourth, the eighth …: a table doubles no sooner.
    if (++batches > 1 && Number.isInteger(Math.log2(batches)) && !dryRun) await analyzeGrownTables(db)
    lastLine = batch.at(-1)?.line.number ?? lastLine
    await onBatch?.(lastLine)
  }
  // The next batch is read, and what it names looked up, while the database is busy with the last one, and where they have nothing in common
  // with the one before that as well; never more, so that the later line of two wins.
  let [earlier, last] = [Promise.resolve(), Promise.resolve()]
  try {
    for await (const batch of untilStopped(sheet.batches ?? batchesOf(sheet, type), signal)) {
      const coming = prepare(batch)
      await earlier
      const isBeside = await isApart(coming.prepared)
      if (!isBeside) await last
      if (signal?.aborted) break
      ;[earlier, last] = [last, put(coming, last, isBeside)]
      handleLater(last)
    }
    await earlier
    await last
    const left = { ...(await rejectedFile?.end()), rejections: rejections.list() }
    return signal?.aborted ? { ...left, stoppedAfter: lastLine } : left
  } catch (error) {
    await Promise.allSettled([earlier, last])
    await rejectedFile?.discard()
    throw error
  }
}

/** Makes what tells, batch by batch, whether one may go in beside the one before it: they claim nothing in common. */
function apartFrom(claims: ImportType['apart']) {
  let before = new Set<string>()
  return async (prepared: Promise<Prepared>) => {
    if (!claims) return false
    const { inputs } = await prepared
    const its = new Set(inputs.flatMap(input => (input instanceof RowError ? [] : claims(input))))
    const isApart = its.isDisjointFrom(before)
    before = its
    return isApart
  }
}

/** What comes until the signal, also where the next one is long in coming. */
async function* untilStopped<T>(items: AsyncGenerator<T>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  const stopped = Promise.withResolvers<undefined>()
  const stop = () => stopped.resolve(undefined)
  signal?.addEventListener('abort', stop)
  try {
    while (!signal?.aborted) {
      const coming = items.next()
      handleLater(coming)
      const next = await Promise.race([coming, stopped.promise])
      if (!next || next.done) return
      yield next.value
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    void ignoreError(items.return(undefined), 'import source was already closed')
  }
}

/** Refuses each line of a record of which one is rejected. */
function rejectIncompleteRecords(
  batch: readonly ValidatedRow[],
  { whole }: ImportType,
  recordOf: ReturnType<typeof recordsBy>,
) {
  if (!whole || !recordOf) return
  const rejected = new Set(batch.filter(({ reasons }) => reasons).map(recordOf))
  for (const judged of batch) {
    if (!judged.row || !rejected.has(recordOf(judged))) continue
    judged.reasons = [whole]
    delete judged.row
  }
}

/** Writes out the rejected lines of a batch, in their order, and counts them. */
async function writeRejections(
  batch: readonly ValidatedRow[],
  rejectedFile: RejectedFile | undefined,
  rejections: ReturnType<typeof countRejections>,
) {
  let rejected = 0
  for (const { line, reasons } of batch) {
    if (!reasons) continue
    rejected++
    rejections.add(line, reasons)
    await rejectedFile?.add(line, reasons)
  }
  return rejected
}
