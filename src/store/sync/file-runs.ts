import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { runFields } from './runs.ts'
import type { Tally } from './sync.ts'

/** A file that is read: what its lines are, and the identifier of the run. */
export interface FileRun {
  kind: string
  id: string
}

/** Why lines were refused: how many, and the numbers of the first ones. */
interface Refused {
  column: string
  reason: string
  lines: number
  numbers: readonly number[]
}

/** Opens the line of a run among those of its feed, unless it is open. A trial writes nothing of what it reads. */
export const beginFileRun = (db: Db, service: Service, { kind, id }: FileRun, isTrial: boolean) =>
  db.run(sql`
    insert into feed_run (service_id, feed, run_id, origin, is_whole, is_trial, beat_at)
    values (${service.id}, ${kind}, ${id}, 'file', false, ${isTrial}, now())
    on conflict (service_id, feed, run_id) do nothing`)

/** What has become of the lines so far, which also shows that the run lives. */
export const noteFileRun = (db: Db, service: Service, { kind, id }: FileRun, tally: Omit<Tally, 'removed'>) =>
  db.run(sql`
    update feed_run set (read, inserted, changed, refused, notes, beat_at)
         = (${tally.read}, ${tally.inserted}, ${tally.changed}, ${tally.refused}, ${JSON.stringify(tally.notes)}::jsonb, now())
     where service_id = ${service.id} and feed = ${kind} and run_id = ${id} and ended_at is null`)

/** Ends it. `fault`: why it did not come to the end of the file. */
export const endFileRun = (
  db: Db,
  service: Service,
  { kind, id }: FileRun,
  { fault, refused }: { fault: string | undefined; refused: readonly Refused[] },
) =>
  db.run(sql`
    update feed_run set (fault, refusals, ended_at) = (${fault?.slice(0, 500) ?? null}::text, ${JSON.stringify(refused)}::json, now())
     where service_id = ${service.id} and feed = ${kind} and run_id = ${id}`)

/** The record (`Import`) of a file that is, or was, read. */
export const importRecord = (db: Db, service: Service, id: string) =>
  db.row<{ feed: string; record: string }>(sql`
    select feed, (select row_to_json(r)::text from (select ${runFields}, is_trial as "dryRun") r) as record
      from feed_run where service_id = ${service.id} and run_id = ${id} and origin = 'file'`)

/** Why lines of a file were refused (`RefusedLines[]`), the most frequent reason first. */
export const refusedRecord = (db: Db, service: Service, id: string) =>
  db.row<{ feed: string; record: string }>(sql`
    select feed, coalesce(refusals::text, '[]') as record
      from feed_run where service_id = ${service.id} and run_id = ${id} and origin = 'file'`)
