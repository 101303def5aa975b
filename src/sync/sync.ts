import type { Database } from '../database/db.ts'
import { DatabaseUnavailable } from '../database/errors.ts'
import { PlatformFailure } from '../domain/ecommerce/platform-failure.ts'
import type { ReferenceKey, Refresh, SyncBatch, SyncDefinition, SyncEnd, SyncRequest } from '../domain/sync/port.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'
import { note } from '../import/pipeline/counts.ts'
import { findSkusWithPriceChanges } from '../store/catalog/price-changes.ts'
import { findUnknownReferences } from '../store/catalog/references.ts'
import { findStoresById } from '../store/catalog/stores.ts'
import { readDatabaseTime } from '../store/lists/change-timestamp.ts'
import { findOpenOrders } from '../store/sync/open-orders.ts'
import { findOpenReturns } from '../store/sync/open-returns.ts'
import { addAllRefreshes, findDueRefreshes, markStaleRefreshes } from '../store/sync/refreshes.ts'
import { removeUnseen } from '../store/sync/remove-unseen.ts'
import { beginRun, leaseLost, type SyncLease } from '../store/sync/runs.ts'
import {
  analyzeSeen,
  completeSync,
  countSeen,
  failSync,
  heartbeat,
  leaseSync,
  type RunCounts,
} from '../store/sync/sync.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import { type Run, storeBatch } from './batches.ts'
import { chooseSyncMode } from './sync-mode.ts'

export interface SyncOptions {
  /** Runs a full sync. */
  full?: boolean
  /** Stops the run. The next one repeats its work. */
  signal?: AbortSignal
  onProgress?: (counts: Readonly<RunCounts>) => void
}

export interface SyncResult extends RunCounts {
  isFull: boolean
  /** True if the sync requested nothing from its source (`SyncEnd`): the data is as old as before. */
  isIdle: boolean
  /** The failed full syncs in a row, if a full sync is due but waits after a failure. This run fetched changes only. */
  fullFailures?: number
  /** The seconds until that full sync is tried again. */
  fullRetrySeconds?: number
}

/** Several heartbeats fit into the 60 s after which a lease ends. */
const heartbeatIntervalMs = 15_000
const missedFullSync = 'failed full syncs, so this run fetched changes only'
/** Maximum number of refreshes of an incremental run. */
const maxRefreshes = 5_000

/**
 * Runs one sync: leases it, reads from the back office, and stores what changed since the checkpoint, or everything in a full sync.
 * Returns undefined if another run has the lease.
 *
 * The checkpoint moves only after everything is stored. If a run fails or is killed, the next run repeats it, and doesn't change rows that
 * are already stored. A completed full sync removes the records that it has not seen (`removeUnseen`).
 */
export async function runSync(
  db: Database,
  service: Service,
  sync: SyncDefinition,
  { full = false, signal, onProgress = () => {} }: SyncOptions = {},
): Promise<SyncResult | undefined> {
  const leased = await leaseSync(db, service, sync.name)
  if (!leased) return
  const lease: SyncLease = { sync: sync.name, run: leased.run }
  const counts: RunCounts = {
    read: 0,
    inserted: 0,
    changed: 0,
    removed: 0,
    skipped: 0,
    outdated: 0,
    rejected: 0,
    notes: {},
  }
  const lost = new AbortController()
  const renewLease = async () => {
    if (!(await heartbeat(db, service, lease, counts))) lost.abort(leaseLost())
    lost.signal.throwIfAborted()
    onProgress(counts)
  }
  // One request can take longer than the lease. A lost lease aborts `lost`, which stops the run.
  const timer = setInterval(() => void ignoreError(renewLease(), 'heartbeat is sent again'), heartbeatIntervalMs)
  const { isFull, fullRetrySeconds } = full ? { isFull: true } : chooseSyncMode(sync, leased)
  try {
    await beginRun(db, service, lease, { isFull, origin: sync.origin })
    const runSignal = AbortSignal.any([lost.signal, ...(signal ? [signal] : [])])
    const run: Run = {
      db,
      service,
      sync,
      lease,
      startedAt: await readDatabaseTime(db),
      counts,
      renewLease,
      isFull,
      isRequested: full || leased.requestedAt !== null,
      since: isFull ? undefined : (leased.since ?? undefined),
      signal: runSignal,
      inserted: new Map(),
      loads: new Map(),
    }
    const { since: checkpoint, isIdle = false } = await fetchAndStore(run)
    for (const initialLoad of run.loads.values()) await initialLoad?.end()
    if (fullRetrySeconds !== undefined && !isIdle) note(counts.notes, missedFullSync, leased.fullFailures)
    await completeSync(db, service, lease, {
      since: checkpoint,
      isFull,
      // A run that fetched changes doesn't fulfil a request for a full sync, which stays for the next run.
      requestedAt: leased.isFullRequested && !isFull ? null : leased.requestedAt,
      // An idle run has found that only full syncs are possible.
      fullOnlyIntervalSeconds: isIdle ? sync.fullIntervalSeconds : undefined,
    })
    return {
      ...counts,
      isFull,
      isIdle,
      ...(fullRetrySeconds !== undefined && { fullRetrySeconds, fullFailures: leased.fullFailures }),
    }
  } catch (error) {
    const isStopped = signal?.aborted === true
    const cause = isStopped ? 'The run was stopped.' : describeError(error)
    await ignoreError(
      failSync(db, service, lease, { error: cause, isFull: isFull && !isStopped }),
      'sync lease expires',
    )
    throw error
  } finally {
    clearInterval(timer)
  }
}

