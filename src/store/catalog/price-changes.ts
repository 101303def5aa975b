import { type Database, type Db, sql } from '../../database/db.ts'
import type { SyncRows } from '../../domain/sync/port.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { beginChange, type Upserted } from '../lists/change-timestamp.ts'
import { opaqueServiceId } from '../lists/planner-fences.ts'
import { lockProducts, renderProducts } from './products.ts'

/** Returns the IDs of the SKUs with stored price changes. */
export const findSkusWithPriceChanges = async (db: Db, service: Service): Promise<string[]> =>
  (
    await db.rows<{ skuId: string }>(
      sql`select sku_id as "skuId" from variant where service_id = ${opaqueServiceId(service)} and price_changes <> '[]'`,
    )
  ).map(({ skuId }) => skuId)

/** Replaces the price changes of SKUs, and renders the products whose price changes differ. Ignores unknown SKUs. */
export const replacePriceChanges = (
  db: Database,
  service: Service,
  rows: readonly SyncRows['priceChanges'][],
): Promise<Upserted> =>
  db.transaction(async tx => {
    await lockProducts(tx, service, { skus: rows.map(({ skuId }) => skuId) })
    const change = await beginChange(tx, service, ['product'])
    const changed = await tx.rows<{ productId: string }>(sql`
      update variant v set price_changes = new.changes
        from json_to_recordset(${JSON.stringify(rows)}) as new ("skuId" text, changes jsonb)
       where v.service_id = ${opaqueServiceId(service)} and v.sku_id = new."skuId" and v.price_changes <> new.changes
      returning v.product_id as "productId"`)
    const ids = [...new Set(changed.map(({ productId }) => productId))]
    if (ids.length) await renderProducts(tx, service, change, sql`and p.product_id = any(${ids})`)
    return { inserted: 0, changed: changed.length }
  })
