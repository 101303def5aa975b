import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { renderCustomers } from '../customers/customers.ts'
import { rerenderStock } from '../inventory/stale-stock.ts'
import { address, addressColumns } from '../lists/address.ts'
import { beginSourceDatedChange, changeTimestamp, mergedRowTimes } from '../lists/back-date.ts'
import { countUpserted, lockRows, type Upserted } from '../lists/change-timestamp.ts'
import { columnLists, isDifferent, type MergeTable, mergeRows, onConflictUpdate } from '../lists/merge.ts'
import { filter, type PageRequest, readPage } from '../lists/page.ts'
import { opaqueServiceId } from '../lists/statistics.ts'

const stores: MergeTable = {
  name: 'store',
  key: ['store_id'],
  columns: [
    ...['service_id', 'store_id', 'store_number', 'code', 'name', 'email'],
    ...addressColumns,
    ...['inventory_buffer', 'ecommerce_location_id'],
  ],
}
const content = columnLists(stores)

/** The record of a row `c` of `store`. */
const body = sql`
  (select row_to_json(r)::text from (select
     c.store_id as "storeId", c.store_number as "storeNumber", c.code, c.name, c.email,
     ${address} as address,
     c.ecommerce_location_id as "ecommerceLocationId", c.inventory_buffer as "inventoryBuffer") r)`

/** Merges rows (`StoreRow`, `StoreMappingRow`) into the stores; what shows a store elsewhere follows. */
export const upsertStores = (db: Database, service: Service, rows: readonly object[]): Promise<Upserted> =>
  db.transaction(tx => mergeStores(tx, service, rows))

/** The same within a transaction. */
export async function mergeStores(tx: Db, service: Service, rows: readonly object[]): Promise<Upserted> {
  const given = (rows as readonly { storeId: string }[]).map(({ storeId }) => storeId)
  // What another transaction changes meanwhile would be lost, and what shows it stay as that had it.
  await lockRows(
    tx,
    sql`select from store where service_id = ${opaqueServiceId(service)} and store_id = any(${given}) order by store_id for no key update`,
  )
  const change = await beginSourceDatedChange(tx, service, 'store', rows, ['stock', 'customer'])
  const touched = await tx.rows<{ store_id: string; inserted: boolean; inStock: boolean; inCustomers: boolean }>(sql`
    with given as materialized (
      select ${content.of('c')}, ${changeTimestamp(mergedRowTimes, service, change)} as stamp, ${body} as body,
             old.store_id is not null and ${differsIn(shownByStock)} as "inStock", ${differsIn(['code'])} as "inCustomers"
        from ${mergeRows(service, stores, rows, 'c')}
       where ${isDifferent(stores, 'c')}
    ), touched as (
      insert into store (${content.list}, changed_at, record) select ${content.of('given')}, stamp, body from given
      ${onConflictUpdate(stores, ['changed_at', 'record'])}
      returning store_id, (xmax = 0) as inserted
    )
    select touched.*, "inStock", "inCustomers" from touched join given using (store_id)`)
  const shown = (where: 'inStock' | 'inCustomers') => touched.filter(row => row[where]).map(row => row.store_id)
  const [inStock, inCustomers] = [shown('inStock'), shown('inCustomers')]
  if (inStock.length) await rerenderStock(tx, service, change, 'store_id', inStock)
  if (inCustomers.length) await renderCustomers(tx, service, change, sql`and c.joined_store_id = any(${inCustomers})`)
  return countUpserted(touched)
}

/** What stock shows of its store. */
const shownByStock = ['store_number', 'name', 'ecommerce_location_id', 'inventory_buffer']

/** Whether a merged store says anything else than the stored one in these columns. */
const differsIn = (columns: readonly string[]) => {
  const { of } = columnLists({ columns })
  return sql`(${of('c')}) is distinct from (${of('old')})`
}

export const storePage = (
  db: Db,
  service: Service,
  { locationId }: { locationId?: string | undefined },
  asked: PageRequest,
) =>
  readPage(
    db,
    service,
    {
      table: 'store',
      record: sql`record`,
      key: sql`store_id`,
      live: true,
      where: filter(locationId, id => sql`and ecommerce_location_id = ${id}`),
    },
    asked,
  )

/** The record of one store, as JSON text. */
export const findStore = (db: Db, service: Service, storeNumber: string) =>
  db.row<{ record: string }>(
    sql`select record from store where service_id = ${service.id} and store_number = ${storeNumber}`,
  )

/** Which of these identifiers some store has. */
export const findStoresById = (db: Db, service: Service, ids: readonly string[]) =>
  db.rows<{ id: string; number: string }>(
    sql`select store_id as id, store_number as number from store where service_id = ${service.id} and store_id = any(${ids})`,
  )

/** Store identifiers and names by store number. */
export const findStoresByNumber = (db: Db, service: Service, numbers: readonly string[]) =>
  db.rows<{ store_id: string; store_number: string; name: string }>(
    sql`select store_id, store_number, name from store where service_id = ${service.id} and store_number = any(${numbers})`,
  )
