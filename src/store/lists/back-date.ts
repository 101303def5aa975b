import { type Db, raw, type Sql, sql } from '../../db.ts'
import type { Service } from '../../settings.ts'
import { type BackDatedList, beginChange, type Change, listNumber, localTime } from './change.ts'

/** A change whose records carry the times of their source, as far as the order of changes allows it (docs/decisions/0011). */
export interface BackDated extends Change {
  /** The earliest stamp: text of a `timestamptz`. */
  from: string
}

/** The earliest stamp there is. */
const firstStamp = '1970-01-01 00:00:00.000001+00'

/**
 * Opens a change of one list by records that know when they changed. One at a time for each list; others that change it are not kept
 * waiting.
 */
export async function beginBackDated(tx: Db, service: Service, list: BackDatedList): Promise<BackDated> {
  await tx.run(sql`select pg_advisory_xact_lock(${service.id}, hashtext(${`back-date ${list}`}))`)
  const change = await beginChange(tx, service, [list])
  const first = await tx.row(
    sql`select list from first_load where service_id = ${service.id} and list = ${list} and begun for key share`,
  )
  const newest = sql`(select max(changed_at) from ${raw(list)} where service_id = ${service.id})`
  if (first) return { ...change, from: firstStamp }
  const announced = await tx.row<{ some: boolean }>(sql`
    select newest is not null as some from (select ${newest} as newest) n, back_date(${service.id}, ${listNumber(list)}::integer, newest)`)
  // An empty list may have had something.
  if (!announced?.some) return { ...change, from: change.at }
  // Read anew: what has been committed until the announcement may be in a walk that knows nothing of it.
  const row = await tx.row<{ from: string }>(sql`select (${newest} + interval '1 microsecond')::text as "from"`)
  if (!row) throw new Error('an aggregate answers one row')
  return { ...change, from: row.from }
}

/** The change of rows, some of which may say when they changed (`updateTimeStamp`). */
export async function beginChangeOf(
  tx: Db,
  service: Service,
  list: BackDatedList,
  rows: readonly { updateTimeStamp?: unknown }[],
): Promise<BackDated> {
  if (rows.some(row => row.updateTimeStamp)) return beginBackDated(tx, service, list)
  const change = await beginChange(tx, service, [list])
  return { ...change, from: change.at }
}

/** What a row of `merged` says of when it changed. */
export const toldTime = sql`(i->>'update_time_stamp')::timestamp`

/** The stamp of a record: its source's wall clock, a `timestamp`, where that is later than what the list had; null is now. */
export const stampFrom = (told: Sql, service: Service, { at, from }: BackDated) =>
  sql`greatest(least(${told} at time zone ${service.settings.timeZone}, ${at}::timestamptz), ${from}::timestamptz)`

/** A rendered body with a stamp of its own. */
export const stampedAt = (body: Sql, stamp: Sql, service: Service) =>
  sql`left(${body}, -1) || format(',"updateTimeStamp":"%s"}', ${localTime(stamp, service)})`
