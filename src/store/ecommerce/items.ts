import { type Database, type Db, sql } from '../../database/db.ts'
import { fileConnection, mainConnection } from '../../domain/ecommerce/connection-settings.ts'
import type { PlatformItem } from '../../domain/ecommerce/items.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { countUpsert, lockRows, type Upserted } from '../lists/change-timestamp.ts'
import { applyAutomaticFix } from '../mappings/automatic-fixes.ts'
import { requestMappingCheck } from '../mappings/platform-items.ts'
import { markItems } from './levels.ts'

const itemColumns = sql`
  i (kind text, "itemKey" text, "ecommerceId" text, name text, other text, "platformId" text, "inventoryItemId" text, "productId" text,
     "isTracked" boolean, "isBundle" boolean, "isGiftCard" boolean, "isActive" boolean, "updatedAt" timestamptz)`

/**
 * Stores items of a connection. The last of several items with one key wins, and a state that is older than the stored one is ignored.
 * Items without a value for mappings are deleted. If the SKU of a variant was renamed, our mapping follows it.
 */
export async function upsertPlatformItems(
  db: Database,
  service: Service,
  items: readonly PlatformItem[],
): Promise<Upserted> {
  const unique = [...new Map(items.map(item => [`${item.kind} ${item.itemKey}`, item])).values()]
  const rows = sql`json_to_recordset(${JSON.stringify(unique)}) ${itemColumns}`
  return db.transaction(async tx => {
    await lockRows(
      tx,
      sql`
        select from ecommerce_item e
         where service_id = ${service.id} and connection_id = ${mainConnection} and (kind, item_key) in (select i.kind, i."itemKey" from ${rows})
         order by kind, item_key for update`,
    )
    const renamed = await findRenamed(tx, service, unique)
    const changed = await findChanged(tx, service, unique)
    await tx.run(sql`
      delete from ecommerce_item e using ${rows}
       where e.service_id = ${service.id} and e.connection_id = ${mainConnection} and e.kind = i.kind and e.item_key = i."itemKey"
         and i."ecommerceId" is null and e.platform_updated_at <= i."updatedAt"`)
    const counts = await countUpsert(
      tx,
      sql`
        insert into ecommerce_item as e (service_id, connection_id, kind, item_key, ecommerce_id, name, other, platform_id, inventory_item_id, product_id,
               is_tracked, is_bundle, is_gift_card, is_active, platform_updated_at, seen_at)
        select ${service.id}, ${mainConnection}, i.kind, i."itemKey", i."ecommerceId", i.name, i.other, i."platformId", i."inventoryItemId", i."productId",
               i."isTracked", i."isBundle", i."isGiftCard", i."isActive", i."updatedAt", now()
          from ${rows} where i."ecommerceId" is not null
         order by i.kind collate "C", i."itemKey" collate "C"
        on conflict (service_id, connection_id, kind, item_key) do update
           set (ecommerce_id, name, other, platform_id, inventory_item_id, product_id, is_tracked, is_bundle, is_gift_card, is_active, platform_updated_at, seen_at)
             = (excluded.ecommerce_id, excluded.name, excluded.other, excluded.platform_id, excluded.inventory_item_id, excluded.product_id,
                excluded.is_tracked, excluded.is_bundle, excluded.is_gift_card, excluded.is_active, excluded.platform_updated_at, excluded.seen_at)
         where e.platform_updated_at <= excluded.platform_updated_at
           and (e.ecommerce_id, e.name, e.other, e.platform_id, e.inventory_item_id, e.product_id, e.is_tracked, e.is_bundle, e.is_gift_card, e.is_active, e.platform_updated_at)
               is distinct from (excluded.ecommerce_id, excluded.name, excluded.other, excluded.platform_id, excluded.inventory_item_id, excluded.product_id,
                excluded.is_tracked, excluded.is_bundle, excluded.is_gift_card, excluded.is_active, excluded.platform_updated_at)
        returning (xmax = 0) as inserted`,
    )
    for (const { skuId, from, to } of renamed)
      await applyAutomaticFix(tx, service, { kind: 'skus', id: skuId, from, to })
    if (changed.length) await markItems(tx, service, changed)
    return counts
  })
}

/** Finds the locations and items whose stock is pushed differently from now on, with their SKUs: one that several items share is held. */
const findChanged = (tx: Db, service: Service, items: readonly PlatformItem[]) =>
  tx.rows<{ platformId: string; skus: string[] }>(sql`
    select coalesce(i."inventoryItemId", i."platformId") as "platformId",
           case when i.kind = 'skus' then array_remove(array[i."ecommerceId", e.ecommerce_id], null) else '{}' end as skus
      from json_to_recordset(${JSON.stringify(items.filter(({ kind }) => kind !== 'customers'))}) ${itemColumns}
      left join ecommerce_item e on e.service_id = ${service.id} and e.connection_id = ${mainConnection} and e.kind = i.kind and e.item_key = i."itemKey"
     where (e.platform_updated_at is null or e.platform_updated_at <= i."updatedAt")
       and (e.ecommerce_id, e.is_tracked, e.is_bundle, e.is_gift_card, e.is_active)
           is distinct from (i."ecommerceId", i."isTracked", i."isBundle", i."isGiftCard", i."isActive")`)

/** Finds our SKUs whose variant on the platform has a new SKU. A SKU that several variants share is not followed. */
const findRenamed = (tx: Db, service: Service, items: readonly PlatformItem[]) =>
  tx.rows<{ skuId: string; from: string; to: string }>(sql`
    select v.sku_id as "skuId", e.ecommerce_id as from, i."ecommerceId" as to
      from json_to_recordset(${JSON.stringify(items.filter(({ kind }) => kind === 'skus'))}) ${itemColumns}
      join ecommerce_item e on e.service_id = ${service.id} and e.connection_id = ${mainConnection} and e.kind = 'skus' and e.item_key = i."itemKey"
      join variant v on v.service_id = e.service_id and v.sku = e.ecommerce_id
     where i."ecommerceId" <> e.ecommerce_id and e.platform_updated_at <= i."updatedAt"
       and not exists (select from ecommerce_item o
                        where o.service_id = e.service_id and o.kind = 'skus' and o.ecommerce_id = e.ecommerce_id
                          and o.connection_id = e.connection_id and o.item_key <> e.item_key)
     order by v.sku_id`)

/** Ends a sync of one kind: items of files are replaced by a full sync, and the mappings are checked if something changed. */
export const finishPlatformSync = (
  db: Database,
  service: Service,
  kind: MappedKind,
  { isFull, hasChanged }: { isFull: boolean; hasChanged: boolean },
) =>
  db.transaction(async tx => {
    const ofKind = sql`service_id = ${service.id} and kind = ${kind}`
    if (isFull) await tx.run(sql`delete from ecommerce_item where ${ofKind} and connection_id = ${fileConnection}`)
    const wasListed = await tx.run(sql`select from mapping_check where ${ofKind} and listed_at is not null`)
    await tx.run(sql`
      insert into mapping_check (service_id, kind, listed_at, listed)
      select ${service.id}, ${kind}, now(), count(*) from ecommerce_item where ${ofKind}
      on conflict (service_id, kind) do update set (listed_at, listed) = row(excluded.listed_at, excluded.listed)`)
    if (hasChanged || !wasListed) await requestMappingCheck(tx, service)
  })
