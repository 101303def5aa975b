import { type Database, type Db, type Sql, sql } from '../../database/db.ts'
import { mainConnection } from '../../domain/ecommerce/connection-settings.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { FullSyncList } from '../../domain/sync/port.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { lockProducts, removeEmptied, renderProducts } from '../catalog/products.ts'
import { removeCustomers } from '../customers/removal.ts'
import { removePlatformItems } from '../ecommerce/items.ts'
import { mergeStock, stockId } from '../inventory/stock.ts'
import { beginChange, type Change, lockRows } from '../lists/change-timestamp.ts'
import { materialized } from '../lists/planner-fences.ts'
import { removeRecords } from '../lists/tombstones.ts'
import { keepLease, type SyncLease } from './runs.ts'
import { isOfRun, recordSeen } from './sync.ts'

/** Products (whose SKUs have stock in every store) or customers per transaction. */
const maxRecordsPerTransaction = 100
const maxStockPerTransaction = 1_000
/** The maximum number of records that one run requests one by one. Later runs request the others. */
const maxRequested = 1_000

/** Safety stop: if more than half of a list (and more than 20 records) is missing, the result is probably wrong. */
const isTooMany = ({ unseen, all }: { unseen: number; all: number }) => unseen > 20 && unseen * 2 > all

interface Removal {
  /** The table with the alias `r`. */
  table: Sql
  id: Sql
  /** Selects the rows that can be removed. */
  where: Sql
  /** Removes some of the unseen records. Returns their number, or 0 after the last one. */
  removeSome(tx: Db, service: Service, unseen: Sql): Promise<number>
}

/**
 * Selects the IDs (`id`) that a run has not seen. A set difference needs one pass over each set. With an anti-join, the planner could scan
 * all seen IDs for each row, because it has no statistics of rows that were just written.
 */
const selectUnseen = (service: Service, lease: SyncLease, list: FullSyncList, { table, id, where }: Removal) => sql`
  (select ${id} as id from ${table} where r.service_id = ${service.id} ${where}
   except select id from sync_seen where ${isOfRun(service, lease)} and list = ${list})`

const takeIds = async (tx: Db, unseen: Sql) =>
  (
    await tx.rows<{ id: string }>(sql`select id from ${unseen} unseen order by id limit ${maxRecordsPerTransaction}`)
  ).map(row => row.id)

/** Locks SKUs before their removal. All writers lock products, then SKUs, then stock. `where` begins with `and`. */
const lockVariants = (tx: Db, service: Service, where: Sql) =>
  lockRows(tx, sql`select from variant where service_id = ${service.id} ${where} order by sku_id for update`)

/** Removes stock before its SKUs, because a cascade would leave no tombstones. */
const removeStock = (tx: Db, service: Service, change: Change, where: Sql) =>
  removeRecords(tx, service, change, { list: 'stock', id: stockId, where })

/** The list that a full sync has read completely. */
interface FullSyncResult {
  lease: SyncLease
  list: FullSyncList
  /** Called after each transaction with the number of removed records. */
  onRemoved(removed: number): Promise<void>
  /** Returns the IDs that still exist in the back office. */
  findExisting(ids: readonly string[]): Promise<string[]>
}

/** Platform items of one kind that a connection's sync has stored. */
const platformItems = (kind: MappedKind): Removal => ({
  table: sql`ecommerce_item r`,
  id: sql`r.item_key`,
  where: sql`and r.kind = ${kind} and r.connection_id = ${mainConnection}`,
  async removeSome(tx, service, unseen) {
    return removePlatformItems(tx, service, kind, await takeIds(tx, unseen), false)
  },
})

const removals: Readonly<Record<FullSyncList, Removal>> = {
  'ecommerce-stores': platformItems('stores'),
  'ecommerce-skus': platformItems('skus'),
  'ecommerce-customers': platformItems('customers'),
  // Only positive stock: the back office doesn't list negative stock.
  stock: {
    table: sql`stock r`,
    id: sql`r.id`,
    where: sql`and r.free_stock > 0`,
    async removeSome(tx, service, unseen) {
      const rows = await tx.rows<{ storeId: string; skuId: string }>(sql`
        with page as ${materialized(sql`select id from ${unseen} unseen order by id limit ${maxStockPerTransaction}`)}
        select store_id as "storeId", sku_id as "skuId" from stock where service_id = ${service.id} and id = any(array(select id from page))`)
      if (rows.length)
        await mergeStock(
          tx,
          service,
          rows.map(row => ({ ...row, freeStock: 0 })),
        )
      return rows.length
    },
  },
  variant: {
    table: sql`variant r`,
    id: sql`r.sku_id`,
    where: sql``,
    async removeSome(tx, service, unseen) {
      const skus = await takeIds(tx, unseen)
      await lockProducts(tx, service, { skus })
      await lockVariants(tx, service, sql`and sku_id = any(${skus})`)
      const change = await beginChange(tx, service, ['product', 'stock'])
      await removeStock(tx, service, change, sql`sku_id = any(${skus})`)
      const removed = await tx.rows<{ product_id: string }>(sql`
          delete from variant where service_id = ${service.id} and sku_id = any(${skus}) returning product_id`)
      const ids = [...new Set(removed.map(row => row.product_id))]
      if (ids.length) {
        await removeEmptied(tx, service, change, ids)
        await renderProducts(tx, service, change, sql`and p.product_id = any(${ids})`)
      }
      return removed.length
    },
  },
  product: {
    table: sql`product r`,
    id: sql`r.product_id`,
    where: sql``,
    async removeSome(tx, service, unseen) {
      const products = await takeIds(tx, unseen)
      const where = sql`product_id = any(${products})`
      await lockProducts(tx, service, { products })
      await lockVariants(tx, service, sql`and ${where}`)
      const change = await beginChange(tx, service, ['product', 'stock'])
      const skus = sql`select sku_id from variant where service_id = ${service.id} and ${where}`
      await removeStock(tx, service, change, sql`sku_id in (${skus})`)
      return removeRecords(tx, service, change, { list: 'product', id: sql`product_id`, where })
    },
  },
  customer: {
    table: sql`customer r`,
    id: sql`r.id`,
    where: sql``,
    removeSome: async (tx, service, unseen) => removeCustomers(tx, service, await takeIds(tx, unseen)),
  },
}

