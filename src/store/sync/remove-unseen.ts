import { type Database, type Db, type Sql, sql } from '../../database/db.ts'
import type { FullSyncList } from '../../domain/sync/port.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { lockProducts, renderProducts } from '../catalog/products.ts'
import { removeCustomers } from '../customers/removal.ts'
import { mergeStock, stockId } from '../inventory/stock.ts'
import { beginChange, type Change, lockRows } from '../lists/change-timestamp.ts'
import { materialized } from '../lists/planner-fences.ts'
import { removeRecords } from '../lists/tombstones.ts'
import { keepLease, type SyncLease } from './runs.ts'
import { ofRun, recordSeen } from './sync.ts'

/** Products of a transaction, whose SKUs have stock in every store; and customers. */
const recordsAtOnce = 100
const stockAtOnce = 1_000
/** Records that a run asks for one by one at most; the rest is asked for by other runs. */
const mostAsked = 1_000

/** More than half of a list, and more than a few, is not gone: something is wrong with what was shown. */
const isTooMuch = ({ gone, all }: { gone: number; all: number }) => gone > 20 && gone * 2 > all

interface Removal {
  /** Of the table `r`; a row that counts. */
  table: Sql
  id: Sql
  where: Sql
  /** Removes some of what is gone; how many were there to remove. */
  some(tx: Db, service: Service, gone: Sql): Promise<number>
}

/**
 * The identifiers (`id`) that a run of the sync has not shown. As a difference of two sets, which is made in one pass over each: what was
 * seen has just been written, so that the planner knows nothing of it, and might look through all of it for every single row.
 */
const unseen = (service: Service, lease: SyncLease, list: FullSyncList, { table, id, where }: Removal) => sql`
  (select ${id} as id from ${table} where r.service_id = ${service.id} ${where}
   except select id from sync_seen where ${ofRun(service, lease)} and list = ${list})`

const someOf = async (tx: Db, gone: Sql) =>
  (await tx.rows<{ id: string }>(sql`select id from ${gone} all_gone order by id limit ${recordsAtOnce}`)).map(
    row => row.id,
  )

/** SKUs that are about to go, after their products and before their stock: in this order whoever writes them holds them. `where` begins with `and`. */
const holdVariants = (tx: Db, service: Service, where: Sql) =>
  lockRows(tx, sql`select from variant where service_id = ${service.id} ${where} order by sku_id for update`)

/** Before the SKUs that it is of, which would take it with them unnoticed. */
const removeStock = (tx: Db, service: Service, change: Change, where: Sql) =>
  removeRecords(tx, service, change, { list: 'stock', id: stockId, where })

/** What a run that has read everything says of a list. */
interface Sight {
  lease: SyncLease
  list: FullSyncList
  /** Hears how many were removed, some at a time. */
  onRemoved(removed: number): Promise<void>
  /** Which of these are there all the same. */
  findExisting(ids: readonly string[]): Promise<string[]>
}

const removals: Readonly<Record<FullSyncList, Removal>> = {
  // Only what is shown as in stock: the back office does not show what is less than none.
  stock: {
    table: sql`stock r`,
    id: sql`r.id`,
    where: sql`and r.free_stock > 0`,
    async some(tx, service, gone) {
      const rows = await tx.rows<{ storeId: string; skuId: string }>(sql`
        with gone as ${materialized(sql`select id from ${gone} all_gone order by id limit ${stockAtOnce}`)}
        select store_id as "storeId", sku_id as "skuId" from stock where service_id = ${service.id} and id = any(array(select id from gone))`)
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
    async some(tx, service, gone) {
      const skus = await someOf(tx, gone)
      await lockProducts(tx, service, { skus })
      await holdVariants(tx, service, sql`and sku_id = any(${skus})`)
      const change = await beginChange(tx, service, ['product', 'stock'])
      await removeStock(tx, service, change, sql`sku_id = any(${skus})`)
      const removed = await tx.rows<{ product_id: string }>(sql`
          delete from variant where service_id = ${service.id} and sku_id = any(${skus}) returning product_id`)
      const ids = [...new Set(removed.map(row => row.product_id))]
      await tx.run(sql`
          delete from colour c where c.service_id = ${service.id} and c.product_id = any(${ids})
             and not exists (select from variant v where v.service_id = c.service_id and v.product_id = c.product_id and v.colour_id = c.colour_id)`)
      if (ids.length) await renderProducts(tx, service, change, sql`and p.product_id = any(${ids})`)
      return removed.length
    },
  },
  product: {
    table: sql`product r`,
    id: sql`r.product_id`,
    where: sql``,
    async some(tx, service, gone) {
      const products = await someOf(tx, gone)
      const where = sql`product_id = any(${products})`
      await lockProducts(tx, service, { products })
      await holdVariants(tx, service, sql`and ${where}`)
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
    some: async (tx, service, gone) => removeCustomers(tx, service, await someOf(tx, gone)),
  },
}

/**
 * Takes away what a whole run of the sync has not shown, and is not there: products and SKUs are deleted, stock becomes 0, customers
 * leave the list. Where that would be more than half of it nothing is done, and `kept` says how much it would have been.
 */
export async function removeUnseen(
  db: Database,
  service: Service,
  { lease, list, onRemoved, findExisting }: Sight,
): Promise<{ kept: number }> {
  const removal = removals[list]
  const { table, where, some } = removal
  const gone = unseen(service, lease, list, removal)
  const counted = await db.row<{ gone: number; all: number }>(sql`
    select (select count(*)::integer from ${table} where r.service_id = ${service.id} ${where}) as all,
           (select count(*)::integer from ${gone} all_gone) as gone`)
  if (counted && isTooMuch(counted)) return { kept: counted.gone }
  if (counted?.gone) {
    // By chance, so that many who are there all the same do not hide one who is not for ever.
    const drawn = await db.rows<{ id: string }>(sql`select id from ${gone} all_gone order by random()`)
    const asked = drawn.slice(0, mostAsked).map(({ id }) => id)
    const left = drawn.slice(mostAsked).map(({ id }) => id)
    await recordSeen(db, service, lease, list, [...(await findExisting(asked)), ...left])
  }
  for (;;) {
    // Of a run that has lost its sync what it has seen may be forgotten: all would be gone.
    const removed = await db.transaction(async tx => {
      await keepLease(tx, service, lease)
      return some(tx, service, gone)
    })
    if (!removed) return { kept: 0 }
    await onRemoved(removed)
  }
}
