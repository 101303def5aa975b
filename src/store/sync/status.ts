import { type Db, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import { platformSyncs } from '../../domain/ecommerce/connection-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { correctTimes } from './correct-times.ts'
import { isLeased } from './lease.ts'

/** The state of one sync of a service. Instants are RFC 3339. */
export interface SyncStatus {
  sync: string
  /** The end of the last completed run. */
  syncedAt: string | null
  lagSeconds: number | null
  lastResult: 'ok' | 'failed' | 'running' | 'none'
  /** The error of the last run, if it failed. */
  error: string | null
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
    select listed.sync, ${rfc3339(sql`s.finished_at`)} as "syncedAt", floor(extract(epoch from now() - s.finished_at))::integer as "lagSeconds",
           case when ${isLeased} then 'running' when s.error is not null then 'failed'
                when s.finished_at is not null then 'ok' else 'none' end as "lastResult", s.error,
           ${rfc3339(sql`j.due_at`)} as "nextRunAt", s.full_only_interval as "fullOnlyIntervalSeconds"
      from (select sync from sync_state where service_id = ${service.id}
             union select subject from job where service_id = ${service.id} and name = ${syncJob}) listed
      left join sync_state s on s.service_id = ${service.id} and s.sync = listed.sync
      left join job j on j.service_id = ${service.id} and j.name = ${syncJob} and j.subject = listed.sync
     order by listed.sync`)

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

/** The back office that a service is synced from, and the time zone of its local times. */
interface SyncSource {
  source: string
  timeZone: string
}

/**
 * Records the source of a service. If it is another back office than before, or its times are read in another time zone, deletes the
 * checkpoints of its syncs, so that everything is read again. Stored times that were read in the previous time zone are corrected.
 */
export async function recordSource(tx: Db, service: Service, { source, timeZone }: SyncSource): Promise<void> {
  const changed = await tx.row<{ [K in keyof SyncSource]: string | null }>(sql`
    insert into sync_source as s (service_id, source, time_zone) values (${service.id}, ${source}, ${timeZone})
    on conflict (service_id) do update set (source, time_zone) = (excluded.source, excluded.time_zone)
      where (s.source, s.time_zone) is distinct from (excluded.source, excluded.time_zone)
    returning (select source from sync_source where service_id = ${service.id}) as source,
              (select time_zone from sync_source where service_id = ${service.id}) as "timeZone"`)
  if (!changed?.source) return
  await resetSyncs(tx, service)
  if (changed.source === source && changed.timeZone !== null && changed.timeZone !== timeZone)
    await correctTimes(tx, service, { from: changed.timeZone, to: timeZone })
}

/** Returns the services that were synced from the back office of the environment, and its driver. */
export const findSyncedByEnvironment = (db: Db) =>
  db.rows<{ service: string; driver: string }>(sql`
    select name as service, split_part(source, ' ', 1) as driver from sync_source join service using (service_id)
     where not exists (select from back_office b where b.service_id = sync_source.service_id) order by name`)

/** Deletes the checkpoints and the pending refreshes of the back office's syncs. Those of an e-commerce platform stay. */
async function resetSyncs(tx: Db, service: Service): Promise<void> {
  const ofBackOffice = sql`service_id = ${service.id} and sync <> all(${platformSyncs}::text[])`
  await tx.run(sql`delete from sync_refresh where ${ofBackOffice}`)
  await tx.run(sql`delete from sync_state where ${ofBackOffice}`)
}
