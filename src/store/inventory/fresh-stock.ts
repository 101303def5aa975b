import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
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

/** Stores the complete stock of some SKUs: a location that is not among the rows has none left. Unknown locations are skipped. */
export async function storeFreshStock(
  db: Database,
  service: Service,
  skuIds: readonly string[],
  fresh: readonly FreshStock[],
) {
  const stored = await db.rows<{ storeId: string; skuId: string }>(sql`
    select c.store_id as "storeId", v.sku_id as "skuId"
      from store c cross join variant v
     where c.service_id = ${service.id} and v.service_id = ${service.id} and v.sku_id = any(${skuIds})
       and (exists (select from stock s where s.service_id = c.service_id and s.store_id = c.store_id and s.sku_id = v.sku_id)
            or c.store_id = any(${fresh.map(({ storeId }) => storeId)}))`)
  const freeStock = new Map(fresh.map(row => [`${row.storeId} ${row.skuId}`, row.freeStock]))
  const rows = stored.map(row => ({ ...row, freeStock: freeStock.get(`${row.storeId} ${row.skuId}`) ?? 0 }))
  if (rows.length) await upsertStock(db, service, rows)
}
