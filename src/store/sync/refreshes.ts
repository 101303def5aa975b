import { type Db, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import type { Refresh } from '../../domain/sync/port.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** Makes refreshes due: of new records, and of those whose version has changed since their last refresh. */
export const addRefreshes = (db: Db, service: Service, sync: string, refreshes: readonly Refresh[]) =>
  db.run(sql`
    insert into sync_refresh as v (service_id, sync, id, version)
    select ${service.id}, ${sync}, id, max(version) from json_to_recordset(${JSON.stringify(refreshes)}) as r (id text, version text) group by id
    on conflict (service_id, sync, id) do update set version = excluded.version, due = true
      where v.version <> excluded.version`)

/** Makes the refresh of a record due that was refreshed before. A refresh that is running doesn't suffice. */
export const makeRefreshDue = (db: Db, service: Service, sync: string, id: string) =>
  db.run(sql`
    update sync_refresh set due = true, version = version || '+' where service_id = ${service.id} and sync = ${sync} and id = ${id}`)

/** Makes the refresh of every record of a sync due. */
export const addAllRefreshes = (db: Db, service: Service, sync: string) =>
  db.run(sql`update sync_refresh set due = true where service_id = ${service.id} and sync = ${sync} and not due`)

/** Returns the next due refreshes after the ID `after`, by ID. */
export const findDueRefreshes = (db: Db, service: Service, sync: string, after: string, limit: number) =>
  db.rows<Refresh>(sql`
    select id, version from sync_refresh
     where service_id = ${service.id} and sync = ${sync} and due and id > ${after} order by id limit ${limit}`)

/** Makes at most `limit` refreshes due whose last one is older than `seconds`, oldest first. */
export const markStaleRefreshes = (db: Db, service: Service, sync: string, seconds: number, limit: number) =>
  db.run(sql`
    update sync_refresh v set due = true
      from (select id from sync_refresh
             where service_id = ${service.id} and sync = ${sync} and not due and refreshed_at < now() - make_interval(secs => ${seconds})
             order by refreshed_at, id limit ${limit}) stale
     where v.service_id = ${service.id} and v.sync = ${sync} and v.id = stale.id`)

/** Returns when a record was last read from the back office (RFC 3339), or undefined if never. */
export const findReadAt = async (db: Db, service: Service, sync: string, id: string): Promise<string | undefined> =>
  (
    await db.row<{ at: string | null }>(sql`
      select ${rfc3339(sql`read_at`)} as at
        from sync_refresh where service_id = ${service.id} and sync = ${sync} and id = ${id}`)
  )?.at ?? undefined

/** Records that a request or a poll, not a refresh, has read a record. A due refresh stays due. */
export const recordDirectRead = (db: Db, service: Service, sync: string, { id, at }: { id: string; at: Date }) =>
  db.run(sql`
    insert into sync_refresh as v (service_id, sync, id, version, due, refreshed_at, read_at)
    values (${service.id}, ${sync}, ${id}, '', false, ${at.toISOString()}::timestamptz, ${at.toISOString()}::timestamptz)
    on conflict (service_id, sync, id) do update
      set (refreshed_at, read_at) = (greatest(v.refreshed_at, excluded.refreshed_at), greatest(v.read_at, excluded.read_at))`)

interface RefreshResult {
  /** When the data that is now stored was requested. Undefined if it could not be read or stored completely. */
  readAt: Date | undefined
  /** Brings the next refresh forward by this time. */
  earlierBySeconds: number
}

/** Records a completed refresh. It stays due if the record has changed since. */
export const recordRefresh = (
  db: Db,
  service: Service,
  sync: string,
  { id, version }: Refresh,
  { readAt, earlierBySeconds }: RefreshResult,
) =>
  db.run(sql`
    update sync_refresh
       set (due, refreshed_at, read_at)
         = (version <> ${version}, now() - make_interval(secs => ${earlierBySeconds}), greatest(read_at, ${readAt?.toISOString() ?? null}::timestamptz))
     where service_id = ${service.id} and sync = ${sync} and id = ${id}`)
