import { type Db, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { readFilteredScan } from '../lists/filtered-scan.ts'
import { byChangeTimestamp, filter, type PageRequest, readPage } from '../lists/page.ts'
import { mayHaveExpired } from './reservations.ts'
import { currentRecord } from './stock.ts'

/** The part of an explanation that depends on the source of the stock. */
interface Explained {
  unshipped: 'excluded' | 'included'
}

/**
 * The record of stock, with the origin of its numbers if it is explained. Shows the end of a reservation at once: the stored record follows
 * later. Its change timestamp stays, so that a scan of changes finds the stored record.
 */
function stockRecord(service: Service, explained: Explained | undefined) {
  const record = sql`case when ${mayHaveExpired(service, sql`stock`)} then (${currentRecord(service, sql`stock`)}) else record end`
  return explained
    ? sql`left(${record}, -1) || ',"explanation":' || json_build_object(
        'bufferFrom', case when buffer is not null then 'sku'
                           when (select inventory_buffer from store c where c.service_id = ${service.id} and c.store_id = stock.store_id) is not null then 'store'
                           else 'service' end,
        'unshipped', ${explained.unshipped}::text,
        'sourceTimeStamp', to_char(source_changed_at, 'YYYY-MM-DD HH24:MI:SS'))::text || '}'`
    : record
}

interface Filters {
  skuId?: string | undefined
  storeNumber?: string | undefined
  updatedAfter?: string | undefined
  explained?: Explained | undefined
}

/** Reads a page of stock (`StockLevel`): by change, or by ID for one SKU without `updatedAfter`. */
export function readStockPage(
  db: Db,
  service: Service,
  { skuId, storeNumber, updatedAfter, explained }: Filters,
  request: PageRequest,
) {
  const list = {
    table: 'stock',
    record: stockRecord(service, explained),
    key: sql`id`,
    changedAfter: updatedAfter,
  } as const
  const where = filter(
    storeNumber,
    number =>
      sql`and store_id = (select store_id from store where service_id = ${service.id} and store_number = ${number})`,
  )
  if (skuId === undefined) return readPage(db, service, { ...list, order: byChangeTimestamp, where }, request)
  const isSku = sql`and sku_id = ${skuId}`
  return updatedAfter === undefined
    ? readPage(db, service, { ...list, live: true, where: sql`${isSku} ${where}` }, request)
    : readFilteredScan(
        db,
        service,
        { ...list, order: byChangeTimestamp, where },
        { where: isSku, column: sql`sku_id` },
        request,
      )
}

/** Selects the stock with this ID: store ID, dash, SKU. Both parts can contain dashes. */
export const selectStockByApiId = (service: Service, id: Sql) => sql`
  select s.* from generate_series(1, length(${id})) ordinal
    join variant v on v.service_id = ${service.id} and v.sku = substr(${id}, ordinal + 1)
    join stock s on s.service_id = v.service_id and s.store_id = left(${id}, ordinal - 1) and s.sku_id = v.sku_id
   where substr(${id}, ordinal, 1) = '-'`

/** Returns the JSON of the stock of one SKU in one store. */
export const findStock = (db: Db, service: Service, id: string, explained?: Explained) =>
  db.row<{ record: string }>(
    sql`select ${stockRecord(service, explained)} as record from (${selectStockByApiId(service, sql`${id}::text`)}) stock`,
  )
