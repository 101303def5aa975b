import { type Database, type Db, raw, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { beginChange, type Change } from '../lists/change-timestamp.ts'
import { renameStock, renderStock } from './stock.ts'

/** Rows of stock that are rendered in one transaction. */
const rowsAtOnce = 2_000

/** What stock shows besides its own columns, by the column that names it. */
type Shown = 'store_id' | 'sku_id'

const followAtOnce = (tx: Db, service: Service, change: Change, shown: Shown, ids: readonly string[]) =>
  (shown === 'sku_id' ? renameStock : renderStock)(tx, service, change, sql`and s.${raw(shown)} = any(${ids})`)

/**
 * Has stock show what has become of stores or SKUs: within this transaction where that is little, else by the job `render-stock`, some at
 * a time, so that nobody waits for all of it. Whatever was rendered of it before begins anew.
 */
export async function rerenderStock(tx: Db, service: Service, change: Change, shown: Shown, ids: readonly string[]) {
  const found = await tx.row<{ rows: number }>(sql`
    select count(*)::integer as rows
      from (select from stock where service_id = ${service.id} and ${raw(shown)} = any(${ids}) limit ${rowsAtOnce + 1}) portion`)
  if ((found?.rows ?? 0) <= rowsAtOnce) return followAtOnce(tx, service, change, shown, ids)
  await tx.run(sql`
    insert into stock_rerender (service_id, stock_column, id)
    select ${service.id}, ${shown}, changed.id from unnest(${ids}::text[]) changed (id)
     where exists (select from stock s where s.service_id = ${service.id} and s.${raw(shown)} = changed.id) order by changed.id
    on conflict (service_id, stock_column, id) do update set rendered_up_to = ''`)
}

/** The same for all stock, after what it shows of the service has changed. */
export async function rerenderAllStock(tx: Db, service: Service, change: Change) {
  const stores = await tx.rows<{ id: string }>(sql`select store_id as id from store where service_id = ${service.id}`)
  const ids = stores.map(({ id }) => id)
  await rerenderStock(tx, service, change, 'store_id', ids)
}

/** The services whose stock shows something that has changed since. */
export const listServicesWithStaleStock = (db: Db) =>
  db.rows<{ id: number }>(sql`select distinct service_id as id from stock_rerender order by 1`)

/** Renders some of a service's stock that is stale, in one transaction; false where none is left. */
export const renderSomeStale = (db: Database, service: Service): Promise<boolean> =>
  db.transaction(async tx => (await renderOfStore(tx, service)) || (await renderOfSkus(tx, service)))

const mine = (service: Service, shown: Shown): Sql => sql`service_id = ${service.id} and stock_column = ${shown}`

/** Of one store, from where it was rendered to. */
async function renderOfStore(tx: Db, service: Service): Promise<boolean> {
  const of = mine(service, 'store_id')
  const stale = await tx.row<{ id: string; from: string }>(
    sql`select id, rendered_up_to as "from" from stock_rerender where ${of} order by id limit 1 for update skip locked`,
  )
  if (!stale) return false
  const { id, from } = stale
  const some = await tx.row<{ rows: number; to: string | null }>(sql`
    select count(*)::integer as rows, max(sku_id) as to
      from (select sku_id from stock where service_id = ${service.id} and store_id = ${id} and sku_id > ${from}
             order by sku_id limit ${rowsAtOnce}) portion`)
  const { rows = 0, to = null } = some ?? {}
  if (rows) {
    const change = await beginChange(tx, service, ['stock'])
    await renderStock(tx, service, change, sql`and s.store_id = ${id} and s.sku_id > ${from} and s.sku_id <= ${to}`)
  }
  await tx.run(
    rows < rowsAtOnce
      ? sql`delete from stock_rerender where ${of} and id = ${id}`
      : sql`update stock_rerender set rendered_up_to = ${to} where ${of} and id = ${id}`,
  )
  return true
}

/** Of as many SKUs as the stores have about so many rows of. */
async function renderOfSkus(tx: Db, service: Service): Promise<boolean> {
  const of = mine(service, 'sku_id')
  const stale = await tx.rows<{ id: string }>(sql`
    select id from stock_rerender where ${of} order by id
     limit (select greatest(1, ${rowsAtOnce}::integer / greatest(1, count(*))) from store where service_id = ${service.id})
       for update skip locked`)
  if (!stale.length) return false
  const ids = stale.map(({ id }) => id)
  const change = await beginChange(tx, service, ['stock'])
  await renameStock(tx, service, change, sql`and s.sku_id = any(${ids})`)
  await tx.run(sql`delete from stock_rerender where ${of} and id = any(${ids})`)
  return true
}
