import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type Change, type List, localTime, recordKinds } from './change-timestamp.ts'
import { rfc3339Micros } from './page.ts'

interface RecordsToRemove {
  list: List
  /** What a record shows as its identifier. */
  id: Sql
  where: Sql
}

/** Removes records from a list, and remembers that (`tombstone` in the migrations). Returns how many there were. */
export const removeRecords = (tx: Db, service: Service, change: Change, { list, id, where }: RecordsToRemove) =>
  tx.run(
    insertTombstones(
      service,
      change,
      list,
      sql`delete from ${raw(list)} where service_id = ${service.id} and ${where} returning ${id} as id`,
    ),
  )

/** Remembers that no record of a list shows these identifiers any more: `gone` is a statement with rows of an `id`. */
export const insertTombstones = (service: Service, change: Change, list: List, gone: Sql) => sql`
    with gone as (${gone})
    insert into tombstone (service_id, kind, id, changed_at) select ${service.id}, ${recordKinds[list]}, id, ${change.at}::timestamptz from gone
    on conflict (service_id, kind, id) do update set changed_at = excluded.changed_at`

/**
 * What has left a list and has not come back, as its records are listed; `key` is the list's own. It joins nothing, so that
 * PostgreSQL merges it, in the order of its index, with what is there.
 */
export const selectTombstones = (service: Service, list: List, key: Sql) => sql`
  select service_id, changed_at, id as key,
         '{"id":' || to_json(id)::text || ',"removed":true,"updateTimeStamp":"' || ${localTime(sql`changed_at`, service)} || '"}' as record
    from tombstone
   where kind = ${recordKinds[list]}
     and (select r.service_id from ${raw(list)} r where r.service_id = tombstone.service_id and r.${key} = tombstone.id) is null`

/** The newest removal that a list has forgotten, later than a moment; undefined where it remembers all that is later. */
export const findPurgedAfter = async (
  db: Db,
  service: Service,
  list: List,
  moment: string,
): Promise<string | undefined> =>
  (
    await db.row<{ newest: string }>(sql`
      select ${rfc3339Micros(sql`purged_until`)} as newest from tombstone_purge
       where service_id = ${service.id} and kind = ${recordKinds[list]} and purged_until > ${moment}::timestamptz`)
  )?.newest
