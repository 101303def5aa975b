import { type Db, sql } from '../../database/db.ts'
import { isTimely, type Move } from './moves.ts'

type Of = Pick<Move, 'serviceId'>

/** From here on no job is begun for the service. False: it is not there, or moves already. */
export const drain = async (source: Db, { serviceId }: Of) =>
  (await source.run(
    sql`update service set moving = 'draining' where service_id = ${serviceId} and moving is null and ending is null`,
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
    update job set lease = null, leased_until = null, begun = greatest(begun - 1, 0) where service_id = ${serviceId} and lease is not null`)

/** Which files are being read for it, by what they bring. */
export const filesUnderWay = async (source: Db, { serviceId }: Of) =>
  (
    await source.rows<{ feed: string }>(sql`
      select distinct feed from feed_run where service_id = ${serviceId} and ended_at is null and beat_at >= now() - interval '60 s' order by 1`)
  ).map(({ feed }) => feed)

/** Lets nothing be written, for so many milliseconds, whatever becomes of the caller. Returns until when; undefined: it was not drained. */
export const shutWriters = async (source: Db, { serviceId }: Of, ms: number) =>
  (
    await source.row<{ until: string }>(sql`
      update service set moving = 'shut', shut_until = clock_timestamp() + ${ms} * interval '1 ms'
       where service_id = ${serviceId} and moving = 'draining' returning shut_until::text as until`)
  )?.until

/** Shuts it for good. False: too late, it may have been written meanwhile. */
export const letGo = async (source: Db, { serviceId }: Of, until: string) =>
  (await source.run(sql`
    update service set moving = 'gone', shut_until = null where service_id = ${serviceId} and moving = 'shut' and ${isTimely(until)}`)) >
  0

/** Whether it was shut for good. */
export const isLetGo = async (source: Db, { serviceId }: Of) =>
  Boolean(await source.row(sql`select true as "is" from service where service_id = ${serviceId} and moving = 'gone'`))

/** It is written at the source again. */
export const openAgain = (source: Db, { serviceId }: Of) =>
  source.run(sql`
    update service set moving = null, shut_until = null where service_id = ${serviceId} and moving in ('draining', 'shut', 'gone')`)

/** Makes the row of a service that is about to come; false where its number or name is another one's, or it is served there. */
export const awaitService = async (target: Db, { serviceId, name }: Pick<Move, 'serviceId' | 'name'>) =>
  (await target.run(sql`
    insert into service as s (service_id, name, moving) overriding system value values (${serviceId}, ${name}, 'arriving')
    on conflict (service_id) do update set moving = 'arriving' where s.name = excluded.name and s.moving in ('arriving', 'opening', 'gone')`)) >
  0

/** It is all there: it may be read, and not yet written. */
export const letRead = (target: Db, { serviceId }: Of) =>
  target.run(sql`update service set moving = 'opening' where service_id = ${serviceId} and moving = 'arriving'`)

/** It may be written, and its jobs are done. */
export const letWrite = (target: Db, { serviceId }: Of) =>
  target.run(sql`update service set moving = null where service_id = ${serviceId} and moving = 'opening'`)

/** It does not come: nobody is to read it. */
export const keepArriving = (target: Db, { serviceId }: Of) =>
  target.run(sql`update service set moving = 'arriving' where service_id = ${serviceId} and moving = 'opening'`)
