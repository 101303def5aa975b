import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import type { Kind } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** The kind of record in the change feed, by the table of its list. */
export const recordKinds = {
  store: 'store',
  staff: 'staff',
  product: 'product',
  stock: 'inventory',
  customer: 'customer',
  retail_transaction: 'transaction',
  sales_order: 'order',
  sales_return: 'return',
  shipment: 'shipment',
  reward_account: 'reward-account',
} as const satisfies Record<string, Kind>
export type List = keyof typeof recordKinds

/**
 * The number of each list, 1 to 15, in the keys of advisory locks (`start_back_dating`) and in the result of `commit_watermarks`. Two
 * releases share these locks during a rolling upgrade: never change a number, and never reuse one.
 */
export const listNumbers = {
  store: 1,
  staff: 2,
  product: 3,
  stock: 4,
  customer: 5,
  retail_transaction: 6,
  sales_order: 7,
  sales_return: 8,
  reward_account: 9,
  shipment: 10,
} as const satisfies Record<List, number>

export const listNumber = (list: List): number => listNumbers[list]

/** The change timestamp of one transaction. */
export interface Change {
  /** Text of a `timestamptz`, in microseconds. */
  at: string
  /** End of a record with this change timestamp: `,"updateTimeStamp":"…"}`. */
  closing: string
  /** The earliest permitted change timestamp of back-dated records. Null: no back-dating, all records get `at`. */
  earliest: string | null
}

/** Takes the writer lock and the change timestamp of a transaction (`next_change_timestamp` in migrations/0002_lists.sql). */
export async function beginChange(tx: Db, service: Service, lists: readonly (List | 'audit')[]): Promise<Change> {
  const change = await tx.row<Omit<Change, 'earliest'>>(sql`
    select at::text, format(',"updateTimeStamp":"%s"}', ${localTime(sql`at`, service)}) as closing
      from ${nextChangeTimestamp(service, lists)} at`)
  if (!change) throw new Error('next_change_timestamp returned no row')
  return { ...change, earliest: null }
}

/** Returns the time of the clock that change timestamps are taken from, as text of a `timestamptz`. Later changes get later timestamps. */
export async function readDatabaseTime(db: Db): Promise<string> {
  const row = await db.row<{ at: string }>(sql`select list_clock(clock_timestamp())::text as at`)
  if (!row) throw new Error('clock_timestamp returned no row')
  return row.at
}

/** The change timestamp as SQL, for a statement that is the only change of its transaction: it takes the writer lock itself. */
export function nextChangeTimestamp(service: Service, lists: readonly (List | 'audit')[]): Sql {
  const newest = lists.flatMap(list => {
    const ofRecords = newestTimestamp(sql`${raw(list)} where service_id = ${service.id}`)
    if (list === 'audit') return [ofRecords]
    // The newest change may be the removal of a record.
    return [
      ofRecords,
      newestTimestamp(sql`tombstone where service_id = ${service.id} and kind = ${raw(`'${recordKinds[list]}'`)}`),
    ]
  })
  return sql`next_change_timestamp(${service.id}, greatest(${newest.reduce((all, timestamp) => sql`${all}, ${timestamp}`)}), ${isOnShard(service)})`
}

/** True if the service is on a shard: writes in the control database then concern only its accounts. */
const isOnShard = ({ database }: Service): boolean => database !== undefined

/** Throws if the service can't be written in this database. For transactions that change no list. */
export const requireWritable = (tx: Db, service: Service) =>
  tx.run(sql`select next_change_timestamp(${service.id}, null, ${isOnShard(service)})`)

/**
 * The newest change timestamp of these rows, read from the end of their index. With `max(changed_at)`, a plan cached while there were few
 * rows would continue to read all of them.
 */
const newestTimestamp = (rows: Sql) => sql`(select changed_at from ${rows} order by changed_at desc limit 1)`

/** A `timestamptz` as wall-clock time in the service's time zone: `YYYY-MM-DD HH:MM:SS`. */
export const localTime = (timestamp: Sql, service: Service) =>
  sql`to_char(${timestamp} at time zone ${service.settings.timeZone}, 'YYYY-MM-DD HH24:MI:SS')`

/** Length of a rendered change timestamp with its quotation marks. */
export const timestampValueLength = '"YYYY-MM-DD HH:MM:SS"'.length

/** Length of `,"updateTimeStamp":"YYYY-MM-DD HH:MM:SS"}`, with which each stored record ends. */
const timestampLength = ',"updateTimeStamp":"YYYY-MM-DD HH:MM:SS"}'.length

/** End of a record: '' if another column contains the closing brace. */
export type RecordEnd = '}' | ''

/**
 * JSON of a record as text without its closing brace, so that the change timestamp can be appended. Removes all braces at the end, so the last
 * value must not be an object: the test of rendered records checks this. Cuts bytes, because counting characters takes as long as rendering.
 */
export const withoutClosingBrace = (json: Sql) =>
  sql`convert_from(rtrim(convert_to((${json})::text, 'UTF8'), '\\x7d'), 'UTF8')`

/** A body without closing brace, followed by the transaction's change timestamp. */
export const withTimestamp = (body: Sql, { closing: recordEnd }: Change, closing: RecordEnd = '}') =>
  sql`${body} || ${recordEnd.slice(0, -1) + closing}`

/** A body without closing brace, followed by a change timestamp that the statement computes. */
export const withComputedTimestamp = (body: Sql, timestamp: Sql, service: Service, closing: RecordEnd = '}') =>
  sql`${body} || ',"updateTimeStamp":"' || ${localTime(timestamp, service)} || ${raw(`'"${closing}'`)}`

/** True if a record has this body, whatever its change timestamp. */
export const hasSameBody = (record: Sql, body: Sql, closing: RecordEnd = '}') => sql`
  (octet_length(${record}) = octet_length(${body}) + ${raw(String(timestampLength - 1 + closing.length))} and starts_with(${record}, ${body}))`

/** A record without its change timestamp: equal bodies mean an unchanged record. */
export const bodyOf = (record: Sql) => sql`left(${record}, ${raw(`-${timestampLength}`)})`

/** The end of a record, which shows its change timestamp. */
export const timestampOf = (record: Sql) => sql`right(${record}, ${raw(String(timestampLength))})`

/** Results of an upserted batch. All other rows were unchanged. */
export interface Upserted {
  inserted: number
  changed: number
  /** Rows that were skipped because they are older than the stored record. */
  outdated?: number
}

export const countUpserted = (rows: readonly { inserted: boolean }[]): Upserted => {
  const inserted = rows.filter(row => row.inserted).length
  return { inserted, changed: rows.length - inserted }
}

/** Executes an insert that returns `inserted` for each written row, and counts these rows in the database. */
export async function countUpsert(tx: Db, insertion: Sql): Promise<Upserted> {
  const counted = await tx.row<Omit<Upserted, 'outdated'>>(sql`
    with written as (${insertion})
    select count(*) filter (where inserted)::integer as inserted, count(*) filter (where not inserted)::integer as changed from written`)
  return counted ?? { inserted: 0, changed: 0 }
}

/** Executes a locking select without returning its rows. */
export const lockRows = (tx: Db, locking: Sql) => tx.run(sql`select count(*) from (${locking}) locked`)
