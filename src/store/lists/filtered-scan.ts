import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { resolveAsOf, tableSql } from './as-of.ts'
import {
  type ListSource,
  opaqueParam,
  type Page,
  type PageRequest,
  type PageRow,
  recordSeparator,
  rfc3339Micros,
  toPage,
} from './page.ts'

/** A condition that the index of the walk does not serve, since the walk has another order. */
interface ScanFilter {
  /** Begins with `and`. */
  where: Sql
  /** What it is about; the table has an index by service and this column. */
  column: Sql
}

/** The most records that are sorted for each page, where so few fit the condition. */
const maxSortedRecords = 2_000
/** The places of the walk that are looked at for a page where more records fit. */
const maxScannedRows = 10_000

/**
 * One page of a walk that is in one order and has a condition on something else: `asc=true` with `updated_after`. No index serves two
 * ranges at once, so a page costs a bounded amount of work, at any depth, rather than a page's worth. Where few records fit they are found
 * by their own index and sorted. Where many do, a fixed number of the walk's places is looked at, in the index alone, and those that fit
 * are the page. Such a page may hold less than was asked for, even nothing, and still not be the last one.
 */
export async function readFilteredScan(
  db: Db,
  service: Service,
  {
    table: stamps,
    record,
    key,
    order,
    descending = false,
    where = sql``,
  }: ListSource & Required<Pick<ListSource, 'order'>>,
  sieve: ScanFilter,
  { limit, after, asLines: lines, ...fixed }: PageRequest,
): Promise<Page> {
  const table = tableSql(stamps)
  const [beyond, direction, back] = (descending ? ['<', 'desc', 'asc'] : ['>', 'asc', 'desc']).map(raw)
  const { asOf, position } = await resolveAsOf(db, service, stamps, fixed)
  const from = after
    ? sql`and (place, key) ${beyond} (${opaqueParam(after[0], order.type)}, ${opaqueParam(after[1], 'text')})`
    : sql``
  const listed = sql`from (select *, ${order.column} as place, ${key} as key from ${table}) listed
          where service_id = ${service.id} and changed_at <= (select as_of from walk)`
  const inOrder = sql`order by place ${direction}, key ${direction}`
  return toPage(
    await db.rows<PageRow>(
      sql`
      with walk as materialized (select ${asOf} as as_of),
      let_through as materialized (select place, key, (true ${where}) as within ${listed} ${sieve.where} order by ${sieve.column} limit ${raw(String(maxSortedRecords + 1))}),
      size as materialized (select count(*) > ${raw(String(maxSortedRecords))} as many from let_through),
      places as materialized (
        select place, key, true as fits from let_through where within and not (select many from size) ${from}
        union all
        (select place, key, (true ${sieve.where}) ${listed} ${where} ${from} and (select many from size) ${inOrder} limit ${raw(String(maxScannedRows))})),
      page as materialized (select place, key, row_number() over (${inOrder}) as n from places where fits ${inOrder} limit ${limit + 1}),
      ending as (
        (select place, key from page where n = ${limit} and exists (select from page where n > ${limit}))
        union all
        (select place, key from places where not exists (select from page where n > ${limit}) order by place ${back}, key ${back} limit 1))
      select (select string_agg(${record}, ${recordSeparator(lines)} ${inOrder}) from page join ${table} on service_id = ${service.id} and ${table}.${key} = page.key where n <= ${limit}) as records,
             (select place::text from ending) as last_order, (select key from ending) as last_key, ${rfc3339Micros(sql`as_of`)} as as_of,
             exists (select from page where n > ${limit}) or (select many from size) and (select count(*) from places) = ${raw(String(maxScannedRows))} as more
        from walk`,
      { position },
    ),
    position,
  )
}
