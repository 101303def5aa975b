import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { momentOf, tableOf } from './as-of.ts'
import {
  between,
  type Page,
  type PageRequest,
  pageFrom,
  type Read,
  rfc3339Micros,
  type Source,
  unseen,
} from './page.ts'

/** A condition that the index of the walk does not serve, since the walk has another order. */
interface Sieve {
  /** Begins with `and`. */
  where: Sql
  /** What it is about; the table has an index by service and this column. */
  column: Sql
}

/** The most records that are sorted for each page, where so few fit the condition. */
const few = 2_000
/** The places of the walk that are looked at for a page where more records fit. */
const placesAtMost = 10_000

/**
 * One page of a walk that is in one order and has a condition on something else: `asc=true` with `updated_after`. No index serves two
 * ranges at once, so a page costs a bounded amount of work, at any depth, rather than a page's worth. Where few records fit they are found
 * by their own index and sorted. Where many do, a fixed number of the walk's places is looked at, in the index alone, and those that fit
 * are the page. Such a page may hold less than was asked for, even nothing, and still not be the last one.
 */
export async function readSieved(
  db: Db,
  service: Service,
  { table: stamps, record, key, order, descending = false, where = sql`` }: Source & Required<Pick<Source, 'order'>>,
  sieve: Sieve,
  { limit, after, lines, ...fixed }: PageRequest,
): Promise<Page> {
  const table = tableOf(stamps)
  const [beyond, direction, back] = (descending ? ['<', 'desc', 'asc'] : ['>', 'asc', 'desc']).map(raw)
  const { asOf, position } = await momentOf(db, service, stamps, fixed)
  const from = after
    ? sql`and (place, key) ${beyond} (${unseen(after[0], order.type)}, ${unseen(after[1], 'text')})`
    : sql``
  const listed = sql`from (select *, ${order.column} as place, ${key} as key from ${table}) listed
          where service_id = ${service.id} and changed_at <= (select as_of from walk)`
  const inOrder = sql`order by place ${direction}, key ${direction}`
  return pageFrom(
    await db.rows<Read>(
      sql`
      with walk as materialized (select ${asOf} as as_of),
      let_through as materialized (select place, key, (true ${where}) as within ${listed} ${sieve.where} order by ${sieve.column} limit ${raw(String(few + 1))}),
      size as materialized (select count(*) > ${raw(String(few))} as many from let_through),
      places as materialized (
        select place, key, true as fits from let_through where within and not (select many from size) ${from}
        union all
        (select place, key, (true ${sieve.where}) ${listed} ${where} ${from} and (select many from size) ${inOrder} limit ${raw(String(placesAtMost))})),
      page as materialized (select place, key, row_number() over (${inOrder}) as n from places where fits ${inOrder} limit ${limit + 1}),
      ending as (
        (select place, key from page where n = ${limit} and exists (select from page where n > ${limit}))
        union all
        (select place, key from places where not exists (select from page where n > ${limit}) order by place ${back}, key ${back} limit 1))
      select (select string_agg(${record}, ${between(lines)} ${inOrder}) from page join ${table} on service_id = ${service.id} and ${table}.${key} = page.key where n <= ${limit}) as records,
             (select place::text from ending) as last_order, (select key from ending) as last_key, ${rfc3339Micros(sql`as_of`)} as as_of,
             exists (select from page where n > ${limit}) or (select many from size) and (select count(*) from places) = ${raw(String(placesAtMost))} as more
        from walk`,
      { position },
    ),
    position,
  )
}
