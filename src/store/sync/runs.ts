import { type Db, type Sql, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { byChangeTimestamp, type PageRequest, readPage } from '../lists/page.ts'
import { isLeased } from './lease.ts'

/** A run's lease of its sync. */
export interface SyncLease {
  sync: string
  run: string
}

/** Inserts the row of a run. A row of the same sync that has no end belongs to a run whose process died, and is ended. */
export async function beginRun(
  db: Db,
  service: Service,
  { sync, run }: SyncLease,
  { isFull, origin = 'backOffice' }: { isFull: boolean; origin?: 'backOffice' | 'ecommerce' | undefined },
): Promise<void> {
  await db.run(sql`
    update sync_run set ended_at = now(), error = 'The process of this run ended. The next run repeated its work.'
     where service_id = ${service.id} and sync = ${sync} and origin <> 'file' and ended_at is null`)
  await db.run(sql`
    insert into sync_run (service_id, sync, run_id, is_full, origin) values (${service.id}, ${sync}, ${run}, ${isFull}, ${origin})`)
}

/** Creates the error of a run whose lease another run has taken over. */
export const leaseLost = () => new Error('The lease of this sync was lost: another run has taken over.')

/** Keeps the lease until the transaction ends. Throws if another run has it. */
export async function keepLease(tx: Db, service: Service, { sync, run }: SyncLease): Promise<void> {
  const lockedRows = await tx.run(
    sql`select from sync_state where service_id = ${service.id} and sync = ${sync} and run = ${run} for share`,
  )
  if (!lockedRows) throw leaseLost()
}

/** Updates the state of a leased sync and, with it, the row of its run. Updates nothing if another run has the lease. */
export const updateLeased = (service: Service, { sync, run }: SyncLease, set: Sql): Sql => sql`
  with s as (update sync_state set ${set} where service_id = ${service.id} and sync = ${sync} and run = ${run} returning *)
  update sync_run r
     set (read, inserted, changed, removed, skipped, rejected, notes, error, ended_at)
       = (s.read, s.inserted, s.changed, s.removed, s.skipped, s.rejected, s.notes, case when s.run is null then s.error end, case when s.run is null then now() end)
    from s where r.service_id = s.service_id and r.sync = s.sync and r.run_id = ${run}::text`

/** The fields (`SyncRun`) of a row of `sync_run`. */
export const runFields = sql`
  sync_run.run_id as id, sync_run.sync, sync_run.origin, sync_run.is_full as full,
  case when sync_run.error is not null then 'failed' when sync_run.ended_at is not null then 'ok'
       when sync_run.heartbeat_at >= now() - interval '60 s' then 'running'
       when exists (select from sync_state s where s.service_id = sync_run.service_id and s.sync = sync_run.sync and s.run::text = sync_run.run_id and ${isLeased})
       then 'running' else 'interrupted' end as state,
  ${rfc3339(sql`sync_run.changed_at`)} as "startedAt", ${rfc3339(sql`sync_run.ended_at`)} as "endedAt",
  round(extract(epoch from coalesce(sync_run.ended_at, now()) - sync_run.changed_at), 1) as seconds,
  sync_run.read, sync_run.inserted as new, sync_run.changed,
  greatest(0, sync_run.read - sync_run.inserted - sync_run.changed - sync_run.skipped - sync_run.outdated - sync_run.rejected) as unchanged, sync_run.removed,
  sync_run.skipped, sync_run.outdated, sync_run.rejected,
  (select coalesce(json_agg(json_build_object('note', key, 'count', value::bigint) order by value::bigint desc, key), '[]') from jsonb_each_text(sync_run.notes)) as notes,
  sync_run.error as detail`

/** Returns a page of the runs of one sync: newest first, or oldest first in an export. */
export const readRunPage = (db: Db, service: Service, sync: string, page: PageRequest) =>
  readPage(
    db,
    service,
    {
      table: sql`sync_run`,
      record: sql`(select row_to_json(r)::text from (select ${runFields}) r)`,
      order: byChangeTimestamp,
      key: sql`run_id`,
      live: true,
      descending: !page.asLines,
      where: sql`and sync = ${sync} and not is_dry_run`,
    },
    page,
  )

const retentionDays = 30

/** Deletes old runs. Returns their number. */
export const purgeRuns = (db: Db) =>
  db.run(sql`
    delete from sync_run r using service s
     where r.service_id = s.service_id and r.changed_at < now() - ${retentionDays} * interval '1 day'`)
