import { type Db, raw, type Sql, sql } from '../../db.ts'
import type { Service } from '../../settings.ts'
import { type Change, kindOf, type List } from './change.ts'

interface Leaving {
  list: List
  /** What a record shows as its identifier. */
  id: Sql
  where: Sql
}

/** Removes records from a list, and remembers that (`removal` in the migrations). Returns how many there were. */
export const removeFrom = (tx: Db, service: Service, change: Change, { list, id, where }: Leaving) =>
  rememberGone(
    tx,
    service,
    change,
    list,
    sql`delete from ${raw(list)} where service_id = ${service.id} and ${where} returning ${id} as id`,
  )

/** Remembers that no record of a list shows these identifiers any more: a statement with rows of an `id`. */
export const rememberGone = (tx: Db, service: Service, change: Change, list: List, gone: Sql) =>
  tx.run(sql`
    with gone as (${gone})
    insert into removal (service_id, kind, id, changed_at) select ${service.id}, ${kindOf[list]}, id, ${change.at} from gone
    on conflict (service_id, kind, id) do update set changed_at = excluded.changed_at`)
