import { type Db, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { byChangeTimestamp, type PageRequest, readPage } from '../lists/page.ts'
import { rfc3339 } from '../lists/rfc3339.ts'
import { isHeld } from './lease.ts'

/** A run's hold on its feed. */
export interface Hold {
  feed: string
  run: string
}

/** Opens the line of a run. One of the feed that is open still is of a run that has died. */
export async function beginRun(db: Db, service: Service, { feed, run }: Hold, isWhole: boolean): Promise<void> {
  await db.run(sql`
    update feed_run set ended_at = now(), fault = 'Its process ended; the next run began where it had begun.'
     where service_id = ${service.id} and feed = ${feed} and origin = 'backOffice' and ended_at is null`)
  await db.run(sql`
    insert into feed_run (service_id, feed, run_id, is_whole) values (${service.id}, ${feed}, ${run}, ${isWhole})`)
}

/** Another run has the feed. */
export const takenOver = () => new Error('Another run has taken over.')

/** Keeps the feed a run's until the transaction ends; throws where another one has taken over. */
export async function keepHold(tx: Db, service: Service, { feed, run }: Hold): Promise<void> {
  const kept = await tx.run(
    sql`select from sync_state where service_id = ${service.id} and feed = ${feed} and run = ${run} for share`,
  )
  if (!kept) throw takenOver()
}

/** Updates the state of a feed that a run has, and the line of the run after it; nothing, where another run has the feed. */
export const updateHeld = (service: Service, { feed, run }: Hold, set: Sql): Sql => sql`
  with s as (update sync_state set ${set} where service_id = ${service.id} and feed = ${feed} and run = ${run} returning *)
  update feed_run r
     set (read, inserted, changed, removed, refused, notes, fault, ended_at)
       = (s.read, s.inserted, s.changed, s.removed, s.refused, s.notes, case when s.run is null then s.fault end, case when s.run is null then now() end)
    from s where r.service_id = s.service_id and r.feed = s.feed and r.run_id = ${run}::text`

/** The fields (`FeedRun`) of a row of `feed_run`. */
export const runFields = sql`
  feed_run.run_id as id, feed_run.feed, feed_run.origin, feed_run.is_whole as whole,
  case when feed_run.fault is not null then 'failed' when feed_run.ended_at is not null then 'ok'
       when feed_run.beat_at >= now() - interval '60 s' then 'running'
       when exists (select from sync_state s where s.service_id = feed_run.service_id and s.feed = feed_run.feed and s.run::text = feed_run.run_id and ${isHeld})
       then 'running' else 'lost' end as state,
  ${rfc3339(sql`feed_run.changed_at`)} as "startedAt", ${rfc3339(sql`feed_run.ended_at`)} as "endedAt",
  round(extract(epoch from coalesce(feed_run.ended_at, now()) - feed_run.changed_at), 1) as seconds,
  feed_run.read, feed_run.inserted as new, feed_run.changed,
  greatest(0, feed_run.read - feed_run.inserted - feed_run.changed - feed_run.refused) as unchanged, feed_run.removed, feed_run.refused,
  (select coalesce(json_agg(json_build_object('note', key, 'count', value::bigint) order by value::bigint desc, key), '[]') from jsonb_each_text(feed_run.notes)) as notes,
  feed_run.fault as detail`

/** The runs of one feed, the newest first; as lines the oldest. */
export const runPage = (db: Db, service: Service, feed: string, asked: PageRequest) =>
  readPage(
    db,
    service,
    {
      table: sql`feed_run`,
      record: sql`(select row_to_json(r)::text from (select ${runFields}) r)`,
      order: byChangeTimestamp,
      key: sql`run_id`,
      live: true,
      descending: !asked.lines,
      where: sql`and feed = ${feed} and not is_trial`,
    },
    asked,
  )

/** Days that runs are kept. */
const keptDays = 30

/** Returns how many were forgotten. */
export const forgetRuns = (db: Db) =>
  db.run(sql`
    delete from feed_run r using service s
     where r.service_id = s.service_id and r.changed_at < now() - ${keptDays} * interval '1 day'`)
