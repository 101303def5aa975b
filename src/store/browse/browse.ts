/** Reads any part of a list for a table on a screen: filtered, sorted and with its number of rows. */
import { type Db, sql } from '../../database/db.ts'
import { type BrowsedList, type BrowsedRows, maxOffset } from '../../domain/browse.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { availableUnits } from './available-units.ts'
import { tables } from './tables.ts'

interface BrowseRequest {
  text?: string | undefined
  /** One of the table's filters. */
  filter?: string | undefined
  /** One of the table's columns, after `-` if it is descending. */
  sort?: string | undefined
  /** The period of the rows, RFC 3339: from this time on, and before this time. */
  from?: string | undefined
  until?: string | undefined
  limit: number
  offset: number
}

/** Reads rows of a table for a screen, and counts all matching rows. `total` is null if there are more than `maxOffset`. */
export async function browse(
  db: Db,
  service: Service,
  list: BrowsedList,
  { text, filter, sort, from: periodStart, until, limit, offset }: BrowseRequest,
): Promise<BrowsedRows> {
  const table = tables[list]
  const column = sort?.replace('-', '') ?? table.defaultSort.replace('-', '')
  const direction = (sort ?? table.defaultSort).startsWith('-') ? sql`desc nulls last` : sql`asc nulls last`
  const order = table.sorts[column]
  const condition = filter === undefined ? undefined : table.filters[filter]
  const conditions = [
    condition?.(service),
    periodStart === undefined ? undefined : table.period?.(service, '>=', periodStart),
    until === undefined ? undefined : table.period?.(service, '<', until),
    text ? table.search(service, text) : undefined,
  ].filter(part => part !== undefined)
  const from = sql`
    from ${table.from}
   where t.service_id = ${service.id} ${conditions.reduce((all, part) => sql`${all} and ${part}`, sql``)}`
  // The values are computed only for the rows of the page, and not for the rows before them.
  const [counted, rows] = await Promise.all([
    db.row<{ total: number }>(
      sql`select count(*)::integer as total from (select ${from} limit ${maxOffset + 1}) matching`,
    ),
    db.rows<{ row: BrowsedRows['rows'][number] }>(sql`
      select (select to_json(r) from (select ${table.select(service)}) r) as row
        from (select t.*, row_number() over () as place
                from (select t.* ${from} order by ${order ?? sql``} ${direction}, ${table.key} limit ${limit} offset ${offset}) t) t
       ${table.joins ?? sql``}
       order by t.place`),
  ])
  const total = counted?.total ?? 0
  return {
    total: total > maxOffset ? null : total,
    timeZone: service.settings.timeZone,
    rows: rows.map(({ row }) => row),
  }
}

/** The totals of a store's stock. Units can have decimals. */
interface StoreSummary {
  /** Stock levels. */
  skus: number
  /** Stock levels with units that can be sold. */
  inStock: number
  /** Stock levels with 1 to 3 units that can be sold. */
  low: number
  onHand: number
  available: number
}

/** Sums up the stock of a store. Returns undefined if the store doesn't exist. */
export const readStoreSummary = (db: Db, service: Service, storeNumber: string) =>
  db.row<StoreSummary>(sql`
    select count(sku_id)::integer as skus,
           count(*) filter (where available > 0)::integer as "inStock",
           count(*) filter (where available > 0 and available <= 3)::integer as low,
           coalesce(sum(free_stock), 0)::float8 as "onHand",
           coalesce(sum(available), 0)::float8 as available
      from (select s.sku_id, s.free_stock, st.store_id,
                   ${availableUnits(service, sql`s`, sql`st`)} as available
              from store st
              left join stock s on s.service_id = st.service_id and s.store_id = st.store_id
             where st.service_id = ${service.id} and st.store_number = ${storeNumber}) level
     group by store_id`)
