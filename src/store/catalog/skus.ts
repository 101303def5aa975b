import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { opaqueServiceId } from '../lists/planner-fences.ts'

/** Returns the back office's IDs of these e-commerce SKUs and of their products. Omits unknown SKUs. */
export const findSkus = (db: Db, service: Service, skus: readonly string[]) =>
  db.rows<{ sku: string; skuId: string; productId: string; allowBackorder: boolean }>(
    sql`select sku, sku_id as "skuId", product_id as "productId", allow_backorder as "allowBackorder" from variant where service_id = ${service.id} and sku = any(${skus})`,
  )

/** Returns the SKUs with these IDs. Omits unknown IDs. */
export const findSkusById = (db: Db, service: Service, ids: readonly string[]) =>
  db.rows<{ sku: string; skuId: string }>(
    sql`select sku, sku_id as "skuId" from variant where service_id = ${opaqueServiceId(service)} and sku_id = any(${ids})`,
  )

/** Returns the product of a SKU, and whether any store has or had stock of it. Returns undefined if the SKU is unknown. */
export const findStockKey = (db: Db, service: Service, skuId: string) =>
  db.row<{ productId: string; wasInStock: boolean }>(sql`
    select product_id as "productId", exists (select from stock s where s.service_id = v.service_id and s.sku_id = v.sku_id) as "wasInStock"
      from variant v where service_id = ${service.id} and sku_id = ${skuId}`)
