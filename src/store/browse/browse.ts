/** Reads any part of a list for a table on a screen: filtered, sorted and with its number of rows. */
import { type Db, sql } from '../../database/db.ts'
import { type BrowsedList, type BrowsedRows, maxOffset } from '../../domain/browse.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { tables } from './tables.ts'

interface BrowseRequest {
  text?: string | undefined
  /** One of the table's filters. */
  filter?: string | undefined
  /** One of the table's columns, after `-` if it is descending. */
  sort?: string | undefined
  limit: number
  offset: number
}

export async function browse(
  db: Db,
  service: Service,
  list: BrowsedList,
  { text, filter, sort, limit, offset }: BrowseRequest,
): Promise<BrowsedRows> {
  const table = tables[list]
  const column = sort?.replace('-', '') ?? table.defaultSort.replace('-', '')
  const direction = (sort ?? table.defaultSort).startsWith('-') ? sql`desc nulls last` : sql`asc nulls last`
  const order = table.sorts[column]
  const condition = filter === undefined ? undefined : table.filters[filter]
  const from = sql`
    from ${table.from}
   where t.service_id = ${service.id} ${condition ? sql`and ${condition(service)}` : sql``} ${text ? sql`and ${table.search(service, text)}` : sql``}`
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
