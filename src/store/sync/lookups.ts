import { type Db, sql } from '../../database/db.ts'
import type { SyncStockRow } from '../../domain/sync/port.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** Finds stores by number, or else by code, because receipts can have either. */
export async function findStoresByNumberOrCode(db: Db, service: Service, names: readonly string[]) {
  const rows = await db.rows<{ name: string; number: string }>(sql`
    select n.name, s.store_number as number
      from unnest(${names}::text[]) n (name)
      join lateral (select store_number from store
                     where service_id = ${service.id} and (store_number = n.name or code = n.name)
                     order by store_number = n.name desc, store_number limit 1) s on true`)
  return new Map(rows.map(row => [row.name, row.number]))
}

/** The codes of a sold item in a sale's line. */
export interface SoldItem {
  productCode: string
  colourCode: string | null
  sizeCode: string | null
}

export const toSoldItemKey = ({ productCode, colourCode, sizeCode }: SoldItem) =>
  JSON.stringify([productCode, colourCode, sizeCode])

/** Finds the SKUs of sold items, by `toSoldItemKey`. Codes that fit several SKUs have none. */
export async function findSkusOfSoldItems(db: Db, service: Service, items: readonly SoldItem[]) {
  const rows = await db.rows<SoldItem & { sku: string }>(sql`
    select i."productCode", i."colourCode", i."sizeCode", min(v.sku) as sku
      from (select distinct * from json_to_recordset(${JSON.stringify(items)}) as r ("productCode" text, "colourCode" text, "sizeCode" text)) i
      join product p on p.service_id = ${service.id} and p.product_code = i."productCode"
      join variant v on v.service_id = p.service_id and v.product_id = p.product_id
      join colour c on c.service_id = v.service_id and c.product_id = v.product_id and c.colour_id = v.colour_id
     where coalesce(c.code, '-') = coalesce(i."colourCode", '-') and v.size_code = coalesce(i."sizeCode", '-')
     group by 1, 2, 3 having count(*) = 1`)
  return new Map(rows.map(row => [toSoldItemKey(row), row.sku]))
}

/** Returns the store and the SKU of each row, in order. A product or colour stands for its only SKU. `skus`: the number of matching SKUs. */
export const resolveStock = (db: Db, service: Service, rows: readonly SyncStockRow[]) =>
  db.rows<{ storeId: string | null; skuId: string | null; skus: number }>(sql`
    select s.store_id as "storeId", v.sku_id as "skuId", v.skus
      from rows from (json_to_recordset(${JSON.stringify(rows)}) as ("storeId" text, "skuId" text, "productId" text, "colourId" text))
           with ordinality r ("storeId", "skuId", "productId", "colourId", place)
      left join store s on s.service_id = ${service.id} and s.store_id = r."storeId"
     cross join lateral (
       select min(sku_id) as sku_id, count(*)::integer as skus from variant
        where service_id = ${service.id}
          and (sku_id = r."skuId" or (r."skuId" is null and product_id = r."productId" and (r."colourId" is null or colour_id = r."colourId")))) v
     order by r.place`)
