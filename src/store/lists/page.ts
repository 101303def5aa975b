import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import { rfc3339Micros } from '../../database/rfc3339.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type FixedAsOf, resolveAsOf, type TimestampSource, tableSql } from './as-of.ts'
import { materialized, opaqueParam } from './planner-fences.ts'

/** The end of a page: the value that orders it, and the key that breaks ties. */
export type PageEnd = readonly [order: string, key: string]

/** A request for one page of a paginated scan. */
export interface PageRequest extends FixedAsOf {
  /** The maximum number of records. `asLines` rounds it up to whole strings of `recordsPerString`. */
  limit: number
  /** End of the previous page. Absent: the first page. */
  after?: PageEnd
  /** True for a chunk of a bulk export: line breaks join the records. Lists in their default order set `descending` to false for it. */
  asLines?: boolean
}

export interface Page {
  /** JSON of the records, joined by commas, or by line breaks if `asLines`. A page has one string or none, a chunk of an export several. */
  records: readonly string[]
  asOf: string
  /** LSN that includes the complete scan. Undefined: only the primary can continue the scan. */
  position?: string | undefined
  hasNextPage: boolean
  end: PageEnd | null
}

/** Creates the only page of a scan without records. */
export const createEmptyPage = (asOf: string): Page => ({ records: [], asOf, hasNextPage: false, end: null })

/** The SQL of a list. */
export interface ListSource {
  table: TimestampSource
  /** The table with the change timestamps. Default: `table`. */
  timestampSource?: TimestampSource
  /** True if `table` includes the list's tombstones: `asOf` then covers them too. */
  withTombstones?: boolean
  /** JSON of a record, as text that is sent unchanged. */
  record: Sql
  /** The order before the unique key. Absent: only the key. */
  order?: { column: Sql; type: 'text' | 'timestamp' | 'timestamptz' }
  key: Sql
  /**
   * True for a look-up instead of a scan of changes. Records keep their places in its order, so it needs no `asOf` bound and shows everything
   * that is committed now.
   */
  live?: boolean
  descending?: boolean
  /** Only records that changed later than this, RFC 3339 with microseconds in UTC. If there are none, no page is read. */
  changedAfter?: string | undefined
  /** Conditions, each beginning with `and`. */
  where?: Sql
}

/** True if a list has no change after a timestamp: most polls. Both timestamps have the format of `rfc3339Micros`. */
export const hasNoChanges = (newest: string | undefined, changedAfter: string | undefined): newest is string =>
  newest !== undefined && changedAfter !== undefined && newest <= changedAfter

/** Reads one page: a single index scan from the end of the previous page. The database joins the records into the response text. */
export async function readPage(
  db: Db,
  service: Service,
  source: ListSource,
  { limit, after, asLines, ...fixed }: PageRequest,
): Promise<Page> {
  const {
    table: from,
    timestampSource: timestamps = from,
    withTombstones,
    record,
    key,
    order: { column: order, type } = { column: key, type: 'text' },
    live = false,
    descending = false,
    changedAfter,
    where = sql``,
  } = source
  const table = tableSql(from)
  const beyond = raw(descending ? '<' : '>')
  const direction = raw(descending ? 'desc' : 'asc')
  const { asOf, newest, position } = await resolveAsOf(db, service, timestamps, fixed, withTombstones)
  if (!live && hasNoChanges(newest, changedAfter)) return { ...createEmptyPage(newest), position }
  // A look-up shows the current state, which only the primary has.
  const replicaPosition = live ? undefined : position
  const isComplete = live ? sql`` : sql`and changed_at <= (select as_of from scan)`
  const conditions = sql`${isComplete} ${filter(changedAfter, isChangedAfter)} ${where}`
  const isAfter = (end: Sql) => sql`and (${order}, ${key}) ${beyond} ${end}`
  const ordered = sql`order by ${order} ${direction}, ${key} ${direction}`
  // The inner limit is for the planner (`literalLimit`), the outer one is exact. `[count(*)]` takes the last element.
  const selectChunk = (condition: Sql, maxRecords: number) => sql`
    select string_agg(record, ${recordSeparator(asLines)}) as records,
           (array_agg("order"))[count(*)] as last_order, (array_agg(key))[count(*)] as last_key, count(*) as record_count
      from (select * from (
              select ${record} as record, ${order} as "order", ${key} as key
                from ${table}
               where service_id = ${service.id} ${conditions} ${condition}
               ${ordered}
               limit ${literalLimit(maxRecords)}) candidate limit ${maxRecords}) page`
  const isAfterLastPage = after
    ? isAfter(sql`(${opaqueParam(after[0], type)}, ${opaqueParam(after[1], 'text')})`)
    : sql``
  const listed = asLines
    ? selectStrings(selectChunk, isAfterLastPage, isAfter, limit)
    : sql`cross join (${selectChunk(isAfterLastPage, limit)}) listed`
  const rows = await db.rows<PageRow>(
    sql`
      with scan as ${materialized(sql`select ${asOf} as as_of`)}
      select listed.records, listed.last_order::text, listed.last_key, ${rfc3339Micros(sql`as_of`)} as as_of,
             -- Ordered although one record is enough: at the end of a list, only the ordered index finds at once that there are no more.
             coalesce((select true from ${table}
                        where service_id = ${service.id} ${conditions} ${isAfter(sql`(last_order, last_key)`)}
                        ${ordered} limit 1), false) as more
        from scan ${listed}`,
    { lsn: replicaPosition },
  )
  return toPage(rows, replicaPosition)
}

