import { type Db, sql } from '../../database/db.ts'
import { isTimely, type Move } from './moves.ts'

type Of = Pick<Move, 'serviceId'>

/** From here on no job is begun for the service. False: it is not there, or moves already. */
export const drain = async (source: Db, { serviceId }: Of) =>
  (await source.run(
    sql`update service set move_state = 'draining' where service_id = ${serviceId} and move_state is null and deletion_state is null`,
  )) > 0

/** How many jobs are under way for it. */
export const busyJobs = async (source: Db, { serviceId }: Of) =>
  (
    await source.row<{ count: number }>(
      sql`select count(*)::integer as count from job where service_id = ${serviceId} and leased_until > now()`,
    )
  )?.count ?? 0

/** Takes what is under way from its workers, who break it off once they know. */
export const breakOffJobs = (source: Db, { serviceId }: Of) =>
  source.run(sql`
    update job set lease = null, leased_until = null, unfinished_starts = greatest(unfinished_starts - 1, 0) where service_id = ${serviceId} and lease is not null`)

/** Which files are being read for it, by what they bring. */
export const filesUnderWay = async (source: Db, { serviceId }: Of) =>
  (
    await source.rows<{ sync: string }>(sql`
      select distinct sync from sync_run where service_id = ${serviceId} and ended_at is null and heartbeat_at >= now() - interval '60 s' order by 1`)
  ).map(({ sync }) => sync)

/** Lets nothing be written, for so many milliseconds, whatever becomes of the caller. Returns until when; undefined: it was not drained. */
export const shutWriters = async (source: Db, { serviceId }: Of, ms: number) =>
  (
    await source.row<{ until: string }>(sql`
      update service set move_state = 'paused', paused_until = clock_timestamp() + ${ms} * interval '1 ms'
       where service_id = ${serviceId} and move_state = 'draining' returning paused_until::text as until`)
  )?.until

/** Shuts it for good. False: too late, it may have been written meanwhile. */
export const letGo = async (source: Db, { serviceId }: Of, until: string) =>
  (await source.run(sql`
    update service set move_state = 'moved_away', paused_until = null where service_id = ${serviceId} and move_state = 'paused' and ${isTimely(until)}`)) >
  0

/** Whether it was shut for good. */
export const isLetGo = async (source: Db, { serviceId }: Of) =>
  Boolean(
    await source.row(
      sql`select true as "is" from service where service_id = ${serviceId} and move_state = 'moved_away'`,
    ),
  )

/** It is written at the source again. */
export const openAgain = (source: Db, { serviceId }: Of) =>
  source.run(sql`
    update service set move_state = null, paused_until = null where service_id = ${serviceId} and move_state in ('draining', 'paused', 'moved_away')`)

/** Makes the row of a service that is about to come; false where its number or name is another one's, or it is served there. */
export const awaitService = async (target: Db, { serviceId, name }: Pick<Move, 'serviceId' | 'name'>) =>
  (await target.run(sql`
    insert into service as s (service_id, name, move_state) overriding system value values (${serviceId}, ${name}, 'incoming')
    on conflict (service_id) do update set move_state = 'incoming' where s.name = excluded.name and s.move_state in ('incoming', 'read_only', 'moved_away')`)) >
  0

/** It is all there: it may be read, and not yet written. */
export const letRead = (target: Db, { serviceId }: Of) =>
  target.run(
    sql`update service set move_state = 'read_only' where service_id = ${serviceId} and move_state = 'incoming'`,
  )

/** It may be written, and its jobs are done. */
export const letWrite = (target: Db, { serviceId }: Of) =>
  target.run(sql`update service set move_state = null where service_id = ${serviceId} and move_state = 'read_only'`)

/** It does not come: nobody is to read it. */
export const keepArriving = (target: Db, { serviceId }: Of) =>
  target.run(
    sql`update service set move_state = 'incoming' where service_id = ${serviceId} and move_state = 'read_only'`,
  )
