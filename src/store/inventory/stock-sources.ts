import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { currentlyReserved } from './reservations.ts'
import { sellableUnits } from './stock.ts'

/** The store that a SKU is taken from, and the units that can be sold there. They are not locked. */
interface StockSource {
  storeId: string
  units: number
}

/**
 * Returns the source of each SKU, by e-commerce SKU. It is the store with this number if it keeps the SKU. Otherwise it is the store with the
 * most stock that no order or reservation has. A SKU that no store keeps has no entry.
 */
export async function findStockSources(
  tx: Db,
  service: Service,
  skus: readonly string[],
  storeNumber: string | undefined,
): Promise<Map<string, StockSource>> {
  const named = sql`select store_id from store where service_id = ${service.id} and store_number = ${storeNumber ?? null}`
  const rows = await tx.rows<StockSource & { sku: string }>(sql`
    select v.sku, s.store_id as "storeId", ${sellableUnits(service)} as units
      from variant v
     cross join lateral (
       select s.* from stock s where s.service_id = v.service_id and s.sku_id = v.sku_id
        order by store_id = (${named}) desc nulls last, free_stock - allocated - ${currentlyReserved()} desc, store_id limit 1) s
      join store c on c.service_id = s.service_id and c.store_id = s.store_id
     where v.service_id = ${service.id} and v.sku = any(${skus})`)
  return new Map(rows.map(({ sku, ...source }) => [sku, source]))
}
