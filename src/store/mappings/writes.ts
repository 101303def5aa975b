import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { lockProducts, renderProducts } from '../catalog/products.ts'
import { rerenderStock } from '../inventory/stale-stock.ts'
import { beginChange, type Upserted } from '../lists/change-timestamp.ts'

/** What one SKU is in the e-commerce platform: what is not mentioned stays, null takes it away. The product is that of the whole colour. */
interface SkuMapping {
  skuId: string
  ecommerceSku?: string | null
  ecommerceProductId?: string | null
}

/** Maps SKUs; the products and the stock that show them follow. A SKU that is mapped to nothing goes by its `skuId`. */
export const mapSkus = (db: Database, service: Service, rows: readonly SkuMapping[]): Promise<Upserted> =>
  db.transaction(tx => mergeSkus(tx, service, rows))

/** The same for one, within a transaction. False where another SKU goes by the name. */
export async function mapSku(tx: Db, service: Service, row: SkuMapping): Promise<boolean> {
  await tx.run(sql`savepoint sku`)
  try {
    await mergeSkus(tx, service, [row])
    return true
  } catch (error) {
    if (!isSkuTaken(error)) throw error
    await tx.run(sql`rollback to savepoint sku`)
    return false
  }
}

const isSkuTaken = (error: unknown) =>
  (error as { constraint?: unknown } | undefined)?.constraint === 'variant_service_id_sku_key'

async function mergeSkus(tx: Db, service: Service, rows: readonly SkuMapping[]): Promise<Upserted> {
  await lockProducts(tx, service, { skus: rows.map(row => row.skuId) })
  const change = await beginChange(tx, service, ['product', 'stock'])
  const given = sql`json_array_elements(${JSON.stringify(rows)}) i`
  // `->` tells a null that is given from what is not mentioned.
  const renamed = await tx.rows<Touched>(sql`
    update variant v set sku = coalesce(i->>'ecommerceSku', v.sku_id)
      from ${given}
     where v.service_id = ${service.id} and v.sku_id = i->>'skuId'
       and i->'ecommerceSku' is not null and v.sku <> coalesce(i->>'ecommerceSku', v.sku_id)
    returning v.sku_id, v.product_id`)
  const resold = await tx.rows<Touched>(sql`
    update colour c set ecommerce_product_id = i->>'ecommerceProductId'
      from ${given} join variant v on v.service_id = ${service.id} and v.sku_id = i->>'skuId'
     where c.service_id = ${service.id} and c.product_id = v.product_id and c.colour_id = v.colour_id
       and i->'ecommerceProductId' is not null and c.ecommerce_product_id is distinct from i->>'ecommerceProductId'
    returning v.sku_id, v.product_id`)
  const touched = [...renamed, ...resold]
  if (touched.length)
    await renderProducts(tx, service, change, sql`and p.product_id = any(${touched.map(row => row.product_id)})`)
  const skus = renamed.map(row => row.sku_id)
  if (skus.length) await rerenderStock(tx, service, change, 'sku_id', skus)
  return { inserted: 0, changed: new Set(touched.map(row => row.sku_id)).size }
}

interface Touched {
  sku_id: string
  product_id: string
}
