import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { currentlyReserved } from './reservations.ts'

/**
 * Returns the store that each SKU is taken from, by e-commerce SKU. It is the store with this number if it keeps the SKU. Otherwise it is the
 * store with the most stock that no order or reservation has. A SKU that no store keeps has no entry.
 */
export async function findStockSources(
  tx: Db,
  service: Service,
  skus: readonly string[],
  storeNumber: string | undefined,
): Promise<Map<string, string>> {
  const named = sql`select store_id from store where service_id = ${service.id} and store_number = ${storeNumber ?? null}`
  const rows = await tx.rows<{ sku: string; store_id: string }>(sql`
    select v.sku, s.store_id
      from variant v
     cross join lateral (
       select store_id from stock s where s.service_id = v.service_id and s.sku_id = v.sku_id
        order by store_id = (${named}) desc nulls last, free_stock - allocated - ${currentlyReserved()} desc, store_id limit 1) s
     where v.service_id = ${service.id} and v.sku = any(${skus})`)
  return new Map(rows.map(row => [row.sku, row.store_id]))
}
