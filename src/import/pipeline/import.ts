import type { Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { withInitialLoad } from '../../store/lists/initial-load.ts'
import type { WriteContext } from '../../store/lists/outdated.ts'
import { analyzeGrownTables } from '../../store/lists/statistics.ts'
import { handleLater, ignoreError } from '../../telemetry/ignored-errors.ts'
import { createRecordKey, splitIntoBatches } from './batches.ts'
import { addCounts, type ImportCounts, note } from './counts.ts'
import { createDryRun } from './dry-run.ts'
import type { ImportType } from './import-type.ts'
import type { Prepared } from './ingest.ts'
import { ingestPrepared } from './ingest-rows.ts'
import { countRejections, type Rejection } from './rejections.ts'
import { RowError } from './row-error.ts'
import type { Line, Sheet, ValidatedRow } from './sheet.ts'
import type { Violation } from './violations.ts'

/** Receives rejected lines, which can be corrected and imported again. */
export interface RejectedFile {
  add(line: Line, errors: readonly RowError[]): Promise<void>
  /** Completes the file. If no line was rejected, deletes the file of an earlier import. */
  end(): Promise<Pick<ImportResult, 'rejectedPath' | 'edited'>>
  /** Writes buffered lines, so that they survive a crash. */
  flush(): Promise<void>
  /** Called if the import failed: deletes the lines, or keeps them if the import can be resumed. */
  discard(): Promise<void>
}

export interface ImportResult {
  /** The file of the rejected lines. */
  rejectedPath?: string
  /** An edited file of an earlier import's rejected lines, which was kept. */
  edited?: string
  /** The last processed line, if the import was stopped. */
  stoppedAfter?: number
  /** The reasons for rejected lines. */
  rejections: readonly Rejection[]
}

interface Importing {
  db: Database
  service: Service
  type: ImportType
  context: WriteContext
  /** Required for import types with secrets. */
  keys?: Keys | undefined
  /** Store the second customer with an email address without it, instead of rejecting the line. */
  clearSharedEmail?: boolean | undefined
  /** Called with the inputs of each batch, if the file is complete. */
  onInputs?: ((inputs: readonly object[]) => void) | undefined
  /** Roll each batch back. */
  dryRun?: boolean
  rejectedFile: RejectedFile | undefined
  /** Called after each batch with its last line. The next batch waits for it. */
  onBatch?: (line: number) => Promise<void> | void
  /** True if `onBatch` can stop the import: batches are then imported one at a time. */
  canStop?: boolean
  /** Stops the import after the current batches. */
  signal?: AbortSignal | undefined
}

/** Imports the lines of a sheet, and keeps `counts` up to date. If it throws, the lines imported until then stay. */
export function importSheet(sheet: Sheet, importing: Importing, counts: ImportCounts): Promise<ImportResult> {
  const { db, service, type, dryRun } = importing
  const run = (isInitialLoad = false) => importBatches(sheet, { ...importing, isInitialLoad }, counts)
  return dryRun || !type.list ? run() : withInitialLoad(db, service, type.list, run)
}

const clearedEmail = { customer_email: 'email' }

/** A batch that waits for the previous ones while its look-ups run. */
interface PendingBatch {
  batch: readonly ValidatedRow[]
  valid: readonly ValidatedRow[]
  prepared: Promise<Prepared>
}

async function importBatches(
  sheet: Sheet,
  importing: Importing & { isInitialLoad: boolean },
  counts: ImportCounts,
): Promise<ImportResult> {
  const {
    db,
    service,
    type,
    keys,
    dryRun = false,
    rejectedFile,
    context,
    onBatch,
    canStop,
    signal,
    isInitialLoad,
    onInputs,
  } = importing
  const ingestion = importing.clearSharedEmail ? { ...type, clears: clearedEmail } : type
  const rehearsal = dryRun ? createDryRun(db, service, ingestion, context) : undefined
  let lastLine = 0
  let batches = 0
  const rejections = countRejections(sheet.fields)
  const getRecordKey = createRecordKey(sheet.fields, type)
  const prepare = (batch: readonly ValidatedRow[]): PendingBatch => {
    rejectIncompleteRecords(batch, type, getRecordKey)
    const valid = batch.filter(({ row }) => row)
    const rows = valid.map(({ row = {} }) => row)
    const prepared = type.prepare(db, service, rows, keys)
    handleLater(prepared)
    return { batch, valid, prepared }
  }
  const isDisjoint = createOverlapCheck(isInitialLoad && !canStop ? type.claims : undefined)
  /** Imports a batch. The previous one can still be in progress. */
  const importBatch = async ({ batch, valid, prepared }: PendingBatch, previous: Promise<void>) => {
    const reject = (at: number, { toRowError, note: remark }: Violation, isCorrected: boolean) => {
      const validated = valid[at]
      if (isCorrected) note(counts.notes, `${remark}: stored without it`)
      else if (validated?.row) validated.errors = [toRowError(validated.row)]
    }
    const rows = await prepared
    // The previous batch, or a later line of this one, may release a unique value that a row needs.
    const write = (batchDb: Database) =>
      ingestPrepared(rows, { db: batchDb, service, ingestion, context, retry: previous, reject })
    const { inserted, changed, skipped, outdated, notes, inputs } = await (rehearsal
      ? rehearsal.write(rows.inputs, write)
      : write(db))
    await previous
    rehearsal?.remember(
      inputs.filter((_, at) => !valid[at]?.errors),
      counts.notes,
    )
    onInputs?.(inputs.filter(input => !(input instanceof RowError)))
    const rejected = await writeRejections(batch, rejectedFile, rejections)
    for (const { remarks = [] } of batch) for (const remark of remarks) note(counts.notes, remark)
    const noRecords = batch.filter(({ row, errors }) => !row && !errors).length
    addCounts(counts, {
      read: batch.length,
      inserted,
      changed,
      skipped: skipped + noRecords,
      rejected,
      outdated,
      notes,
    })
    // After the second batch, the fourth, the eighth …, because a table can't double sooner.
    if (++batches > 1 && Number.isInteger(Math.log2(batches)) && !dryRun) await analyzeGrownTables(db)
    lastLine = batch.at(-1)?.line.number ?? lastLine
    await onBatch?.(lastLine)
  }
  // While one batch is written, the next one is read and prepared. In an initial load, two batches without common claims are written at a
  // time. Never more, so that the later of two lines wins.
  let [earlier, last] = [Promise.resolve(), Promise.resolve()]
  try {
    for await (const batch of takeUntilStopped(sheet.batches ?? splitIntoBatches(sheet, type), signal)) {
      const pending = prepare(batch)
      await earlier
      const isConcurrent = await isDisjoint(pending.prepared)
      if (!isConcurrent) await last
      if (signal?.aborted) break
      ;[earlier, last] = [last, importBatch(pending, last)]
      handleLater(last)
    }
    await earlier
    await last
    const result = { ...(await rejectedFile?.end()), rejections: rejections.list() }
    return signal?.aborted ? { ...result, stoppedAfter: lastLine } : result
  } catch (error) {
    await Promise.allSettled([earlier, last])
    await rejectedFile?.discard()
    throw error
  }
}

/** Returns a function that is called for each batch. It returns true if the batch has no claims in common with the previous one. */
function createOverlapCheck(claims: ImportType['claims']) {
  let previous = new Set<string>()
  return async (prepared: Promise<Prepared>) => {
    if (!claims) return false
    const { inputs } = await prepared
    const current = new Set(inputs.flatMap(input => (input instanceof RowError ? [] : claims(input))))
    const isDisjoint = current.isDisjointFrom(previous)
    previous = current
    return isDisjoint
  }
}

/** Yields items until the signal, without waiting for a slow next item. */
async function* takeUntilStopped<T>(items: AsyncGenerator<T>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  const stopped = Promise.withResolvers<undefined>()
  const stop = () => stopped.resolve(undefined)
  signal?.addEventListener('abort', stop)
  try {
    while (!signal?.aborted) {
      const nextItem = items.next()
      handleLater(nextItem)
      const next = await Promise.race([nextItem, stopped.promise])
      if (!next || next.done) return
      yield next.value
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    void ignoreError(items.return(undefined), 'import source was already closed')
  }
}

/** Rejects all lines of a record if one of them is rejected. */
function rejectIncompleteRecords(
  batch: readonly ValidatedRow[],
  { rejectedWithRecord }: ImportType,
  getRecordKey: ReturnType<typeof createRecordKey>,
) {
  if (!rejectedWithRecord || !getRecordKey) return
  const rejected = new Set(batch.filter(({ errors }) => errors).map(getRecordKey))
  for (const validated of batch) {
    if (!validated.row || !rejected.has(getRecordKey(validated))) continue
    validated.errors = [rejectedWithRecord]
    delete validated.row
  }
}

/** Writes and counts the rejected lines of a batch in their order. */
async function writeRejections(
  batch: readonly ValidatedRow[],
  rejectedFile: RejectedFile | undefined,
  rejections: ReturnType<typeof countRejections>,
) {
  let rejected = 0
  for (const { line, errors } of batch) {
    if (!errors) continue
    rejected++
    rejections.add(line, errors)
    await rejectedFile?.add(line, errors)
  }
  return rejected
}
