import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { lockProducts, renderProducts } from '../catalog/products.ts'
import { rerenderStock } from '../inventory/stale-stock.ts'
import { beginChange, type Upserted } from '../lists/change-timestamp.ts'

/** The platform IDs of a SKU. Undefined: unchanged. Null: removed. The product ID applies to all SKUs of the colour. */
interface SkuMapping {
  skuId: string
  ecommerceSku?: string | null
  ecommerceProductId?: string | null
}

/** Maps SKUs, and renders the products and stock that show them. A SKU without a mapping uses its `skuId`. */
export const mapSkus = (db: Database, service: Service, rows: readonly SkuMapping[]): Promise<Upserted> =>
  db.transaction(tx => mergeSkus(tx, service, rows))

/** Maps one SKU, within a transaction. Returns false if another SKU has the e-commerce SKU. */
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
  const mappings = sql`json_array_elements(${JSON.stringify(rows)}) i`
  // `->` distinguishes a JSON null from a missing field.
  const renamed = await tx.rows<RenderedSku>(sql`
    update variant v set sku = coalesce(i->>'ecommerceSku', v.sku_id)
      from ${mappings}
     where v.service_id = ${service.id} and v.sku_id = i->>'skuId'
       and i->'ecommerceSku' is not null and v.sku <> coalesce(i->>'ecommerceSku', v.sku_id)
    returning v.sku_id, v.product_id`)
  const changedProducts = await tx.rows<RenderedSku>(sql`
    update colour c set ecommerce_product_id = i->>'ecommerceProductId'
      from ${mappings} join variant v on v.service_id = ${service.id} and v.sku_id = i->>'skuId'
     where c.service_id = ${service.id} and c.product_id = v.product_id and c.colour_id = v.colour_id
       and i->'ecommerceProductId' is not null and c.ecommerce_product_id is distinct from i->>'ecommerceProductId'
    returning v.sku_id, v.product_id`)
  const changed = [...renamed, ...changedProducts]
  if (changed.length)
    await renderProducts(tx, service, change, sql`and p.product_id = any(${changed.map(row => row.product_id)})`)
  const skus = renamed.map(row => row.sku_id)
  if (skus.length) await rerenderStock(tx, service, change, 'sku_id', skus)
  return { inserted: 0, changed: new Set(changed.map(row => row.sku_id)).size }
}

interface RenderedSku {
  sku_id: string
  product_id: string
}
