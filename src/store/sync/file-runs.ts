import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { runFields } from './runs.ts'
import type { RunCounts } from './sync.ts'

export interface FileRun {
  importType: string
  id: string
}

/** A reason why lines were rejected, with their count and numbers. */
interface Rejections {
  column: string
  reason: string
  lines: number
  numbers: readonly number[]
  ranges: readonly (readonly [first: number, last: number])[]
}

/** The account that uploaded a file, and the name of the file if the client sent it. */
interface UploadSource {
  username: string
  fileName: string | undefined
}

/** Inserts the row of a run, unless it exists. */
export const beginFileRun = (
  db: Db,
  service: Service,
  { importType, id }: FileRun,
  isDryRun: boolean,
  source?: UploadSource,
) =>
  db.run(sql`
    insert into sync_run (service_id, sync, run_id, origin, is_full, is_dry_run, heartbeat_at, file_name, username)
    values (${service.id}, ${importType}, ${id}, 'file', false, ${isDryRun}, now(), ${source?.fileName ?? null}::text, ${source?.username ?? null}::text)
    on conflict (service_id, sync, run_id) do nothing`)

const setCounts = ({ read, inserted, changed, removed, skipped, outdated, rejected, notes }: RunCounts) => sql`
    (read, inserted, changed, removed, skipped, outdated, rejected, notes)
  = (${read}, ${inserted}, ${changed}, ${removed}, ${skipped}, ${outdated}, ${rejected}, ${JSON.stringify(notes)}::jsonb)`

/** Stores the counts so far, which is also the run's heartbeat. Returns undefined if the run has ended. */
export const updateFileRun = (db: Db, service: Service, { importType, id }: FileRun, counts: RunCounts) =>
  db.row<{ isCancelled: boolean }>(sql`
    update sync_run set ${setCounts(counts)}, heartbeat_at = now()
     where service_id = ${service.id} and sync = ${importType} and run_id = ${id} and ended_at is null
    returning cancelled_at is not null as "isCancelled"`)

/** Requests the end of an import. Its process notices within two seconds. A run that has ended stays as it is. */
export const cancelFileRun = (db: Db, service: Service, id: string) =>
  db.run(sql`
    update sync_run set cancelled_at = now()
     where service_id = ${service.id} and run_id = ${id} and origin = 'file' and ended_at is null and cancelled_at is null`)

/**
 * Ends a run. `error` is the cause if the end of the file was not reached. The counts are stored in the same statement: an `updateFileRun` that
 * is still waiting for a connection must not replace them.
 */
export const endFileRun = (
  db: Db,
  service: Service,
  { importType, id }: FileRun,
  counts: RunCounts,
  { error, rejections }: { error: string | undefined; rejections: readonly Rejections[] },
) =>
  db.run(sql`
    update sync_run set ${setCounts(counts)}, (error, rejections, ended_at) = (${error?.slice(0, 500) ?? null}::text, ${JSON.stringify(rejections)}::json, now())
     where service_id = ${service.id} and sync = ${importType} and run_id = ${id}`)

/** Returns the record (`Import`) of an import as JSON. */
export const findImportRecord = (db: Db, service: Service, id: string) =>
  db.row<{ importType: string; record: string }>(sql`
    select sync as "importType",
           (select row_to_json(r)::text from (select ${runFields}, sync_run.sync as type, is_dry_run as "dryRun") r) as record
      from sync_run where service_id = ${service.id} and run_id = ${id} and origin = 'file'`)

/** Returns the reasons for rejected lines (`RejectedLines[]`), most frequent first, as JSON. */
export const findRejectionsRecord = (db: Db, service: Service, id: string) =>
  db.row<{ importType: string; record: string }>(sql`
    select sync as "importType", coalesce(rejections::text, '[]') as record
      from sync_run where service_id = ${service.id} and run_id = ${id} and origin = 'file'`)

const maxListedRuns = 200

/** Returns the newest imports of all types, newest first, as a JSON array. */
export const renderFileRuns = (db: Db, service: Service) =>
  db.row<{ record: string }>(sql`
    select coalesce(json_agg(r order by r."startedAt" desc), '[]')::text as record
      from (select ${runFields}, sync_run.file_name as "fileName", sync_run.username
              from sync_run
             where service_id = ${service.id} and origin = 'file' and not is_dry_run
             order by changed_at desc
             limit ${maxListedRuns}) r`)
