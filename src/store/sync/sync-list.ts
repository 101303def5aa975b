import { type Db, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import { platformSyncs } from '../../domain/ecommerce/connection-settings.ts'
import type { SyncDefinition } from '../../domain/sync/port.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { addJob } from '../jobs/jobs.ts'
import { isLeased } from './lease.ts'
import { runFields } from './runs.ts'
import { syncJob } from './status.ts'

type ScheduledSync = Pick<SyncDefinition, 'name' | 'intervalSeconds'>

/**
 * Returns the records (`Sync`) of a service as one JSON array: the syncs of the driver in its order, then the import types of which a file
 * has been imported. A file that was imported after the service got another back office replaces the error of the previous one.
 * Aliases: `listed` has the names, `s` the state of the sync, `j` its job, and `last` its newest run. `schedule` has the seconds between two
 * runs, `synced` the end and the error of the last completed run or file.
 */
export async function renderSyncs(
  db: Db,
  service: Service,
  scheduled: readonly ScheduledSync[],
  importTypes: readonly string[],
) {
  const row = await db.row<{ records: string }>(sql`
    with listed as (
      select name, max(interval_seconds) as interval_seconds, min(position) as position, bool_or(scheduled) as scheduled from (
        select name, "intervalSeconds" as interval_seconds, position::integer, true as scheduled
          from rows from (json_to_recordset(${JSON.stringify(scheduled)}) as (name text, "intervalSeconds" integer)) with ordinality p (name, "intervalSeconds", position)
        union all select sync, null, null, true from sync_state where service_id = ${service.id}
        union all
        select type, null, null, false from unnest(${importTypes}::text[]) type
         where exists (select from sync_run where service_id = ${service.id} and sync = type and origin = 'file' and not is_dry_run)) named
       group by name)
    select coalesce(json_agg(r order by position nulls last, listed.name), '[]')::text as records
      from listed
      left join sync_state s on s.service_id = ${service.id} and s.sync = listed.name
      left join job j on j.service_id = ${service.id} and j.name = ${syncJob} and j.subject = listed.name
      left join lateral (
        select row_to_json(r) as run, changed_at, ended_at, error, sync_run.origin
          from sync_run cross join lateral (select ${runFields}) r
         where sync_run.service_id = ${service.id} and sync_run.sync = listed.name and not is_dry_run order by changed_at desc, run_id desc limit 1) last on true
     cross join lateral (
       select greatest(listed.interval_seconds, case when listed.interval_seconds is not null then s.full_only_interval end) as seconds) schedule
     cross join lateral (select case when listed.scheduled then s.finished_at when last.error is null then last.ended_at end as at,
              case when listed.interval_seconds is not null or last.origin is distinct from 'file' then s.error end as sync_error) synced
     cross join lateral (
       select listed.name as sync, case when not listed.scheduled then 'file' when listed.name = any(${[...platformSyncs]}) then 'ecommerce' else 'backOffice' end as origin, schedule.seconds as "intervalSeconds",
              ${rfc3339(sql`synced.at`)} as "syncedAt", ${rfc3339(sql`s.full_at`)} as "lastFullSyncAt",
              floor(extract(epoch from now() - synced.at))::integer as "lagSeconds",
              coalesce(synced.at < now() - 3 * schedule.seconds * interval '1 s', false) as "isOverdue",
              case when ${isLeased} then 'running' when coalesce(synced.sync_error, last.error) is not null then 'failed'
                   when synced.at is not null then 'ok' else 'none' end as state,
              coalesce(synced.sync_error, last.error) as detail, s.requested_at is not null as "isQueued", ${rfc3339(sql`j.due_at`)} as "nextRunAt", last.run as "lastRun") r`)
  return row?.records ?? '[]'
}

/** True if the sync has run, or a file of the import type has been imported. */
export const syncExists = async (db: Db, service: Service, sync: string): Promise<boolean> =>
  (await db.run(sql`
    select from sync_state where service_id = ${service.id} and sync = ${sync}
    union all (select from sync_run where service_id = ${service.id} and sync = ${sync} and not is_dry_run limit 1)`)) >
  0

/** Requests a run of a sync. If a run is in progress, the requested run follows it. */
export async function requestRun(tx: Db, service: Service, sync: string, isFull: boolean): Promise<void> {
  await tx.run(sql`
    insert into sync_state as s (service_id, sync, requested_at, full_requested) values (${service.id}, ${sync}, clock_timestamp(), ${isFull})
    on conflict (service_id, sync) do update set requested_at = excluded.requested_at, full_requested = s.full_requested or excluded.full_requested`)
  await addJob(tx, service.id, syncJob, { subject: sync })
}
