import type { Database } from '../database/db.ts'
import type { SyncBatch, SyncDefinition, SyncRows, SyncRowType } from '../domain/sync/port.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { addCounts, note } from '../import/pipeline/counts.ts'
import { ingest } from '../import/pipeline/ingest-rows.ts'
import type { Violation } from '../import/pipeline/violations.ts'
import type { StaleRowGuard } from '../store/customers/customers.ts'
import type { List } from '../store/lists/change-timestamp.ts'
import { beginInitialLoad, type InitialLoad } from '../store/lists/initial-load.ts'
import { analyzeGrownTables } from '../store/lists/statistics.ts'
import { removeRewardAccounts } from '../store/rewards/removal.ts'
import { recordPolledReturn } from '../store/sync/open-returns.ts'
import { addRefreshes, recordDirectRead, recordRefresh } from '../store/sync/refreshes.ts'
import type { SyncLease } from '../store/sync/runs.ts'
import { type RunCounts, recordSeen } from '../store/sync/sync.ts'
import { createSyncContext, ingestions, type SyncIngestion } from './ingest.ts'

const rowsPerTransaction = 1_000

/** Seconds until a refresh with a rejected row is repeated: the record that the row contradicts may have changed by then. */
const rejectedRefreshRetrySeconds = 3_600

export interface Run {
  db: Database
  service: Service
  sync: SyncDefinition
  lease: SyncLease
  /** Time of the database before the first request. */
  startedAt: string
  counts: RunCounts
  /** Renews the lease and stores the counts. Throws if another run has taken over. */
  renewLease(): Promise<void>
  isFull: boolean
  /** True if an operator has requested the run: everything is due. */
  isRequested: boolean
  /** The checkpoint of the last run. Undefined in a full sync, and if there is no checkpoint. */
  since: string | undefined
  signal: AbortSignal
  /** New rows of each type, and their number at the last update of the planner's statistics. */
  inserted: Map<SyncRowType, { rows: number; analyzed: number }>
  /** The lists that have received rows, with their initial load if it is one. */
  loads: Map<List, InitialLoad | undefined>
}

/**
 * Stores a batch in several transactions. If the process dies between them, the next run stores the batch again. Returns the IDs of
 * records that were not overwritten, because they have changed in Tillbridge since the batch was requested.
 */
export async function storeBatch(batch: SyncBatch, run: Run): Promise<string[]> {
  const {
    rows = {},
    seen = [],
    rejected = [],
    removedAccounts = [],
    dueRefreshes = [],
    completedRefresh,
    polledCustomer,
    polledReturn,
    requestedAt,
  } = batch
  const { db, service, sync, lease, counts } = run
  const newerIds = new Set<string>()
  const guard = requestedAt === undefined ? undefined : { requestedAt, onNewer: (id: string) => newerIds.add(id) }
  if (removedAccounts.length) counts.removed += await removeRewardAccounts(db, service, removedAccounts)
  let rejectedRows = 0
  for (const type of Object.keys(ingestions) as SyncRowType[])
    rejectedRows += await storeRows(type, rows[type] ?? [], run, guard)
  for (const { list, ids } of seen) await recordSeen(db, service, lease, list, ids)
  for (const { sync: other, due } of dueRefreshes) if (due.length) await addRefreshes(db, service, other, due)
  if (completedRefresh) {
    // An unreadable record (`rejected`) would be the same in an hour, so it waits for the usual interval. A rejected row can be stored once
    // another record has changed, so it is refreshed earlier. In both cases, `readAt` is not set, because the stored data is incomplete.
    const isComplete = !rejected.length && !rejectedRows
    const { refreshIntervalSeconds = 0 } = sync
    await recordRefresh(db, service, sync.name, completedRefresh, {
      readAt: isComplete ? completedRefresh.at : undefined,
      earlierBySeconds: rejectedRows ? Math.max(0, refreshIntervalSeconds - rejectedRefreshRetrySeconds) : 0,
    })
  }
  if (polledCustomer) await recordDirectRead(db, service, sync.name, polledCustomer)
  if (polledReturn !== undefined) await recordPolledReturn(db, service, polledReturn)
  counts.read += rejected.length
  counts.rejected += rejected.length
  for (const reason of rejected) note(counts.notes, reason)
  return [...newerIds]
}

/** Stores the rows of one type. Returns the number of rejected rows. */
async function storeRows<K extends SyncRowType>(
  type: K,
  rows: readonly SyncRows[K][],
  run: Run,
  guard?: StaleRowGuard,
): Promise<number> {
  const { db, service, lease, startedAt, counts, inserted, loads } = run
  if (!rows.length) return 0
  const ingestion: SyncIngestion<K> = ingestions[type]
  const { seen, list, writeUnlessNewer, write } = ingestion
  const context = createSyncContext(lease.run, startedAt)
  if (list && !loads.has(list)) loads.set(list, await beginInitialLoad(db, service, list))
  const reject = (_at: number, { note: remark }: Violation, isCorrected: boolean) =>
    note(counts.notes, `${remark}: ${isCorrected ? 'kept without it' : 'rejected'}`)
  const { inputs, ...ingested } = await ingest(rows, {
    db,
    service,
    ingestion: {
      ...ingestion,
      write:
        guard && writeUnlessNewer
          ? (database, owner, rowInputs) => writeUnlessNewer(database, owner, rowInputs, guard, context)
          : write,
    },
    context,
    rowsPerTransaction,
    retryRejected: true,
    reject,
  })
  addCounts(counts, ingested)
  if (seen) await recordSeen(db, service, lease, seen.list, inputs.map(seen.getId))
  const { rows: before, analyzed } = inserted.get(type) ?? { rows: 0, analyzed: 0 }
  const total = before + ingested.inserted
  // Analyze after the first rows, and each time their number has doubled: with old statistics, writing a few rows can read complete tables.
  const isAnalyzed = total > 0 && total >= 2 * analyzed
  inserted.set(type, { rows: total, analyzed: isAnalyzed ? total : analyzed })
  if (isAnalyzed) await analyzeGrownTables(db)
  return ingested.rejected
}
