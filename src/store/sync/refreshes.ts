import { type Db, sql } from '../../database/db.ts'
import type { Visit } from '../../domain/sync/port.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { rfc3339 } from '../lists/rfc3339.ts'

/** Has records visited: those that are new, or have another stamp than when they were visited last. */
export const addVisits = (db: Db, service: Service, feed: string, visits: readonly Visit[]) =>
  db.run(sql`
    insert into sync_visit as v (service_id, feed, id, stamp)
    select ${service.id}, ${feed}, id, max(stamp) from json_to_recordset(${JSON.stringify(visits)}) as r (id text, stamp text) group by id
    on conflict (service_id, feed, id) do update set stamp = excluded.stamp, due = true
      where v.stamp <> excluded.stamp`)

/** Has every record of a feed visited. */
export const addAllVisits = (db: Db, service: Service, feed: string) =>
  db.run(sql`update sync_visit set due = true where service_id = ${service.id} and feed = ${feed} and not due`)

/** The next records to visit behind `after`, by their identifiers. */
export const dueVisits = (db: Db, service: Service, feed: string, after: string, limit: number) =>
  db.rows<Visit>(sql`
    select id, stamp from sync_visit
     where service_id = ${service.id} and feed = ${feed} and due and id > ${after} order by id limit ${limit}`)

/** Records that were not visited for so long, those first that were longest not; they become due. */
export const staleVisits = (db: Db, service: Service, feed: string, seconds: number, limit: number) =>
  db.run(sql`
    update sync_visit v set due = true
      from (select id from sync_visit
             where service_id = ${service.id} and feed = ${feed} and not due and visited_at < now() - make_interval(secs => ${seconds})
             order by visited_at, id limit ${limit}) stale
     where v.service_id = ${service.id} and v.feed = ${feed} and v.id = stale.id`)

/** When the back office was last asked for what it told of a record (RFC 3339); undefined: never. */
export const toldAt = async (db: Db, service: Service, feed: string, id: string): Promise<string | undefined> =>
  (
    await db.row<{ at: string | null }>(sql`
      select ${rfc3339(sql`told_at`)} as at
        from sync_visit where service_id = ${service.id} and feed = ${feed} and id = ${id}`)
  )?.at ?? undefined

/** A record was asked for, and told of, between two visits. One that is due stays so. */
export const noteAsked = (db: Db, service: Service, feed: string, { id, at }: { id: string; at: Date }) =>
  db.run(sql`
    insert into sync_visit as v (service_id, feed, id, stamp, due, visited_at, told_at)
    values (${service.id}, ${feed}, ${id}, '', false, ${at.toISOString()}::timestamptz, ${at.toISOString()}::timestamptz)
    on conflict (service_id, feed, id) do update
      set (visited_at, told_at) = (greatest(v.visited_at, excluded.visited_at), greatest(v.told_at, excluded.told_at))`)

interface Visited {
  /** When it was asked for what could be read, and is in. */
  told: Date | undefined
  /** The next visit is as much earlier as if this one had been. */
  earlierBySeconds: number
}

/** A visit is done. One whose record has changed meanwhile stays due. */
export const noteVisited = (
  db: Db,
  service: Service,
  feed: string,
  { id, stamp }: Visit,
  { told, earlierBySeconds }: Visited,
) =>
  db.run(sql`
    update sync_visit
       set (due, visited_at, told_at)
         = (stamp <> ${stamp}, now() - make_interval(secs => ${earlierBySeconds}), greatest(told_at, ${told?.toISOString() ?? null}::timestamptz))
     where service_id = ${service.id} and feed = ${feed} and id = ${id}`)
