import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { readDatabaseTime } from '../lists/change-timestamp.ts'
import { upsertStock } from './stock.ts'

/** The stock of a SKU in a location, as the back office has just reported it. */
interface FreshStock {
  storeId: string
  skuId: string
  freeStock: number
}

/** Returns the SKUs of an order, by the back office's IDs. */
export const findOrderSkuIds = async (db: Db, service: Service, orderId: string): Promise<string[]> =>
  (
    await db.rows<{ skuId: string }>(
      sql`select distinct sku_id as "skuId" from order_line where service_id = ${service.id} and order_id = ${orderId}`,
    )
  ).map(({ skuId }) => skuId)

/**
 * Fetches the complete stock of some SKUs and stores it. The back office omits locations without units, so a known location that is not among
 * the rows has at most 0 units. Skips locations that Tillbridge doesn't know.
 */
export async function refreshStock(
  db: Database,
  service: Service,
  skuIds: readonly string[],
  fetchStock: (skuIds: readonly string[]) => Promise<FreshStock[]>,
) {
  const requestedAt = await readDatabaseTime(db)
  const fetchedStock = await fetchStock(skuIds)
  const stored = await db.rows<{ storeId: string; skuId: string }>(sql`
    select c.store_id as "storeId", v.sku_id as "skuId"
      from store c cross join variant v
     where c.service_id = ${service.id} and v.service_id = ${service.id} and v.sku_id = any(${skuIds})
       and (exists (select from stock s where s.service_id = c.service_id and s.store_id = c.store_id and s.sku_id = v.sku_id)
            or c.store_id = any(${fetchedStock.map(({ storeId }) => storeId)}))`)
  const units = new Map(fetchedStock.map(({ storeId, skuId, freeStock }) => [`${storeId} ${skuId}`, freeStock]))
  const rows = stored.map(row => {
    const freeStock = units.get(`${row.storeId} ${row.skuId}`)
    return { ...row, freeStock: freeStock ?? 0, isAtMost: freeStock === undefined }
  })
  if (rows.length) await upsertStock(db, service, rows, { skipOutdated: false, requestedAt })
}
