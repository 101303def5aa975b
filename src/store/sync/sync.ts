import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { isLeased } from './lease.ts'
import { type SyncLease, updateLeased } from './runs.ts'

/** The counts of a run so far. `notes`: remarks, and how often. */
export interface RunCounts {
  read: number
  inserted: number
  changed: number
  removed: number
  skipped: number
  /** Always 0 in syncs: the back office decides which record is newer. */
  outdated: number
  rejected: number
  notes: Record<string, number>
}

/** Leases a sync to a new run. Returns undefined if another run has the lease. Deletes the records that earlier runs have seen. */
export async function leaseSync(db: Db, service: Service, sync: string) {
  const leased = await db.row<LeasedSync>(sql`
    insert into sync_state as s (service_id, sync, run, heartbeat_at, started_at) values (${service.id}, ${sync}, gen_random_uuid(), now(), now())
    on conflict (service_id, sync) do update
      set (run, heartbeat_at, started_at, read, inserted, changed, removed, skipped, rejected, notes)
        = (excluded.run, now(), now(), 0, 0, 0, 0, 0, 0, '{}')
      where not ${isLeased}
    returning run, since, extract(epoch from now() - finished_at)::float as "secondsSinceFinished",
              extract(epoch from now() - full_at)::float as "secondsSinceFull",
              requested_at::text as "requestedAt", full_requested as "isFullRequested",
              full_requested and requested_at > full_failed_at as "isFullRequestedAgain",
              full_failures as "fullFailures", full_only_interval as "fullOnlyIntervalSeconds",
              extract(epoch from now() - full_failed_at)::float as "secondsSinceFullFailed"`)
  if (!leased) return
  await db.run(sql`delete from sync_seen where service_id = ${service.id} and sync = ${sync} and run <> ${leased.run}`)
  return leased
}

/** The state of a leased sync before its run. */
interface LeasedSync {
  run: string
  /** The checkpoint, in the driver's own form. Null before the first completed run. */
  since: string | null
  secondsSinceFinished: number | null
  secondsSinceFull: number | null
  requestedAt: string | null
  isFullRequested: boolean
  /** True if the request is later than the last failed full sync. Null if a full sync was requested and none has failed. */
  isFullRequestedAgain: boolean | null
  fullFailures: number
  fullOnlyIntervalSeconds: number | null
  secondsSinceFullFailed: number | null
}

/** Renews the lease and stores the counts. Returns false if another run has taken over. */
export const heartbeat = async (db: Db, service: Service, lease: SyncLease, counts: RunCounts): Promise<boolean> =>
  (await db.run(
    updateLeased(
      service,
      lease,
      sql`(heartbeat_at, read, inserted, changed, removed, skipped, rejected, notes)
        = (now(), ${counts.read}, ${counts.inserted}, ${counts.changed}, ${counts.removed}, ${counts.skipped}, ${counts.rejected}, ${JSON.stringify(counts.notes)}::jsonb)`,
    ),
  )) > 0

interface CompletedRun {
  /** The new checkpoint. Undefined: the checkpoint stays. */
  since: string | undefined
  isFull: boolean
  requestedAt: string | null
  /** The interval between full syncs. Set for an idle run, which read nothing, because the back office can't list changes. */
  fullOnlyIntervalSeconds: number | undefined
}

/**
 * Moves the checkpoint and ends the lease of a completed run. A request that was made during the run stays. An idle run keeps the error of
 * the last failed full sync.
 */
export async function completeSync(
  db: Db,
  service: Service,
  lease: SyncLease,
  { since, isFull, requestedAt, fullOnlyIntervalSeconds }: CompletedRun,
) {
  const isIdle = fullOnlyIntervalSeconds !== undefined
  await db.run(
    updateLeased(
      service,
      lease,
      sql`since = coalesce(${since ?? null}::text, since), full_at = case when ${isFull} then now() else full_at end,
          finished_at = case when ${isIdle} then finished_at else now() end,
          full_only_interval = case when ${isFull} then full_only_interval else ${fullOnlyIntervalSeconds ?? null}::integer end,
          full_failed_at = case when not ${isFull} then full_failed_at end, full_failures = case when ${isFull} then 0 else full_failures end,
          (error, failed_at) = (select error, failed_at where ${isIdle} and full_failures > 0 union all select null, null limit 1),
          run = null, heartbeat_at = null,
          (requested_at, full_requested)
            = (select requested_at, full_requested where requested_at::text is distinct from ${requestedAt}::text union all select null, false limit 1)`,
    ),
  )
  await db.run(sql`delete from sync_seen where ${isOfRun(service, lease)}`)
}

/** Ends the lease of a failed run. The checkpoint stays, so that the next run repeats the work. */
export const failSync = (
  db: Db,
  service: Service,
  lease: SyncLease,
  { error, isFull }: { error: string; isFull: boolean },
) =>
  db.run(
    updateLeased(
      service,
      lease,
      sql`run = null, heartbeat_at = null, error = ${error}, failed_at = now(),
          full_failed_at = case when ${isFull} then now() else full_failed_at end, full_failures = full_failures + ${isFull ? 1 : 0}`,
    ),
  )

/** Records the IDs of a list that the run has seen. Records nothing if the run has lost its lease. */
export const recordSeen = (db: Db, service: Service, { sync, run }: SyncLease, list: string, ids: readonly string[]) =>
  db.run(sql`
    with leased as (select from sync_state where service_id = ${service.id} and sync = ${sync} and run = ${run} for key share)
    insert into sync_seen (service_id, sync, run, list, id)
    select ${service.id}, ${sync}, ${run}, ${list}, id from leased, unnest(${ids}::text[]) id
    on conflict do nothing`)

/** The condition for rows of `sync_seen` of one run. */
export const isOfRun = (service: Service, { sync, run }: SyncLease) =>
  sql`service_id = ${service.id} and sync = ${sync} and run = ${run}`

export const countSeen = async (db: Db, service: Service, lease: SyncLease, list: string) =>
  (
    await db.row<{ count: number }>(
      sql`select count(*)::integer as count from sync_seen where ${isOfRun(service, lease)} and list = ${list}`,
    )
  )?.count ?? 0

/** Updates the planner's statistics of `sync_seen`. Autovacuum would do it a minute later. */
export const analyzeSeen = (db: Db) => db.run(sql`analyze sync_seen`)
