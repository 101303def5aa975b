import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import { rfc3339Micros } from '../../database/rfc3339.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { resolveAsOf, tableSql } from './as-of.ts'
import {
  createEmptyPage,
  filter,
  hasNoChanges,
  isChangedAfter,
  type ListSource,
  type Page,
  type PageRequest,
  type PageRow,
  recordSeparator,
  toPage,
} from './page.ts'
import { materialized, opaqueParam } from './planner-fences.ts'

/** A condition that the index of the scan can't serve, because the scan has another order. */
interface ScanFilter {
  /** Begins with `and`. */
  where: Sql
  /** The filtered column. The table must have an index by service and this column. */
  column: Sql
}

/** The work of one page. */
interface ScanLimits {
  /** If at most this many records match the filter, the page sorts all of them. */
  maxSortedRecords: number
  /** If more records match, the page reads this many rows of the scan's index. */
  maxScannedRows: number
}

const initialLimits: ScanLimits = { maxSortedRecords: 2_000, maxScannedRows: 10_000 }

/**
 * Reads one page of a scan that has one order and a filter on another column: `asc=true` with `updated_after`. No index serves two ranges at
 * once, so the work of a page is bounded instead, at any depth. Few matching records are found by the filter's index and sorted. If many
 * records match, a fixed number of index rows is scanned, and the matching ones are the page. Such a page can have fewer records than `limit`,
 * even none, although it is not the last page. Clients take an empty first page for an empty list. Therefore the first page continues with
 * growing limits until it has a record. Its work grows with the rows before the first match, or with the number of matches if that is smaller.
 */
export async function readFilteredScan(
  db: Db,
  service: Service,
  source: ListSource & Required<Pick<ListSource, 'order'>>,
  scanFilter: ScanFilter,
  request: PageRequest,
): Promise<Page> {
  let limits = initialLimits
  let page = await readBoundedScan(db, service, source, scanFilter, request, limits)
  while (!request.after && page.end && page.hasNextPage && page.records.length === 0) {
    limits = { maxSortedRecords: limits.maxSortedRecords * 4, maxScannedRows: limits.maxScannedRows * 4 }
    const { asOf, position, end: after } = page
    page = await readBoundedScan(db, service, source, scanFilter, { ...request, asOf, position, after }, limits)
  }
  return page
}

async function readBoundedScan(
  db: Db,
  service: Service,
  {
    table: from,
    record,
    key,
    order,
    descending = false,
    changedAfter,
    where: condition = sql``,
  }: ListSource & Required<Pick<ListSource, 'order'>>,
  scanFilter: ScanFilter,
  { limit, after, asLines, ...fixed }: PageRequest,
  { maxSortedRecords, maxScannedRows }: ScanLimits,
): Promise<Page> {
  const table = tableSql(from)
  const [beyond, direction, opposite] = (descending ? ['<', 'desc', 'asc'] : ['>', 'asc', 'desc']).map(raw)
  const { asOf, newest, position } = await resolveAsOf(db, service, from, fixed)
  if (hasNoChanges(newest, changedAfter)) return { ...createEmptyPage(newest), position }
  const where = sql`${filter(changedAfter, isChangedAfter)} ${condition}`
  const isAfterLastPage = after
    ? sql`and (place, key) ${beyond} (${opaqueParam(after[0], order.type)}, ${opaqueParam(after[1], 'text')})`
    : sql``
  const listed = sql`from (select *, ${order.column} as place, ${key} as key from ${table}) listed
          where service_id = ${service.id} and changed_at <= (select as_of from scan)`
  const inOrder = sql`order by place ${direction}, key ${direction}`
  return toPage(
    await db.rows<PageRow>(
      sql`
      with scan as ${materialized(sql`select ${asOf} as as_of`)},
      matching as ${materialized(sql`select place, key, (true ${where}) as within ${listed} ${scanFilter.where} order by ${scanFilter.column} limit ${raw(String(maxSortedRecords + 1))}`)},
      size as ${materialized(sql`select count(*) > ${raw(String(maxSortedRecords))} as many from matching`)},
      places as ${materialized(sql`
        select place, key, true as matches from matching where within and not (select many from size) ${isAfterLastPage}
        union all
        (select place, key, (true ${scanFilter.where}) ${listed} ${where} ${isAfterLastPage} and (select many from size) ${inOrder} limit ${raw(String(maxScannedRows))})`)},
      page as ${materialized(sql`select place, key, row_number() over (${inOrder}) as n from places where matches ${inOrder} limit ${limit + 1}`)},
      page_end as (
        (select place, key from page where n = ${limit} and exists (select from page where n > ${limit}))
        union all
        (select place, key from places where not exists (select from page where n > ${limit}) order by place ${opposite}, key ${opposite} limit 1))
      select (select string_agg(${record}, ${recordSeparator(asLines)} ${inOrder}) from page join ${table} on service_id = ${service.id} and ${table}.${key} = page.key where n <= ${limit}) as records,
             (select place::text from page_end) as last_order, (select key from page_end) as last_key, ${rfc3339Micros(sql`as_of`)} as as_of,
             exists (select from page where n > ${limit}) or (select many from size) and (select count(*) from places) = ${raw(String(maxScannedRows))} as more
        from scan`,
      { lsn: position },
    ),
    position,
  )
}
