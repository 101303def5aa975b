import { type Db, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { isLeased } from './lease.ts'

/** The state of one sync of a service. Instants are RFC 3339. */
export interface SyncStatus {
  sync: string
  /** The end of the last completed run. */
  syncedAt: string | null
  lagSeconds: number | null
  lastResult: 'ok' | 'failed' | 'running' | 'none'
  nextRunAt: string | null
  /** Set if only full syncs are possible: the interval between them (`sync_state.full_only_interval`). */
  fullOnlyIntervalSeconds: number | null
}

/** The name of the job that runs one sync of one service. Its subject is the sync. */
export const syncJob = 'run-sync'

/** True if the data is more than three intervals old. */
export const isOverdue = (lagSeconds: number, intervalSeconds: number) => lagSeconds > 3 * intervalSeconds

/** The longer of the schedule's interval and the interval between full syncs, if only full syncs are possible. */
export const computeEffectiveInterval = (intervalSeconds: number, fullOnlyIntervalSeconds: number | null) =>
  Math.max(intervalSeconds, fullOnlyIntervalSeconds ?? 0)

/** Returns the status of every sync that has run or is scheduled. Empty if the service's back office has none. */
export const readSyncStatuses = (db: Db, service: Service) =>
  db.rows<SyncStatus>(sql`
    select known.sync, ${rfc3339(sql`s.finished_at`)} as "syncedAt", floor(extract(epoch from now() - s.finished_at))::integer as "lagSeconds",
           case when ${isLeased} then 'running' when s.error is not null then 'failed'
                when s.finished_at is not null then 'ok' else 'none' end as "lastResult",
           ${rfc3339(sql`j.due_at`)} as "nextRunAt", s.full_only_interval as "fullOnlyIntervalSeconds"
      from (select sync from sync_state where service_id = ${service.id}
             union select subject from job where service_id = ${service.id} and name = ${syncJob}) known
      left join sync_state s on s.service_id = ${service.id} and s.sync = known.sync
      left join job j on j.service_id = ${service.id} and j.name = ${syncJob} and j.subject = known.sync
     order by known.sync`)

/** Returns, by service ID and sync, the end of the last completed run. */
export async function readFinishedAt(db: Db): Promise<Map<number, Map<string, string>>> {
  const rows = await db.rows<{ serviceId: number; sync: string; at: string }>(sql`
    select service_id as "serviceId", sync, ${rfc3339(sql`finished_at`)} as at from sync_state where finished_at is not null`)
  const byService = new Map<number, Map<string, string>>()
  for (const { serviceId, sync, at } of rows) {
    const syncs = byService.get(serviceId) ?? new Map<string, string>()
    byService.set(serviceId, syncs.set(sync, at))
  }
  return byService
}

/**
 * Records the back office that a service is synced from. If it is another one than before, deletes the checkpoints of the previous one,
 * so that everything is read again. Returns true if checkpoints were deleted.
 */
export async function recordSource(tx: Db, service: Service, source: string): Promise<boolean> {
  const changed = await tx.run(sql`
    insert into sync_source as s (service_id, source) values (${service.id}, ${source})
    on conflict (service_id) do update set source = excluded.source where s.source <> excluded.source`)
  if (!changed) return false
  const deleted = await resetSyncs(tx, service)
  return deleted > 0
}

/** Returns the services that were synced from the back office of the environment, and its driver. */
export const findSyncedByEnvironment = (db: Db) =>
  db.rows<{ service: string; driver: string }>(sql`
    select name as service, split_part(source, ' ', 1) as driver from sync_source join service using (service_id)
     where not exists (select from back_office b where b.service_id = sync_source.service_id) order by name`)

/** Deletes the checkpoints and the pending refreshes of a service. Returns the number of checkpoints. */
async function resetSyncs(tx: Db, service: Service): Promise<number> {
  await tx.run(sql`delete from sync_refresh where service_id = ${service.id}`)
  return tx.run(sql`delete from sync_state where service_id = ${service.id}`)
}