function describeError(error: unknown) {
  if (error instanceof ApiError) return `${error.code}: ${error.message}`
  return error instanceof DatabaseUnavailable || error instanceof PlatformFailure ? error.message : 'internal_error'
}

/** Fetches and stores all batches. After a full sync, removes unseen records. */
async function fetchAndStore(run: Run): Promise<SyncEnd> {
  const { isRequested, db, service, sync, lease, counts, renewLease, isFull, since, signal } = run
  let end: SyncEnd = {}
  let isSeenIncomplete = false
  const request: SyncRequest = {
    since,
    settings: service.settings,
    unknownReferences: async (keys: readonly ReferenceKey[]) =>
      keys.length ? findUnknownReferences(db, service, keys) : [],
    skusWithPriceChanges: () => findSkusWithPriceChanges(db, service),
    storeKinds: async ids => new Map((await findStoresById(db, service, ids)).map(({ id, kind }) => [id, kind])),
    openOrders: () => findOpenOrders(db, service, { sync: sync.name, areAllDue: isRequested }),
    openReturns: () => findOpenReturns(db, service),
    now: () => readDatabaseTime(db),
    refreshes: readRefreshes(run),
    signal,
  }
  async function storeAll(batches: AsyncIterable<SyncBatch>) {
    for await (const batch of batches) {
      signal.throwIfAborted()
      const newerIds = await storeBatch(batch, run)
      if (batch.isSeenIncomplete) isSeenIncomplete = true
      end = batch.end ?? end
      await renewLease()
      // Ends, because a record is kept again only if it has also changed after the newer request.
      if (newerIds.length && sync.refetch) await storeAll(sync.refetch(newerIds, request))
    }
  }
  await storeAll(sync.fetch(request))
  if (end.total && (await countSeen(db, service, lease, end.total.list)) < end.total.atLeast)
    throw sync.origin === 'ecommerce'
      ? new PlatformFailure('invalid', 'The platform returned fewer records than it announced.')
      : new ApiError('back_office_error', 'The back office returned fewer records than it announced.')
  if (!isFull || !sync.fullLists) return end
  if (isSeenIncomplete) note(counts.notes, 'some records could not be identified: no record was removed')
  else {
    await analyzeSeen(db)
    for (const list of sync.fullLists) await removeUnseenFrom(list)
  }
  // Stores the notes.
  await renewLease()
  return end

  async function removeUnseenFrom(list: NonNullable<SyncDefinition['fullLists']>[number]) {
    const onRemoved = async (removed: number) => {
      counts.removed += removed
      await renewLease()
    }
    const findExisting = async (ids: readonly string[]) => (await sync.findExisting?.(ids, signal)) ?? []
    const { retained } = await removeUnseen(db, service, { lease, list, findExisting, onRemoved })
    if (retained)
      note(counts.notes, `missing from the ${list} list, but kept because they are more than half of it`, retained)
  }
}

/** Yields the refreshes of this run: all in a full sync, otherwise those that are due or stale. */
async function* readRefreshes({
  db,
  service,
  sync: { name, refreshIntervalSeconds },
  isFull,
}: Run): AsyncGenerator<Refresh> {
  if (refreshIntervalSeconds === undefined) return
  if (isFull) await addAllRefreshes(db, service, name)
  else await markStaleRefreshes(db, service, name, refreshIntervalSeconds, maxRefreshes)
  let count = 0
  for (let after = ''; ; ) {
    const page = await findDueRefreshes(db, service, name, after, 200)
    for (const refresh of page) {
      if (!isFull && count++ >= maxRefreshes) return
      yield refresh
    }
    const last = page.at(-1)
    if (!last) return
    after = last.id
  }
}