/** The lists that a complete file can replace. */
export type CompleteList = Extract<FullSyncList, 'variant' | 'stock' | 'customer'>

/** The content of a complete file. `startedAt`: when its import began (`readDatabaseTime`). */
interface CompleteFile {
  list: CompleteList
  seen: ReadonlySet<string>
  storeIds: readonly string[]
  startedAt: string
  /** Remove also if more than half of the list is missing. */
  removeMost: boolean
  /** Count without removing. */
  dryRun: boolean
}

/**
 * Removes records that a complete file lacks: stock of the stores that it names becomes 0, SKUs and customers leave their list. Keeps stock
 * and customers that were written after the import began. If more than half of the list is missing, removes nothing unless `removeMost`.
 * `retained` is then the number of missing records.
 */
export async function removeMissing(
  db: Database,
  service: Service,
  { list, seen, storeIds, startedAt, removeMost, dryRun }: CompleteFile,
): Promise<{ removed: number; retained: number }> {
  const { table, id, removeSome } = removals[list]
  const ofStores = list === 'stock' ? sql`and r.free_stock <> 0 and r.store_id = any(${storeIds})` : sql``
  // SKUs are written only by imports and syncs, not by requests.
  const unchanged = list === 'variant' ? sql`` : sql`and r.changed_at < ${startedAt}::timestamptz`
  const storedRecords = await db.rows<{ id: string }>(
    sql`select ${id} as id from ${table} where r.service_id = ${service.id} ${ofStores} ${unchanged}`,
  )
  const missing = storedRecords.map(row => row.id).filter(recordId => !seen.has(recordId))
  if (!removeMost && isTooMany({ unseen: missing.length, all: storedRecords.length }))
    return { removed: 0, retained: missing.length }
  if (dryRun) return { removed: missing.length, retained: 0 }
  let removed = 0
  for (let at = 0; at < missing.length; at += maxRecordsPerTransaction) {
    const ids = missing.slice(at, at + maxRecordsPerTransaction)
    removed += await db.transaction(tx => removeSome(tx, service, sql`(select unnest(${ids}::text[]) as id)`))
  }
  return { removed, retained: 0 }
}

/**
 * Removes records that a full sync has not seen and that no longer exist.
 * Products, SKUs and customers are deleted, and stock becomes 0.
 * If more than half of the list is unseen, removes nothing. `retained` is then the number of unseen records.
 */
export async function removeUnseen(
  db: Database,
  service: Service,
  { lease, list, onRemoved, findExisting }: FullSyncResult,
): Promise<{ retained: number }> {
  const removal = removals[list]
  const { table, where, removeSome } = removal
  const unseen = selectUnseen(service, lease, list, removal)
  const counts = await db.row<{ unseen: number; all: number }>(sql`
    select (select count(*)::integer from ${table} where r.service_id = ${service.id} ${where}) as all,
           (select count(*)::integer from ${unseen} unseen) as unseen`)
  if (counts && isTooMany(counts)) return { retained: counts.unseen }
  if (counts?.unseen) {
    // In random order, so that each run requests other records.
    const unseenIds = await db.rows<{ id: string }>(sql`select id from ${unseen} unseen order by random()`)
    const requested = unseenIds.slice(0, maxRequested).map(({ id }) => id)
    const remaining = unseenIds.slice(maxRequested).map(({ id }) => id)
    await recordSeen(db, service, lease, list, [...(await findExisting(requested)), ...remaining])
  }
  for (;;) {
    // If the lease is lost, the seen IDs can be deleted, and all records would be unseen.
    const removed = await db.transaction(async tx => {
      await keepLease(tx, service, lease)
      return removeSome(tx, service, unseen)
    })
    if (!removed) return { retained: 0 }
    await onRemoved(removed)
  }
}