/** Records in one string of an export chunk. */
const recordsPerString = 100

/**
 * Selects several strings, each from the end of the previous one. Strings up to 128 KB die in V8's young generation. Longer ones that are in
 * use during a minor collection are promoted, and about 80 MB of them accumulate until the next major collection. Continuing from the end of
 * a string costs PostgreSQL a fifth less than numbering and grouping the records.
 */
const selectStrings = (
  selectChunk: (condition: Sql, maxRecords: number) => Sql,
  isAfterLastPage: Sql,
  isAfter: (end: Sql) => Sql,
  limit: number,
) => sql`
  left join (
    with recursive piece as (
      select 1 as number, first.* from (${selectChunk(isAfterLastPage, recordsPerString)}) first
      union all
      select number + 1, next.*
        from piece cross join lateral (${selectChunk(isAfter(sql`(piece.last_order, piece.last_key)`), recordsPerString)}) next
       where piece.record_count = ${recordsPerString} and number < ${Math.ceil(limit / recordsPerString)})
    select * from piece) listed on records is not null
   order by number`

/** A row of a page's statement: one per string, and one without records if the page is empty. */
export interface PageRow {
  records: string | null
  last_order: string | null
  last_key: string | null
  as_of: string
  more: boolean
}

/** Builds a page from the rows of its statement. */
export function toPage(rows: readonly PageRow[], position: string | undefined): Page {
  const last = rows.at(-1)
  if (!last) throw new Error('aggregate of a page returned no row')
  const { as_of: asOf, more: hasNextPage, last_order: order, last_key: key } = last
  const records = rows.flatMap(row => row.records ?? [])
  return { records, asOf, position, hasNextPage, end: order === null || key === null ? null : [order, key] }
}

/** SQL for the text between two records in a string. */
export const recordSeparator = (asLines = false) => raw(asLines ? "E'\\n'" : "','")

/**
 * Limit as a literal: for a parameter, the planner estimates a tenth of the table, and then plans each execution. At least 100, so that
 * pages of all sizes have one statement text, and with it one prepared statement.
 */
const literalLimit = (limit: number) => raw(String(Math.max(limit, 100)))

/** The order of lists that clients read by change. */
export const byChangeTimestamp = { column: sql`changed_at`, type: 'timestamptz' } as const

export const isChangedAfter = (timestamp: string) => sql`and changed_at > ${opaqueParam(timestamp, 'timestamptz')}`

/** Condition of an optional filter, empty if the filter is undefined. `condition` must return SQL that begins with `and`. */
export const filter = <T>(value: T | undefined, condition: (value: T) => Sql): Sql =>
  value === undefined ? sql`` : condition(value)
