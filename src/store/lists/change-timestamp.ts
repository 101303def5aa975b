import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import type { Kind } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** The tables of records whose changes can be followed, with what the API calls such a record (contract 10). */
export const recordKinds = {
  store: 'store',
  staff: 'staff',
  product: 'product',
  stock: 'inventory',
  customer: 'customer',
  retail_transaction: 'transaction',
  sales_order: 'order',
  sales_return: 'return',
  reward_account: 'reward-account',
} as const satisfies Record<string, Kind>
export type List = keyof typeof recordKinds

/** The number by which a list is named where a change of it alone is announced (`start_back_dating` in the migrations): from 1. */
export const listNumber = (list: List) => Object.keys(recordKinds).indexOf(list) + 1

/** One transaction's change of listed records. */
export interface Change {
  /** The stamp: text of a `timestamptz`, to the microsecond. */
  at: string
  /** What closes a record that carries its stamp. */
  closing: string
  /** The earliest stamp of records whose source tells when they changed (`beginChangeOf`). Null: all are of now. */
  earliest: string | null
}

/** Opens the change of a transaction: announces it and takes its stamp (`next_change_timestamp` in the migrations says why). */
export async function beginChange(tx: Db, service: Service, lists: readonly (List | 'audit')[]): Promise<Change> {
  const change = await tx.row<Omit<Change, 'earliest'>>(sql`
    select at::text, format(',"updateTimeStamp":"%s"}', ${localTime(sql`at`, service)}) as closing
      from ${nextChangeTimestamp(service, lists)} at`)
  if (!change) throw new Error('next_change_timestamp answers one row')
  return { ...change, earliest: null }
}

/** This moment by the clock that stamps are taken from: what changes from now on has a later stamp. Text of a `timestamptz`. */
export async function databaseNow(db: Db): Promise<string> {
  const row = await db.row<{ at: string }>(sql`select clock_timestamp()::text as at`)
  if (!row) throw new Error('a function answers one row')
  return row.at
}

/** The stamp of now, for a statement that is all of a transaction's change of these lists: one that announces the change itself. */
export function nextChangeTimestamp(service: Service, lists: readonly (List | 'audit')[]): Sql {
  const newest = lists.flatMap(list => {
    const ofRecords = newestTimestamp(sql`${raw(list)} where service_id = ${service.id}`)
    if (list === 'audit') return [ofRecords]
    // The newest stamp may have been that of a record which has left the list.
    return [ofRecords, newestTimestamp(sql`tombstone where service_id = ${service.id} and kind = ${raw(`'${recordKinds[list]}'`)}`)]
  })
  return sql`next_change_timestamp(${service.id}, greatest(${newest.reduce((all, one) => sql`${all}, ${one}`)}), ${isOnShard(service)})`
}

/** Whether the service is known to be in a data database: what is then written of it in the control database is about its accounts. */
const isOnShard = ({ database }: Service): boolean => database !== undefined

/** For a transaction that leaves no stamp: it fails where the service is not written in this database any more. */
export const requireWritable = (tx: Db, service: Service) =>
  tx.run(sql`select next_change_timestamp(${service.id}, null, ${isOnShard(service)})`)

/**
 * The newest stamp of these rows, at the end of their index. With `max(changed_at)`, a plan that was made while they were few would go on
 * reading all of them.
 */
const newestTimestamp = (rows: Sql) => sql`(select changed_at from ${rows} order by changed_at desc limit 1)`

/** A `timestamptz` as the wall clock of the service's time zone (contract 1.2). */
export const localTime = (moment: Sql, service: Service) =>
  sql`to_char(${moment} at time zone ${service.settings.timeZone}, 'YYYY-MM-DD HH24:MI:SS')`

/** A record that carries its stamp ends with `,"updateTimeStamp":"YYYY-MM-DD HH:MM:SS"}`: always as long. */
const timestampLength = ',"updateTimeStamp":"YYYY-MM-DD HH:MM:SS"}'.length

/** What a record ends with: nothing, where another column closes it. */
export type RecordEnd = '}' | ''

/**
 * JSON of a record as text that is still open: its closing brace is missing, for its stamp follows. Its last value is no object. Cut by
 * bytes: to count a record's characters takes as long as to render it.
 */
export const withoutClosingBrace = (json: Sql) => sql`convert_from(rtrim(convert_to((${json})::text, 'UTF8'), '\\x7d'), 'UTF8')`

/** An open body, stamped. */
export const withTimestamp = (body: Sql, { closing: ending }: Change, closing: RecordEnd = '}') =>
  sql`${body} || ${ending.slice(0, -1) + closing}`

/** An open body with a stamp that the statement works out itself. */
export const withComputedTimestamp = (body: Sql, stamp: Sql, service: Service, closing: RecordEnd = '}') =>
  sql`${body} || ',"updateTimeStamp":"' || ${localTime(stamp, service)} || ${raw(`'"${closing}'`)}`

/** Whether a record says what an open body says, whatever its stamp. */
export const hasSameBody = (record: Sql, body: Sql, closing: RecordEnd = '}') => sql`
  (octet_length(${record}) = octet_length(${body}) + ${raw(String(timestampLength - 1 + closing.length))} and starts_with(${record}, ${body}))`

/** What a record says, its stamp apart: equal means unchanged. */
export const bodyOf = (record: Sql) => sql`left(${record}, ${raw(`-${timestampLength}`)})`

/** What became of the rows of a batch; the rest were there already, just so. */
export interface Upserted {
  inserted: number
  changed: number
}

export const countUpserted = (rows: readonly { inserted: boolean }[]): Upserted => {
  const inserted = rows.filter(row => row.inserted).length
  return { inserted, changed: rows.length - inserted }
}

/**
 * Carries out an insertion that returns `inserted` for each row it has written, and has the database count them. What is written `beside`
 * goes into the same statement, and sees what that sees.
 */
export async function countUpsert(tx: Db, insertion: Sql, beside?: Sql): Promise<Upserted> {
  const counted = await tx.row<Upserted>(sql`
    with ${beside ? sql`beside as (${beside}),` : sql``} touched as (${insertion})
    select count(*) filter (where inserted)::integer as inserted, count(*) filter (where not inserted)::integer as changed from touched`)
  return counted ?? { inserted: 0, changed: 0 }
}

/** Holds the rows that a statement locks, and sends none of them. */
export const lockRows = (tx: Db, locking: Sql) => tx.run(sql`select count(*) from (${locking}) held`)
