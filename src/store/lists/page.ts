import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type FixedAsOf, resolveAsOf, type TimestampSource, tableSql } from './as-of.ts'

/** Where a page ended: the value it is ordered by, and the key that breaks ties. */
export type PageEnd = readonly [order: string, key: string]

/** Which page of a walk through a list is wanted (contract 1.4). */
export interface PageRequest extends FixedAsOf {
  limit: number
  /** Where the last page ended; absent on the first page. */
  after?: PageEnd
  /** A portion of a whole list (contract 12): the records are lines, the oldest first wherever nobody asks for another order. */
  asLines?: boolean
}

export interface Page {
  /** The records' JSON texts, joined by commas, or as lines by line breaks. A page has one text of all, or none; a portion of a whole list several. */
  records: readonly string[]
  asOf: string
  /** Where in the primary's log all of the walk is; absent where only the primary may go on with it. */
  position?: string | undefined
  hasNextPage: boolean
  end: PageEnd | null
}

export const emptyPage = (asOf: string): Page => ({ records: [], asOf, hasNextPage: false, end: null })

/** A list as SQL sees it. */
export interface ListSource {
  table: TimestampSource
  /** The list whose stamps tell of its changes, where that is another one. */
  timestampSource?: TimestampSource
  /** Whether what has left that list is told too, so that the walk is complete up to there. */
  withTombstones?: boolean
  /** The response-ready text. */
  record: Sql
  /** What the list is ordered by, before its unique key. Absent: the key alone. */
  order?: { column: Sql; type: 'text' | 'timestamp' | 'timestamptz' }
  key: Sql
  /**
   * A look-up rather than a walk through changes: its order is one in which nothing moves, so that it can show what is committed
   * now, and not only what is safely complete.
   */
  live?: boolean
  descending?: boolean
  /** Conditions, each beginning with `and`. */
  where?: Sql
  /** The best plan depends on the values of `where`. */
  planned?: boolean
}

/** One page: a single index scan from where the last one ended, joined by the database into the text that goes out. */
export async function readPage(
  db: Db,
  service: Service,
  source: ListSource,
  { limit, after, asLines: lines, ...fixed }: PageRequest,
): Promise<Page> {
  const {
    table: from,
    timestampSource: stamps = from,
    withTombstones: withRemovals = false,
    record,
    key,
    order: { column: order, type } = { column: key, type: 'text' },
    live = false,
    descending = false,
    where = sql``,
    planned = false,
  } = source
  const table = tableSql(from)
  const beyond = raw(descending ? '<' : '>')
  const direction = raw(descending ? 'desc' : 'asc')
  const { asOf, position } = await resolveAsOf(db, service, stamps, fixed, withRemovals)
  // A look-up is of now, and now is at the primary.
  const replayed = live ? undefined : position
  const complete = live ? sql`` : sql`and changed_at <= (select as_of from walk)`
  const behind = (end: Sql) => sql`and (${order}, ${key}) ${beyond} ${end}`
  const ordered = sql`order by ${order} ${direction}, ${key} ${direction}`
  /** So many records in one text. */
  const joined = (onwards: Sql, most: number) => sql`
    select string_agg(record, ${recordSeparator(lines)}) as records,
           (array_agg("order"))[count(*)] as last_order, (array_agg(key))[count(*)] as last_key, count(*) as many
      from (select * from (
              select ${record} as record, ${order} as "order", ${key} as key
                from ${table}
               where service_id = ${service.id} ${complete} ${onwards} ${where}
               ${ordered}
               limit ${literalLimit(most)}) most limit ${most}) page`
  const onwards = after ? behind(sql`(${opaqueParam(after[0], type)}, ${opaqueParam(after[1], 'text')})`) : sql``
  const listed = lines ? readChunks(joined, onwards, behind, limit) : sql`cross join (${joined(onwards, limit)}) listed`
  const reads = await db.rows<PageRow>(
    sql`
      with walk as materialized (select ${asOf} as as_of)
      select listed.records, listed.last_order::text, listed.last_key, ${rfc3339Micros(sql`as_of`)} as as_of,
             -- Ordered, although one record is enough: behind a list's end only the index knows at once that there is none.
             coalesce((select true from ${table}
                        where service_id = ${service.id} ${complete} ${behind(sql`(last_order, last_key)`)} ${where}
                        ${ordered} limit 1), false) as more
        from walk ${listed}`,
    { planned, position: replayed },
  )
  return toPage(reads, replayed)
}

/** Records in a text of a portion. */
const recordsPerChunk = 100

/**
 * Several texts, each of them behind the one before. V8 copies texts of up to 128 KB while they are young, and soon throws them away; a longer one
 * that is in use when it collects what is young is old from then on, and some 80 MB of them gather until it collects that. That PostgreSQL walks on
 * from the end of a text costs a fifth less than numbering the records and grouping them.
 */
const readChunks = (
  joined: (onwards: Sql, most: number) => Sql,
  onwards: Sql,
  behind: (end: Sql) => Sql,
  most: number,
) => sql`
  left join (
    with recursive piece as (
      select 1 as place, first.* from (${joined(onwards, recordsPerChunk)}) first
      union all
      select place + 1, next.*
        from piece cross join lateral (${joined(behind(sql`(piece.last_order, piece.last_key)`), recordsPerChunk)}) next
       where piece.many = ${recordsPerChunk} and place < ${Math.ceil(most / recordsPerChunk)})
    select * from piece) listed on records is not null
   order by place`

/** What the statement of a page answers: a row for each text, and one where there is no record. */
export interface PageRow {
  records: string | null
  last_order: string | null
  last_key: string | null
  as_of: string
  more: boolean
}

export function toPage(reads: readonly PageRow[], position: string | undefined): Page {
  const last = reads.at(-1)
  if (!last) throw new Error('an aggregate answers one row')
  const { as_of: asOf, more: hasNextPage, last_order: order, last_key: key } = last
  const records = reads.flatMap(read => read.records ?? [])
  return { records, asOf, position, hasNextPage, end: order === null || key === null ? null : [order, key] }
}

/** A walk's moment as answers have it: RFC 3339, to the microsecond. */
export const rfc3339Micros = (moment: Sql) =>
  sql`to_char(${moment} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

/** What stands between records. */
export const recordSeparator = (lines = false) => raw(lines ? "E'\\n'" : "','")

/** Said in the text, because the planner takes a limit that it does not know for a tenth of the table, and then plans each call anew. */
const literalLimit = (limit: number) => raw(String(Math.max(limit, 100)))

/** By change: the order of the lists that follow changes. */
export const byChangeTimestamp = { column: sql`changed_at`, type: 'timestamptz' } as const

/**
 * A value that the planner does not see. It would plan a page near a list's end, where it expects few records, anew each time: the
 * planning takes as long as the reading, and the plan is the same.
 */
export const opaqueParam = (value: string, type: 'text' | 'timestamp' | 'timestamptz') =>
  sql`(select ${value}::${raw(type)})`

/** A list's changes after a moment; see `unseen`. */
export const changedAfter = (moment: string) => sql`and changed_at > ${opaqueParam(moment, 'timestamptz')}`

/** A condition, beginning with `and`, for a filter that is given. */
export const filter = <T>(value: T | undefined, condition: (value: T) => Sql): Sql =>
  value === undefined ? sql`` : condition(value)
