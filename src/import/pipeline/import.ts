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
  /** Called if the import failed. Deletes the file, or completes it if the import can be resumed, which doesn't read its lines again. */
  abandon(): Promise<void>
}

export interface ImportResult {
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
  /** If two customers have the same email address, store the second one without an address instead of rejecting its line. */
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
  // Later loads are not concurrent, because their rows can release unique values (`Ingestion.claims`).
  const isDisjoint = createOverlapCheck(isInitialLoad && !canStop ? type.claims : undefined)
  /** Imports a batch. The previous one can still be in progress. */
  const importBatch = async ({ batch, valid, prepared }: PendingBatch, previous: Promise<void>) => {
    const reject = (at: number, { toRowError, note: remark }: Violation, isCorrected: boolean) => {
      const validated = valid[at]
      if (isCorrected) note(counts.notes, `${remark}: stored without it`)
      else if (validated?.row) validated.errors = [toRowError(validated.row)]
    }
    const rows = await prepared
    // A rejected row is tried again after its batch and the previous one, because both can release a unique value that the row needs.
    const options = { service, ingestion, context, retryRejected: true, retryAfter: previous, reject }
    const write = (batchDb: Database) => ingestPrepared(rows, { db: batchDb, ...options })
    const { inserted, changed, skipped, outdated, notes, inputs } = await (rehearsal
      ? rehearsal.write(rows.inputs, write)
      : write(db))
    await previous
    // `inputs` has one input per valid row, in their order (`Prepared`).
    rehearsal?.remember(
      inputs.filter((_, at) => !valid[at]?.errors),
      counts.notes,
    )
    rejectReplacedLines(batch)
    onInputs?.(inputs.filter(input => !(input instanceof RowError)))
    const rejected = await writeRejections(batch, rejectedFile, rejections)
    for (const { remarks = [] } of batch) for (const remark of remarks) note(counts.notes, remark)
    const linesWithoutRecord = batch.filter(
      ({ row, errors, replacedBy }) => !row && !errors && replacedBy === undefined,
    ).length
    addCounts(counts, {
      read: batch.length,
      inserted,
      changed,
      skipped: skipped + linesWithoutRecord,
      rejected,
      outdated,
      notes,
    })
    // Analyze after batch 2, 4, 8 …: in between, no table can have doubled.
    if (++batches > 1 && Number.isInteger(Math.log2(batches)) && !dryRun) await analyzeGrownTables(db)
    lastLine = batch.at(-1)?.line.number ?? lastLine
    await onBatch?.(lastLine)
  }
  // The last two batches. While one is written, the next one is read and prepared. In an initial load, a batch is written at the same time as
  // the last one if they have no claims in common. A third batch waits, because its claims are compared only with the claims of the second,
  // and the later of two lines must win.
  let beforeLast: Promise<void> = Promise.resolve()
  let last: Promise<void> = Promise.resolve()
  try {
    for await (const batch of takeUntilStopped(sheet.batches ?? splitIntoBatches(sheet, type), signal)) {
      const pending = prepare(batch)
      await beforeLast
      const isConcurrent = await isDisjoint(pending.prepared)
      if (!isConcurrent) await last
      if (signal?.aborted) break
      beforeLast = last
      last = importBatch(pending, last)
      handleLater(last)
    }
    await beforeLast
    await last
    const result = { ...(await rejectedFile?.end()), rejections: rejections.list() }
    return signal?.aborted ? { ...result, stoppedAfter: lastLine } : result
  } catch (error) {
    await Promise.allSettled([beforeLast, last])
    await rejectedFile?.abandon()
    throw error
  }
}

/** Returns a function that is called for each batch. It returns true if the batch has no claims in common with the previous one. */
function createOverlapCheck(claims: ImportType['claims']) {
  let previousClaims = new Set<string>()
  return async (prepared: Promise<Prepared>) => {
    if (!claims) return false
    const { inputs } = await prepared
    const current = new Set(inputs.flatMap(input => (input instanceof RowError ? [] : claims(input))))
    const isDisjoint = current.isDisjointFrom(previousClaims)
    previousClaims = current
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
  { incompleteRecordError }: ImportType,
  getRecordKey: ReturnType<typeof createRecordKey>,
) {
  if (!incompleteRecordError || !getRecordKey) return
  const rejected = new Set(batch.filter(({ errors }) => errors).map(getRecordKey))
  for (const validated of batch) {
    if (!validated.row || !rejected.has(getRecordKey(validated))) continue
    validated.errors = [incompleteRecordError]
    delete validated.row
  }
}

const replacedByRejected = new RowError(
  'A later line with the same key replaces this line, but is rejected. Correct the later line.',
)

/** Rejects lines whose later line with the same key is rejected: otherwise, they would be lost without a trace. */
function rejectReplacedLines(batch: readonly ValidatedRow[]) {
  for (const validated of batch.toReversed()) {
    const { replacedBy } = validated
    if (replacedBy !== undefined && batch[replacedBy]?.errors) validated.errors = [replacedByRejected]
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
