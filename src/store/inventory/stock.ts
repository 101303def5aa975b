import { type Database, type Db, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import {
  beginSourceDatedChange,
  changeTimestamp,
  mergedRowTimes,
  type SourceDated,
  withChangeTimestamp,
} from '../lists/back-date.ts'
import {
  type Change,
  countUpsert,
  hasSameBody,
  lockRows,
  type Upserted,
  withoutClosingBrace,
  withTimestamp,
} from '../lists/change-timestamp.ts'
import { readFilteredScan } from '../lists/filtered-scan.ts'
import { isDifferent, type MergeTable, mergeRows, onConflictUpdate } from '../lists/merge.ts'
import { byChangeTimestamp, changedAfter, filter, type PageRequest, readPage } from '../lists/page.ts'
import { opaqueServiceId } from '../lists/statistics.ts'
import { lockStores } from '../lists/store-locks.ts'
import { insertTombstones } from '../lists/tombstones.ts'

const stock: MergeTable = {
  name: 'stock',
  key: ['store_id', 'sku_id'],
  columns: ['service_id', 'store_id', 'sku_id', 'free_stock', 'buffer'],
}

/** The record of stock `s` of variant `v` in store `c`, open for its stamp. The nearest buffer that is set is in force. */
const body = (service: Service) =>
  withoutClosingBrace(sql`
  select row_to_json(r) from (select
     c.store_id || '-' || v.sku as id, v.sku, v.sku_id as "skuId", c.store_id as "storeId", c.store_number as "storeNumber",
     c.name as "storeName", c.ecommerce_location_id as "ecommerceLocationId", s.free_stock as "freeStock", b.buffer,
     greatest(0, s.free_stock - b.buffer) as sellable
     from (select coalesce(s.buffer, c.inventory_buffer, ${service.settings.inventoryBuffer}::integer) as buffer) b) r`)

/** Merges rows (`StockRow`, with `storeId` and `skuId` found) into the stock. */
export const upsertStock = (db: Database, service: Service, rows: readonly Row[]): Promise<Upserted> =>
  db.transaction(tx => mergeStock(tx, service, rows))

/** The same, as all that its transaction changes. */
export async function mergeStock(tx: Db, service: Service, rows: readonly Row[]): Promise<Upserted> {
  const changing = await holdChanging(tx, service, joined(rows))
  const change = await beginSourceDatedChange(tx, service, 'stock', rows)
  if (!changing.length) return { inserted: 0, changed: 0 }
  return countUpsert(
    tx,
    sql`
      insert into stock (service_id, store_id, sku_id, free_stock, buffer, changed_at, record)
      select s.service_id, s.store_id, s.sku_id, s.free_stock, s.buffer, at.stamp, ${withChangeTimestamp(body(service), sql`at.stamp`, service, change)}
        from ${mergeRows(service, stock, changing, 's')}
        join store c on c.service_id = ${opaqueServiceId(service)} and c.store_id = s.store_id
        join variant v on v.service_id = ${opaqueServiceId(service)} and v.sku_id = s.sku_id
        cross join lateral (select ${changeTimestamp(mergedRowTimes, service, change)} as stamp) at
       where ${isDifferent(stock, 's')}
      ${onConflictUpdate(stock, ['changed_at', 'record'])}
      returning (xmax = 0) as inserted`,
    insertTombstones(service, change, 'stock', renamedSince(service, among(changing))),
  )
}

/**
 * One row of each stock, where later rows outrank earlier ones: a file may name one SKU in two ways. Compared one by one with what is
 * stored, a later row that says just that would be passed over, and the earlier one put in.
 */
function joined(rows: readonly Row[]): Row[] {
  const byKey = new Map<string, Row>()
  for (const row of rows) {
    const key = `${row.storeId}\0${row.skuId}`
    byKey.set(key, { ...byKey.get(key), ...row })
  }
  return [...byKey.values()]
}

/**
 * The rows that say anything else than what is stored. What they are about is held, and what they show: a store or a SKU that is renamed
 * meanwhile, or stock that moves, would be rendered as it was before. In the order in which others hold them; what stays as it is is left alone.
 */
async function holdChanging(tx: Db, service: Service, rows: readonly Row[]): Promise<Row[]> {
  const found = await tx.rows<{ place: number; isNew: boolean }>(sql`
    select new.ordinality::integer as place, old.service_id is null as "isNew"
      from ${mergeRows(service, stock, rows, 's')} where ${isDifferent(stock, 's')}`)
  const at = (places: typeof found) => places.flatMap(({ place }) => rows[place - 1] ?? [])
  const [changing, added, kept] = [at(found), at(found.filter(one => one.isNew)), at(found.filter(one => !one.isNew))]
  const stores = changing.map(({ storeId }) => storeId)
  if (stores.length) await lockStores(tx, service, stores)
  if (added.length) {
    // Of new stock whoever renames its SKU knows nothing: that waits.
    const skus = sql`sku_id = any(${[...new Set(added.map(({ skuId }) => skuId))]})`
    await lockRows(
      tx,
      sql`select from variant where service_id = ${opaqueServiceId(service)} and ${skus} order by sku_id for key share`,
    )
  }
  if (kept.length)
    await lockRows(
      tx,
      sql`
      select from ${keysOf(kept)} join stock s on s.service_id = ${opaqueServiceId(service)} and s.store_id = given.store_id and s.sku_id = given.sku_id
       order by s.store_id, s.sku_id for no key update of s`,
    )
  return changing
}

/**
 * Renders stock anew after something that it shows has changed; `where` begins with `and`. Stock goes by its store and its SKU: `gone` finds
 * the names that leave the list.
 */
export async function renderStock(
  tx: Db,
  service: Service,
  change: Change,
  where: Sql,
  gone = renamedSince(service, where),
) {
  // What an order moves meanwhile would be shown as it was before: it is held, and read again. In the order in which orders hold it.
  await lockRows(
    tx,
    sql`select from stock s where s.service_id = ${opaqueServiceId(service)} ${where} order by s.store_id, s.sku_id for no key update`,
  )
  await tx.run(sql`
    with remembered as (${insertTombstones(service, change, 'stock', gone)})
    update stock set record = ${withTimestamp(sql`r.body`, change)}, changed_at = ${change.at}
      from (select s.store_id, s.sku_id, ${body(service)} as body
              from stock s
              join store c on c.service_id = s.service_id and c.store_id = s.store_id
              join variant v on v.service_id = s.service_id and v.sku_id = s.sku_id
             where s.service_id = ${opaqueServiceId(service)} ${where} offset 0) r
     where stock.service_id = ${service.id} and stock.store_id = r.store_id and stock.sku_id = r.sku_id
       and not ${hasSameBody(sql`stock.record`, sql`r.body`)}`)
}

/** The same after SKUs have been renamed. */
export const renameStock = (tx: Db, service: Service, change: Change, where: Sql) =>
  renderStock(
    tx,
    service,
    change,
    where,
    sql`
    select ${stockId} as id
      from stock s join variant v using (service_id, sku_id)
     where service_id = ${service.id} ${where} and ${stockId} <> store_id || '-' || v.sku`,
  )

/**
 * What rows that are about to be rendered are called, where their SKU was renamed and `render-stock` has not come to it yet: it would not
 * find their old name any more. Asked in the statement that renders them, since a renaming that commits in between would be rendered unasked.
 */
const renamedSince = (service: Service, where: Sql) => sql`
    select ${stockId} as id
      from stock_rerender stale
      join stock s on s.service_id = stale.service_id and s.sku_id = stale.id
      join variant v on v.service_id = s.service_id and v.sku_id = s.sku_id
     where stale.service_id = ${service.id} and stale.stock_column = 'sku_id' ${where} and ${stockId} <> s.store_id || '-' || v.sku`

/** Where stock is kept, and of what. */
interface Kept {
  storeId: string
  skuId: string
}

/** A row with all that it says of it. */
type Row = Kept & SourceDated & Record<string, unknown>

/** Which stock `s` these are of. */
const among = (kept: readonly Kept[]) => sql`and (s.store_id, s.sku_id) in (select * from ${keysOf(kept)})`

const keysOf = (kept: readonly Kept[]) => {
  const [stores, skus] = [kept.map(({ storeId }) => storeId), kept.map(({ skuId }) => skuId)]
  return sql`unnest(${stores}::text[], ${skus}::text[]) as given (store_id, sku_id)`
}

/** What a row of `stock` shows as its identifier. */
export const stockId = sql`(record::json->>'id')`

/** Units that come into a store's stock, or leave it below zero. */
export interface StockMove extends Kept {
  quantity: number
}

/** Holds the stock that is about to move, in the order of its key, so that no two transactions wait for each other. Before `beginChange`. */
export const lockStock = (tx: Db, service: Service, moves: readonly StockMove[]) =>
  tx.run(sql`
    select from stock
     where service_id = ${service.id} and (store_id, sku_id) in (select "storeId", "skuId" from ${moved(moves)})
     order by store_id, sku_id for update`)

/** Moves stock, which may fall below zero. What is no longer kept anywhere does not move. */
export async function moveStock(tx: Db, service: Service, change: Change, moves: readonly StockMove[]) {
  const gone = renamedSince(service, among(moves))
  // An integer's reach is beyond any stock; reaching it must not keep an order from being placed.
  await tx.run(sql`
    with remembered as (${insertTombstones(service, change, 'stock', gone)})
    update stock set free_stock = r.free_stock, record = ${withTimestamp(sql`r.body`, change)}, changed_at = ${change.at}
      from (select s.store_id, s.sku_id, s.free_stock, ${body(service)} as body
              from (select "storeId", "skuId", sum(quantity) as quantity from ${moved(moves)} group by 1, 2) m
              cross join lateral (select service_id, store_id, sku_id, buffer, least(greatest(free_stock + m.quantity, -2147483648), 2147483647)::integer as free_stock
                                    from stock where service_id = ${service.id} and store_id = m."storeId" and sku_id = m."skuId") s
              cross join lateral (select * from store where service_id = s.service_id and store_id = s.store_id offset 0) c
              cross join lateral (select * from variant where service_id = s.service_id and sku_id = s.sku_id offset 0) v) r
     where stock.service_id = ${service.id} and stock.store_id = r.store_id and stock.sku_id = r.sku_id and stock.free_stock <> r.free_stock`)
}

const moved = (moves: readonly StockMove[]) =>
  sql`json_to_recordset(${JSON.stringify(moves)}) as moved ("storeId" text, "skuId" text, quantity bigint)`

interface Filters {
  skuId?: string | undefined
  storeNumber?: string | undefined
  updatedAfter?: string | undefined
}

export function stockPage(db: Db, service: Service, { skuId, storeNumber, updatedAfter }: Filters, asked: PageRequest) {
  const list = { table: 'stock', record: sql`record`, key: sql`id` } as const
  const inStore = filter(
    storeNumber,
    number =>
      sql`and store_id = (select store_id from store where service_id = ${service.id} and store_number = ${number})`,
  )
  const where = sql`${inStore} ${filter(updatedAfter, changedAfter)}`
  if (skuId === undefined) return readPage(db, service, { ...list, order: byChangeTimestamp, where }, asked)
  const ofSku = sql`and sku_id = ${skuId}`
  return updatedAfter === undefined
    ? readPage(db, service, { ...list, live: true, where: sql`${ofSku} ${where}` }, asked)
    : readFilteredScan(
        db,
        service,
        { ...list, order: byChangeTimestamp, where },
        { where: ofSku, column: sql`sku_id` },
        asked,
      )
}

/** The stock that is shown under an identifier: a store's, a dash, and a SKU; either may have dashes too. */
export const selectStockByShownId = (service: Service, id: Sql) => sql`
  select s.* from generate_series(1, length(${id})) place
    join variant v on v.service_id = ${service.id} and v.sku = substr(${id}, place + 1)
    join stock s on s.service_id = v.service_id and s.store_id = left(${id}, place - 1) and s.sku_id = v.sku_id
   where substr(${id}, place, 1) = '-'`

/** The record of one SKU in one store, as JSON text. */
export const findStock = (db: Db, service: Service, id: string) =>
  db.row<{ record: string }>(sql`select record from (${selectStockByShownId(service, sql`${id}::text`)}) stock`)
