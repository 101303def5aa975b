import type { SyncDefinition } from '../domain/sync/port.ts'

/** The history of a sync when a run begins. */
interface SyncHistory {
  since: string | null
  secondsSinceFinished: number | null
  secondsSinceFull: number | null
  isFullRequested: boolean
  /** True if the request is later than the last failed full sync. */
  isFullRequestedAgain: boolean | null
  /** Failed full syncs in a row. */
  fullFailures: number
  secondsSinceFullFailed: number | null
  /** Set if an earlier run found that only full syncs are possible. */
  fullOnlyIntervalSeconds: number | null
}

const minute = 60
/** Seconds from a failed full sync to the next attempt. The last delay repeats. */
const fullRetryDelays = [15, 30, 60, 120, 240].map(minutes => minutes * minute)

/**
 * Returns whether a run is a full sync. If a full sync is due but has just failed, changes are synced until its next attempt, so that one
 * list that can't be read completely doesn't stop all updates. `fullRetrySeconds` is then the time until that attempt.
 */
export function chooseSyncMode(
  sync: SyncDefinition,
  history: SyncHistory,
): { isFull: boolean; fullRetrySeconds?: number } {
  if (!history.isFullRequested && !isFullSyncDue(sync, history)) return { isFull: false }
  const delay = fullRetryDelays[Math.min(history.fullFailures, fullRetryDelays.length) - 1] ?? 0
  const remaining = delay - (history.secondsSinceFullFailed ?? Number.POSITIVE_INFINITY)
  return remaining > 0 &&
    !history.isFullRequestedAgain &&
    history.fullOnlyIntervalSeconds === null &&
    canFetchChanges(sync, history)
    ? { isFull: false, fullRetrySeconds: remaining }
    : { isFull: true }
}

function isFullSyncDue(sync: SyncDefinition, history: SyncHistory): boolean {
  if (sync.refreshIntervalSeconds !== undefined) return false
  if (!canFetchChanges(sync, history)) return true
  return (history.secondsSinceFull ?? Number.POSITIVE_INFINITY) >= (sync.fullIntervalSeconds ?? 0)
}

/** True if the back office can list the changes since the checkpoint. */
const canFetchChanges = (
  { fullIntervalSeconds, maxLookbackSeconds }: SyncDefinition,
  { since, secondsSinceFinished }: SyncHistory,
) =>
  fullIntervalSeconds !== undefined &&
  since !== null &&
  (maxLookbackSeconds === undefined || (secondsSinceFinished ?? Number.POSITIVE_INFINITY) < maxLookbackSeconds)
