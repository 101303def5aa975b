import { type Database, type Db, sql } from '../../database/db.ts'
import type { StoreKind } from '../../domain/catalog/stores.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { renderCustomers } from '../customers/customers.ts'
import { rerenderStock } from '../inventory/stale-stock.ts'
import { address, addressColumns } from '../lists/address.ts'
import { beginSourceDatedChange, changeTimestamp, mergedRowTimes } from '../lists/back-date.ts'
import { countUpserted, lockRows, type Upserted } from '../lists/change-timestamp.ts'
import { buildColumnLists, isDifferent, type MergeTable, mergeRows, onConflictUpdate } from '../lists/merge.ts'
import { dropOutdated, mergedContentTime, type WriteContext } from '../lists/outdated.ts'
import { filter, type PageRequest, readPage } from '../lists/page.ts'
import { materialized, opaqueServiceId } from '../lists/planner-fences.ts'

const stores: MergeTable = {
  name: 'store',
  key: ['store_id'],
  columns: [
    ...['service_id', 'store_id', 'store_number', 'kind', 'code', 'name', 'email'],
    ...addressColumns,
    ...['inventory_buffer', 'ecommerce_location_id'],
  ],
  defaults: { kind: 'store' },
}
const content = buildColumnLists(stores)
/** Set by mappings, so a change of them is no new content of the source. */
const mappingColumns = ['inventory_buffer', 'ecommerce_location_id']

/** JSON of a row `c` of `store`. */
const body = sql`
  (select row_to_json(r)::text from (select
     c.store_id as "storeId", c.store_number as "storeNumber", c.kind, c.code, c.name, c.email,
     ${address} as address,
     c.ecommerce_location_id as "ecommerceLocationId", c.inventory_buffer as "inventoryBuffer") r)`

/** Merges rows (`StoreRow`, `StoreMappingRow`) into the stores, and renders the stock and customers that show them. */
export const upsertStores = (
  db: Database,
  service: Service,
  rows: readonly object[],
  context?: WriteContext,
): Promise<Upserted> => db.transaction(tx => mergeStores(tx, service, rows, context))

/** Like `upsertStores`, within a transaction. */
export async function mergeStores(
  tx: Db,
  service: Service,
  allRows: readonly object[],
  context?: WriteContext,
): Promise<Upserted> {
  const ids = (allRows as readonly { storeId: string }[]).map(({ storeId }) => storeId)
  // Otherwise a concurrent change would be lost, and the records that show it would stay outdated.
  await lockRows(
    tx,
    sql`select from store where service_id = ${opaqueServiceId(service)} and store_id = any(${ids}) order by store_id for no key update`,
  )
  const { current: rows, outdated } = await dropOutdated(tx, service, stores, allRows, context)
  const change = await beginSourceDatedChange(tx, service, 'store', rows, ['stock', 'customer'])
  const written = await tx.rows<{ store_id: string; inserted: boolean; inStock: boolean; inCustomers: boolean }>(sql`
    with merged as ${materialized(sql`
      select ${content.qualify('c')}, ${changeTimestamp(mergedRowTimes, service, change)} as new_timestamp, ${mergedContentTime(stores, 'c', service, change, mappingColumns)} as new_content_time, ${body} as body,
             old.store_id is not null and ${isDifferentIn(stockColumns)} as "inStock", ${isDifferentIn(['code'])} as "inCustomers"
        from ${mergeRows(service, stores, rows, 'c')}
       where ${isDifferent(stores, 'c')}`)}, written as (
      insert into store (${content.list}, changed_at, source_changed_at, record) select ${content.qualify('merged')}, new_timestamp, new_content_time, body from merged
      ${onConflictUpdate(stores, ['changed_at', 'source_changed_at', 'record'])}
      returning store_id, (xmax = 0) as inserted
    )
    select written.*, "inStock", "inCustomers" from written join merged using (store_id)`)
  const getIds = (where: 'inStock' | 'inCustomers') => written.filter(row => row[where]).map(row => row.store_id)
  const [inStock, inCustomers] = [getIds('inStock'), getIds('inCustomers')]
  if (inStock.length) await rerenderStock(tx, service, change, 'store_id', inStock)
  if (inCustomers.length) await renderCustomers(tx, service, change, sql`and c.joined_store_id = any(${inCustomers})`)
  return { ...countUpserted(written), outdated }
}

