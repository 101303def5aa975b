import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import { rfc3339Micros } from '../../database/rfc3339.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type Change, type List, localTime, recordKinds } from './change-timestamp.ts'

interface RecordsToRemove {
  list: List
  /** The identifier that a record shows. */
  id: Sql
  where: Sql
}

/** Deletes records from a list and inserts their tombstones. Returns the number of deleted records. */
export const removeRecords = (tx: Db, service: Service, change: Change, { list, id, where }: RecordsToRemove) =>
  tx.run(
    insertTombstones(
      service,
      change,
      list,
      sql`delete from ${raw(list)} where service_id = ${service.id} and ${where} returning ${id} as id`,
    ),
  )

/** Inserts tombstones for identifiers that no record of a list shows any more. `gone`: a statement that returns rows with an `id`. */
export const insertTombstones = (service: Service, change: Change, list: List, gone: Sql) => sql`
    with gone as (${gone})
    insert into tombstone (service_id, kind, id, changed_at) select ${service.id}, ${recordKinds[list]}, id, ${change.at}::timestamptz from gone
    on conflict (service_id, kind, id) do update set changed_at = excluded.changed_at`

/**
 * Selects the tombstones of a list whose record does not exist again, in the form of list records. `key`: the key column of the list. The
 * statement has no join, so that PostgreSQL can merge it with the records in index order.
 */
export const selectTombstones = (service: Service, list: List, key: Sql) => sql`
  select service_id, changed_at, id as key,
         '{"id":' || to_json(id)::text || ',"removed":true,"updateTimeStamp":"' || ${localTime(sql`changed_at`, service)} || '"}' as record
    from tombstone
   where kind = ${recordKinds[list]}
     and (select r.service_id from ${raw(list)} r where r.service_id = tombstone.service_id and r.${key} = tombstone.id) is null`

/** Returns the change timestamp of the newest purged tombstone of a list. Returns undefined if none after `timestamp` was purged. */
export const findPurgedAfter = async (
  db: Db,
  service: Service,
  list: List,
  timestamp: string,
): Promise<string | undefined> =>
  (
    await db.row<{ newest: string }>(sql`
      select ${rfc3339Micros(sql`purged_until`)} as newest from tombstone_purge
       where service_id = ${service.id} and kind = ${recordKinds[list]} and purged_until > ${timestamp}::timestamptz`)
  )?.newest
