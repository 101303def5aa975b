import { type Database, type Db, sql } from '../../database/db.ts'
import { fileConnection, mainConnection } from '../../domain/ecommerce/connection-settings.ts'
import type { PlatformItem } from '../../domain/ecommerce/items.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { countUpsert, lockRows, type Upserted } from '../lists/change-timestamp.ts'
import type { WriteContext } from '../lists/outdated.ts'
import { applyAutomaticFix } from '../mappings/automatic-fixes.ts'
import { requestMappingCheck } from '../mappings/platform-items.ts'
import { customerEcommerceId } from '../mappings/sides.ts'
import { deleteLevels, markItems } from './levels.ts'
import { isInMainConnection } from './main-connection.ts'

const itemColumns = sql`
  i (kind text, "itemKey" text, "ecommerceId" text, name text, other text, "platformId" text, "inventoryItemId" text, "productId" text,
     "isTracked" boolean, "isBundle" boolean, "isGiftCard" boolean, "isActive" boolean, "updatedAt" timestamptz)`

/**
 * Stores items of a connection. The last of several items with one key wins. A state that is older than the stored one is ignored, and so is
 * an item that the platform has deleted since it was read. Items without a value for mappings are deleted. If the SKU of a variant was
 * renamed, our mapping follows it.
 */
export async function upsertPlatformItems(
  db: Database,
  service: Service,
  items: readonly PlatformItem[],
  { requestedAt }: Pick<WriteContext, 'requestedAt'> = {},
): Promise<Upserted> {
  const newest = [...new Map(items.map(item => [`${item.kind} ${item.itemKey}`, item])).values()]
  return db.transaction(async tx => {
    const deleted = await findDeleted(tx, service, newest, requestedAt)
    const unique = newest.filter(({ kind, itemKey }) => !deleted.has(`${kind} ${itemKey}`))
    const rows = sql`json_to_recordset(${JSON.stringify(unique)}) ${itemColumns}`
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

/**
 * Returns the keys (`skus 4711`) of items that the platform deleted after they were requested, or whose deletion a read by ID has verified.
 * Deletes the tombstones of the other items, which exist again.
 */
async function findDeleted(tx: Db, service: Service, items: readonly PlatformItem[], requestedAt: string | undefined) {
  const rows = await tx.rows<{ key: string; isDeleted: boolean }>(sql`
    select kind || ' ' || item_key as key, is_verified or coalesce(removed_at >= ${requestedAt ?? null}::timestamptz, false) as "isDeleted"
      from ecommerce_tombstone
     where ${isInMainConnection(service)}
       and (kind, item_key) in (select * from unnest(${items.map(({ kind }) => kind)}::text[], ${items.map(({ itemKey }) => itemKey)}::text[]))
     order by kind, item_key for update`)
  const returned = rows.filter(({ isDeleted }) => !isDeleted).map(({ key }) => key)
  if (returned.length)
    await tx.run(
      sql`delete from ecommerce_tombstone where ${isInMainConnection(service)} and kind || ' ' || item_key = any(${returned})`,
    )
  return new Set(rows.filter(({ isDeleted }) => isDeleted).map(({ key }) => key))
}

/**
 * Deletes items of a connection, with the levels of their stock, and leaves tombstones. `isVerified`: a read by ID has shown that they don't
 * exist. Returns the number of deleted items.
 */
export async function removePlatformItems(
  tx: Db,
  service: Service,
  kind: MappedKind,
  keys: readonly string[],
  isVerified: boolean,
): Promise<number> {
  const ofItems = sql`${isInMainConnection(service)} and kind = ${kind} and item_key = any(${keys})`
  const removed = await tx.rows<{ stockId: string | null; sku: string }>(sql`
    select coalesce(inventory_item_id, case when kind = 'stores' then platform_id end) as "stockId", ecommerce_id as sku
      from ecommerce_item where ${ofItems} order by item_key for update`)
  await tx.run(sql`
    insert into ecommerce_tombstone as t (service_id, connection_id, kind, item_key, platform_id, ecommerce_id, is_verified)
    select service_id, connection_id, kind, item_key, platform_id, ecommerce_id, ${isVerified}
      from ecommerce_item where ${ofItems} and platform_id is not null order by item_key
    on conflict (service_id, connection_id, kind, item_key) do update
       set (is_verified, removed_at) = row(t.is_verified or excluded.is_verified, excluded.removed_at)`)
  const deleted = await tx.run(sql`delete from ecommerce_item where ${ofItems}`)
  const stockIds = removed.flatMap(({ stockId }) => stockId ?? [])
  if (stockIds.length) {
    await deleteLevels(tx, service, stockIds)
    // A SKU that several variants shared may now be unique, so that its levels are no longer held.
    if (kind === 'skus') await markItems(tx, service, [{ platformId: '', skus: removed.map(({ sku }) => sku) }])
  }
  return deleted
}

/** Returns the items of a kind that these records contain: the records themselves, or the variants of products. */
export const findContainedItems = (db: Db, service: Service, kind: MappedKind, platformIds: readonly string[]) =>
  db.rows<{ itemKey: string; platformId: string }>(sql`
    select item_key as "itemKey", platform_id as "platformId" from ecommerce_item
     where ${isInMainConnection(service)} and kind = ${kind} and platform_id is not null
       and (platform_id = any(${platformIds}) or product_id = any(${platformIds}))
     order by item_key`)

/**
 * Maps our customers of merged platform customers to the platform customer that remains, unless another customer is mapped to it. Returns the
 * number of mapped customers.
 */
export async function moveMergedCustomers(
  tx: Db,
  service: Service,
  mergedIds: readonly string[],
  successorId: string,
): Promise<number> {
  const customers = await tx.rows<{ id: string; from: string; isTaken: boolean }>(sql`
    select c.id, ${customerEcommerceId(sql`c`)} as from,
           exists (select from customer o where o.service_id = c.service_id and ${customerEcommerceId(sql`o`)} = ${successorId}) as "isTaken"
      from customer c where c.service_id = ${service.id} and ${customerEcommerceId(sql`c`)} = any(${mergedIds}) order by c.id`)
  let moved = 0
  for (const { id, from, isTaken } of customers) {
    // Two of our customers for one of the platform: people must decide.
    if (isTaken || customers.length > 1) continue
    if (await applyAutomaticFix(tx, service, { kind: 'customers', id, from, to: successorId })) moved++
  }
  return moved
}

/** Deletes the tombstones of items that were removed long ago. */
export const purgeItemTombstones = (db: Db, service: Service) =>
  db.run(sql`
    delete from ecommerce_tombstone
     where service_id = ${service.id} and removed_at < now() - make_interval(days => ${service.settings.tombstoneRetentionDays}::integer)`)

/** Finds the locations and items whose stock push changes, with their SKUs, because a SKU that several items share is held. */
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