/** A location that has stock but is not in the back office's list of stores. Missing fields keep the stored values. */
interface LocationRow {
  storeId: string
  kind?: StoreKind
  name?: string
  storeNumber?: string
}

/**
 * Merges locations into the stores. Stores of kind `store` stay as they are, because the back office's list of stores is their source.
 * A location without a number, or with the number of another store, gets its ID as number.
 */
export const upsertLocations = (db: Database, service: Service, rows: readonly LocationRow[]): Promise<Upserted> =>
  db.transaction(async tx => {
    const listCandidates = (row: LocationRow) => [
      ...(row.storeNumber ? [row.storeNumber] : []),
      row.storeId,
      `id-${row.storeId}`,
    ]
    const stored = await tx.rows<{ id: string; number: string; kind: StoreKind }>(sql`
      select store_id as id, store_number as number, kind from store
       where service_id = ${service.id} and (store_id = any(${rows.map(({ storeId }) => storeId)}) or store_number = any(${rows.flatMap(listCandidates)}))
       order by store_id for no key update`)
    const byId = new Map(stored.map(row => [row.id, row]))
    const owners = new Map(stored.map(({ id, number }) => [number, id]))
    const inputs = rows
      .filter(({ storeId }) => byId.get(storeId)?.kind !== 'store')
      .map(row => {
        const { storeId } = row
        if (byId.has(storeId) && row.storeNumber === undefined) return row
        const storeNumber = listCandidates(row).find(number => (owners.get(number) ?? storeId) === storeId) ?? storeId
        owners.set(storeNumber, storeId)
        return { ...(byId.has(storeId) ? {} : { kind: 'warehouse', name: `Location ${storeId}` }), ...row, storeNumber }
      })
    return inputs.length ? mergeStores(tx, service, inputs) : { inserted: 0, changed: 0 }
  })

/** The columns of a store that its stock shows. */
const stockColumns = ['store_number', 'name', 'ecommerce_location_id', 'inventory_buffer']

/** True if the merged store differs from the stored one in these columns. */
const isDifferentIn = (columns: readonly string[]) => {
  const { qualify } = buildColumnLists({ columns })
  return sql`(${qualify('c')}) is distinct from (${qualify('old')})`
}

/** Reads a page of stores (`Store`), by ID. */
export const readStorePage = (
  db: Db,
  service: Service,
  { locationId, kind }: { locationId?: string | undefined; kind?: StoreKind | undefined },
  request: PageRequest,
) =>
  readPage(
    db,
    service,
    {
      table: 'store',
      record: sql`record`,
      key: sql`store_id`,
      live: true,
      where: sql`${filter(locationId, id => sql`and ecommerce_location_id = ${id}`)} ${filter(kind, value => sql`and kind = ${value}`)}`,
    },
    request,
  )

/** Returns the JSON of a store. */
export const findStore = (db: Db, service: Service, storeNumber: string) =>
  db.row<{ record: string }>(
    sql`select record from store where service_id = ${service.id} and store_number = ${storeNumber}`,
  )

/** Locks a store until the transaction ends. */
export const lockStore = (tx: Db, service: Service, storeNumber: string) =>
  tx.row<{ storeId: string; record: string }>(sql`
    select store_id as "storeId", record from store
     where service_id = ${service.id} and store_number = ${storeNumber} for no key update`)

/** Returns the stores with these IDs. Omits unknown IDs. */
export const findStoresById = (db: Db, service: Service, ids: readonly string[]) =>
  db.rows<{ id: string; number: string; kind: StoreKind }>(
    sql`select store_id as id, store_number as number, kind from store where service_id = ${service.id} and store_id = any(${ids})`,
  )

/** Returns IDs, kinds and names by store number. Omits unknown numbers. */
export const findStoresByNumber = (db: Db, service: Service, numbers: readonly string[]) =>
  db.rows<{ store_id: string; store_number: string; kind: StoreKind; name: string }>(
    sql`select store_id, store_number, kind, name from store where service_id = ${service.id} and store_number = any(${numbers})`,
  )
