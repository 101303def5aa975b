import { type Db, sql } from '../../database/db.ts'
import type { Feed } from '../../domain/sync/port.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { addJob } from '../jobs/jobs.ts'
import { rfc3339 } from '../lists/rfc3339.ts'
import { isHeld } from './lease.ts'
import { runFields } from './runs.ts'
import { syncJob } from './status.ts'

/** A feed of a back office as its driver has it: its name, and the seconds between two pulls. */
type Scheduled = Pick<Feed, 'name' | 'everySeconds'>

/**
 * The records (`Feed`) of the feeds of a service, as one JSON text: those that are pulled, in the order of the driver, and then the kinds of
 * which a file has come.
 */
export async function feedRecords(db: Db, service: Service, pulled: readonly Scheduled[], kinds: readonly string[]) {
  const row = await db.row<{ records: string }>(sql`
    with known as (
      select name, max(every) as every, min(place) as place, bool_or(pulled) as pulled from (
        select name, "everySeconds" as every, place::integer, true as pulled
          from rows from (json_to_recordset(${JSON.stringify(pulled)}) as (name text, "everySeconds" integer)) with ordinality p (name, "everySeconds", place)
        union all select feed, null, null, true from sync_state where service_id = ${service.id}
        union all
        select kind, null, null, false from unnest(${kinds}::text[]) kind
         where exists (select from feed_run where service_id = ${service.id} and feed = kind and origin = 'file' and not is_trial)) named
       group by name)
    select coalesce(json_agg(r order by place nulls last, known.name), '[]')::text as records
      from known
      left join sync_state s on s.service_id = ${service.id} and s.feed = known.name
      left join job j on j.service_id = ${service.id} and j.name = ${syncJob} and j.subject = known.name
      left join lateral (
        select row_to_json(r) as run, changed_at, ended_at, fault
          from feed_run cross join lateral (select ${runFields}) r
         where feed_run.service_id = ${service.id} and feed_run.feed = known.name and not is_trial order by changed_at desc, run_id desc limit 1) last on true
     cross join lateral (select greatest(known.every, case when known.every is not null then s.whole_every end) as every) schedule
     cross join lateral (select case when known.pulled then s.finished_at when last.fault is null then last.ended_at end as at) synced
     cross join lateral (
       select known.name as feed, case when known.pulled then 'backOffice' else 'file' end as origin, schedule.every as "everySeconds",
              ${rfc3339(sql`synced.at`)} as "syncedAt", ${rfc3339(sql`s.full_at`)} as "wholeAt",
              floor(extract(epoch from now() - synced.at))::integer as "lagSeconds",
              coalesce(synced.at < now() - 3 * schedule.every * interval '1 s', false) as "isLate",
              case when ${isHeld} then 'running' when coalesce(s.fault, last.fault) is not null then 'failed'
                   when synced.at is not null then 'ok' else 'none' end as state,
              coalesce(s.fault, last.fault) as detail, s.asked_at is not null as "isAsked", ${rfc3339(sql`j.due_at`)} as "nextAt", last.run as "lastRun") r`)
  return row?.records ?? '[]'
}

/** Whether there is, or has been, such a feed. */
export const isFeed = async (db: Db, service: Service, feed: string): Promise<boolean> =>
  (await db.run(sql`
    select from sync_state where service_id = ${service.id} and feed = ${feed}
    union all (select from feed_run where service_id = ${service.id} and feed = ${feed} and not is_trial limit 1)`)) > 0

/** Asks for a run of a feed, as soon as a worker has time; where one is under way, for another one after it. */
export async function askForRun(tx: Db, service: Service, feed: string, isWhole: boolean): Promise<void> {
  await tx.run(sql`
    insert into sync_state as s (service_id, feed, asked_at, asks_whole) values (${service.id}, ${feed}, clock_timestamp(), ${isWhole})
    on conflict (service_id, feed) do update set asked_at = excluded.asked_at, asks_whole = s.asks_whole or excluded.asks_whole`)
  await addJob(tx, service.id, syncJob, { subject: feed })
}
