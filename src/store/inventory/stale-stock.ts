import { type Database, type Db, raw, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { beginChange, type Change } from '../lists/change-timestamp.ts'
import { renameStock, renderStock } from './stock.ts'

/** Stock rows rendered in one transaction. */
const maxRowsPerTransaction = 2_000

/** The column of stock that refers to a store or a variant, whose columns the stock record shows. */
type StockColumn = 'store_id' | 'sku_id'

const rerenderNow = (tx: Db, service: Service, change: Change, column: StockColumn, ids: readonly string[]) =>
  (column === 'sku_id' ? renameStock : renderStock)(tx, service, change, sql`and s.${raw(column)} = any(${ids})`)

/**
 * Renders the stock that shows these stores or SKUs again. Few rows are rendered in this transaction; otherwise the job `render-stock`
 * renders them in batches, so that no request waits for all of them. Restarts rendering that is in progress.
 */
export async function rerenderStock(
  tx: Db,
  service: Service,
  change: Change,
  column: StockColumn,
  ids: readonly string[],
) {
  const count = await tx.row<{ rows: number }>(sql`
    select count(*)::integer as rows
      from (select from stock where service_id = ${service.id} and ${raw(column)} = any(${ids}) limit ${maxRowsPerTransaction + 1}) batch`)
  if ((count?.rows ?? 0) <= maxRowsPerTransaction) return rerenderNow(tx, service, change, column, ids)
  await tx.run(sql`
    insert into stock_rerender (service_id, stock_column, id)
    select ${service.id}, ${column}, changed.id from unnest(${ids}::text[]) changed (id)
     where exists (select from stock s where s.service_id = ${service.id} and s.${raw(column)} = changed.id) order by changed.id
    on conflict (service_id, stock_column, id) do update set rendered_up_to = ''`)
}

/** Renders all stock of a service again, after a change of a setting that stock shows. */
export async function rerenderAllStock(tx: Db, service: Service, change: Change) {
  const stores = await tx.rows<{ id: string }>(sql`select store_id as id from store where service_id = ${service.id}`)
  const ids = stores.map(({ id }) => id)
  await rerenderStock(tx, service, change, 'store_id', ids)
}

export const listServicesWithStaleStock = (db: Db) =>
  db.rows<{ id: number }>(sql`select distinct service_id as id from stock_rerender order by 1`)

/** Renders a batch of a service's stale stock in one transaction. Returns false if none is left. */
export const renderStaleBatch = (db: Database, service: Service): Promise<boolean> =>
  db.transaction(async tx => (await renderBatchOfStore(tx, service)) || (await renderBatchOfSkus(tx, service)))

const isInColumn = (service: Service, column: StockColumn): Sql =>
  sql`service_id = ${service.id} and stock_column = ${column}`

/** Renders a batch of one store, from the SKU that was rendered last. */
async function renderBatchOfStore(tx: Db, service: Service): Promise<boolean> {
  const condition = isInColumn(service, 'store_id')
  const stale = await tx.row<{ id: string; from: string }>(
    sql`select id, rendered_up_to as "from" from stock_rerender where ${condition} order by id limit 1 for update skip locked`,
  )
  if (!stale) return false
  const { id, from } = stale
  const batch = await tx.row<{ rows: number; to: string | null }>(sql`
    select count(*)::integer as rows, max(sku_id) as to
      from (select sku_id from stock where service_id = ${service.id} and store_id = ${id} and sku_id > ${from}
             order by sku_id limit ${maxRowsPerTransaction}) batch`)
  const { rows = 0, to = null } = batch ?? {}
  if (rows) {
    const change = await beginChange(tx, service, ['stock'])
    await renderStock(tx, service, change, sql`and s.store_id = ${id} and s.sku_id > ${from} and s.sku_id <= ${to}`)
  }
  await tx.run(
    rows < maxRowsPerTransaction
      ? sql`delete from stock_rerender where ${condition} and id = ${id}`
      : sql`update stock_rerender set rendered_up_to = ${to} where ${condition} and id = ${id}`,
  )
  return true
}

/** Renders as many SKUs as have about `maxRowsPerTransaction` rows in all stores. */
async function renderBatchOfSkus(tx: Db, service: Service): Promise<boolean> {
  const condition = isInColumn(service, 'sku_id')
  const stale = await tx.rows<{ id: string }>(sql`
    select id from stock_rerender where ${condition} order by id
     limit (select greatest(1, ${maxRowsPerTransaction}::integer / greatest(1, count(*))) from store where service_id = ${service.id})
       for update skip locked`)
  if (!stale.length) return false
  const ids = stale.map(({ id }) => id)
  const change = await beginChange(tx, service, ['stock'])
  await renameStock(tx, service, change, sql`and s.sku_id = any(${ids})`)
  await tx.run(sql`delete from stock_rerender where ${condition} and id = any(${ids})`)
  return true
}
