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
  hasSameBody,
  lockRows,
  timestampOf,
  type Upserted,
  withoutClosingBrace,
  withTimestamp,
} from '../lists/change-timestamp.ts'
import { isDifferent, type MergeTable, mergeRows, onConflictUpdate } from '../lists/merge.ts'
import { dropOutdated, mergedContentTime, type WriteContext } from '../lists/outdated.ts'
import { materialized, opaqueServiceId } from '../lists/planner-fences.ts'
import { lockStores } from '../lists/store-locks.ts'
import { insertTombstones } from '../lists/tombstones.ts'
import { reportOversold, resolveOversold } from './oversold.ts'
import { currentlyReserved, endExpiredAt, expiredUnits } from './reservations.ts'

const stock: MergeTable = {
  name: 'stock',
  key: ['store_id', 'sku_id'],
  columns: ['service_id', 'store_id', 'sku_id', 'free_stock', 'buffer'],
}

/**
 * JSON of stock `s` of variant `v` in store `c`, without closing brace. The buffer of the stock precedes that of the store, and that of
 * the service.
 */
const body = (service: Service, { allocated, reserved } = { allocated: sql`s.allocated`, reserved: sql`s.reserved` }) =>
  withoutClosingBrace(sql`
  select row_to_json(r) from (select
     c.store_id || '-' || v.sku as id, v.sku, v.sku_id as "skuId", c.store_id as "storeId", c.store_number as "storeNumber",
     c.name as "storeName", c.ecommerce_location_id as "ecommerceLocationId", trim_scale(s.free_stock) as "freeStock", b.buffer,
     trim_scale(greatest(0, s.free_stock - b.buffer - b.reserved - b.allocated)) as sellable, b.reserved, b.allocated
     from (select coalesce(s.buffer, c.inventory_buffer, ${service.settings.inventoryBuffer}::integer) as buffer,
                  ${reserved} as reserved, ${allocated} as allocated) b) r`)

/** Selects the record of stock `level` (an alias) without the units of expired reservations. */
export const currentRecord = (service: Service, level: Sql) => sql`
  select ${body(service)} || ${timestampOf(sql`s.record`)}
    from ${materialized(sql`select service_id, store_id, sku_id, free_stock, buffer, allocated, record, greatest(0, reserved - ${expiredUnits(level)}) as reserved from (select ${level}.*) stored`)} s
    join store c on c.service_id = s.service_id and c.store_id = s.store_id
    join variant v on v.service_id = s.service_id and v.sku_id = s.sku_id`

type StockContext = Pick<WriteContext, 'skipOutdated' | 'requestedAt'>

/** The units of orders and reservations. Merging stock keeps them, because no source has them. */
const keptUnits = { allocated: sql`coalesce(old.allocated, 0)`, reserved: sql`coalesce(old.reserved, 0)` }

/** Merges rows (`StockRow` with resolved `storeId` and `skuId`) into the stock. */
export const upsertStock = (
  db: Database,
  service: Service,
  rows: readonly Row[],
  context?: StockContext,
): Promise<Upserted> => db.transaction(tx => mergeStock(tx, service, rows, context))

/** Like `upsertStock`, within a transaction that makes no other change. */
export async function mergeStock(
  tx: Db,
  service: Service,
  allRows: readonly Row[],
  context?: StockContext,
): Promise<Upserted> {
  const { current: rows, outdated } = await dropOutdated(tx, service, stock, allRows, context)
  const locked = await lockChangedRows(tx, service, mergeByKey(rows))
  const changed = await keepSoldUnits(tx, service, locked, context?.requestedAt)
  const change = await beginSourceDatedChange(tx, service, 'stock', rows)
  if (!changed.length) return { inserted: 0, changed: 0, outdated }
  // Returns only the short levels: usually there are none among thousands of rows.
  const { short = [], ...counts } = (await tx.row<{ inserted: number; changed: number; short: StockKey[] }>(sql`
    with additional as (${insertTombstones(service, change, 'stock', selectRenamedIds(service, isAmong(changed)))}), written as (
      insert into stock (service_id, store_id, sku_id, free_stock, buffer, changed_at, source_changed_at, record)
      select s.service_id, s.store_id, s.sku_id, s.free_stock, s.buffer, t.new_timestamp, ${mergedContentTime(stock, 's', service, change)}, ${withChangeTimestamp(body(service, keptUnits), sql`t.new_timestamp`, service, change)}
        from ${mergeRows(service, stock, changed, 's')}
        join store c on c.service_id = ${opaqueServiceId(service)} and c.store_id = s.store_id
        join variant v on v.service_id = ${opaqueServiceId(service)} and v.sku_id = s.sku_id
        cross join lateral (select ${changeTimestamp(mergedRowTimes, service, change)} as new_timestamp) t
       where ${isDifferent(stock, 's')}
      ${onConflictUpdate(stock, ['changed_at', 'source_changed_at', 'record'])}
      returning (xmax = 0) as inserted, store_id as "storeId", sku_id as "skuId", free_stock - reserved - allocated < 0 as is_short)
    select count(*) filter (where inserted)::integer as inserted, count(*) filter (where not inserted)::integer as changed,
           coalesce(json_agg(json_build_object('storeId', "storeId", 'skuId', "skuId")) filter (where is_short), '[]') as short from written`)) ?? {
    inserted: 0,
    changed: 0,
  }
  const exact = changed.filter(({ isAtMost }) => !isAtMost)
  const exactKeys = new Set(exact.map(getStockKey))
  await resolveOversold(tx, service, exact)
  await reportOversold(
    tx,
    service,
    short.filter(key => exactKeys.has(getStockKey(key))),
  )
  return { ...counts, outdated }
}

/**
 * Returns locked rows with the stored free stock if it is lower and the rows were requested before an order took units of them. The back
 * office may not have had that order yet. The next read has it.
 */
async function keepSoldUnits(
  tx: Db,
  service: Service,
  rows: readonly Row[],
  requestedAt: string | undefined,
): Promise<readonly Row[]> {
  if (!rows.length || requestedAt === undefined) return rows
  const sold = await tx.rows<StockKey & { freeStock: number }>(sql`
    select store_id as "storeId", sku_id as "skuId", free_stock::float8 as "freeStock"
      from ${selectKeys(rows)} join stock s using (store_id, sku_id)
     where s.service_id = ${opaqueServiceId(service)} and s.sold_at >= ${requestedAt}::timestamptz`)
  const remaining = new Map(sold.map(row => [getStockKey(row), row.freeStock]))
  return rows.map(row => {
    const freeStock = remaining.get(getStockKey(row))
    return freeStock === undefined || Number(row.freeStock) <= freeStock ? row : { ...row, freeStock }
  })
}

/**
 * Merges rows of the same store and SKU; later fields win. A file can name one SKU in two ways. Without merging, a later row that equals
 * the stored row would be skipped, although an earlier row changes it.
 */
function mergeByKey(rows: readonly Row[]): Row[] {
  const byKey = new Map<string, Row>()
  for (const row of rows) {
    const key = getStockKey(row)
    byKey.set(key, { ...byKey.get(key), ...row })
  }
  return [...byKey.values()]
}

const getStockKey = ({ storeId, skuId }: StockKey) => `${storeId}\0${skuId}`

/**
 * Returns the rows that differ from the stored stock. Locks that stock and the stores and variants that it shows, in the common lock
 * order: otherwise a concurrent rename or stock movement would be lost. Unchanged stock is not locked.
 */
async function lockChangedRows(tx: Db, service: Service, rows: readonly Row[]): Promise<Row[]> {
  const different = await tx.rows<{ ordinal: number; isNew: boolean }>(sql`
    select new.ordinality::integer as ordinal, old.service_id is null as "isNew"
      from ${mergeRows(service, stock, rows, 's')} where ${isDifferent(stock, 's')}`)
  const pick = (selected: typeof different) => selected.flatMap(({ ordinal }) => rows[ordinal - 1] ?? [])
  const changed = pick(different)
  const added = pick(different.filter(({ isNew }) => isNew))
  const existing = pick(different.filter(({ isNew }) => !isNew))
  const stores = changed.map(({ storeId }) => storeId)
  if (stores.length) await lockStores(tx, service, stores)
  if (added.length) {
    // A rename of a SKU can't see new stock, so it must wait.
    const skus = sql`sku_id = any(${[...new Set(added.map(({ skuId }) => skuId))]})`
    await lockRows(
      tx,
      sql`select from variant where service_id = ${opaqueServiceId(service)} and ${skus} order by sku_id for key share`,
    )
  }
  if (existing.length)
    await lockRows(
      tx,
      sql`
      select from ${selectKeys(existing)} join stock s on s.service_id = ${opaqueServiceId(service)} and s.store_id = keys.store_id and s.sku_id = keys.sku_id
       order by s.store_id, s.sku_id for no key update of s`,
    )
  return changed
}

/**
 * Renders stock `s` after a change of something it shows. `where` must begin with `and`. The ID of stock consists of store ID and SKU:
 * `goneIds` selects the IDs that leave the list.
 */
export async function renderStock(
  tx: Db,
  service: Service,
  change: Change,
  where: Sql,
  goneIds = selectRenamedIds(service, where),
) {
  // Locks the stock and then reads it again: otherwise a concurrent order's movement would be lost. Same lock order as orders.
  await lockRows(
    tx,
    sql`select from stock s where s.service_id = ${opaqueServiceId(service)} ${where} order by s.store_id, s.sku_id for no key update`,
  )
  await tx.run(sql`
    with removed as (${insertTombstones(service, change, 'stock', goneIds)})
    update stock set record = ${withTimestamp(sql`r.body`, change)}, changed_at = ${change.at}
      from ${materialized(sql`select s.store_id, s.sku_id, ${body(service)} as body
              from stock s
              join store c on c.service_id = s.service_id and c.store_id = s.store_id
              join variant v on v.service_id = s.service_id and v.sku_id = s.sku_id
             where s.service_id = ${opaqueServiceId(service)} ${where}`)} r
     where stock.service_id = ${service.id} and stock.store_id = r.store_id and stock.sku_id = r.sku_id
       and not ${hasSameBody(sql`stock.record`, sql`r.body`)}`)
}

/** Renders stock after a rename of its SKU. */
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
 * Selects the previous IDs of stock whose SKU was renamed, and that `render-stock` has not rendered yet: after this rendering, the job
 * could not find them. Must be part of the rendering statement, because a rename could commit in between.
 */
const selectRenamedIds = (service: Service, where: Sql) => sql`
    select ${stockId} as id
      from stock_rerender stale
      join stock s on s.service_id = stale.service_id and s.sku_id = stale.id
      join variant v on v.service_id = s.service_id and v.sku_id = s.sku_id
     where stale.service_id = ${service.id} and stale.stock_column = 'sku_id' ${where} and ${stockId} <> s.store_id || '-' || v.sku`

interface StockKey {
  storeId: string
  skuId: string
}

/** A stock row with the columns that it sets. `isAtMost`: its free stock is an upper bound, so it can't show that there are enough units. */
type Row = StockKey & SourceDated & Record<string, unknown> & { isAtMost?: boolean }

/** True for stock `s` with these keys. */
const isAmong = (stocks: readonly StockKey[]) =>
  sql`and (s.store_id, s.sku_id) in (select * from ${selectKeys(stocks)})`

const selectKeys = (stocks: readonly StockKey[]) => {
  const [stores, skus] = [stocks.map(({ storeId }) => storeId), stocks.map(({ skuId }) => skuId)]
  return sql`unnest(${stores}::text[], ${skus}::text[]) as keys (store_id, sku_id)`
}

/** The ID that a row of `stock` shows. */
export const stockId = sql`(record::json->>'id')`

/** Units that are added to a store's stock. Negative numbers remove units; the free stock can fall below zero. */
interface StockMove extends StockKey {
  /** Units of free stock. Default: none. */
  quantity?: number
  /** Units of orders that are not shipped. Default: none. */
  allocated?: number
  /** Units of reservations. Default: none. */
  reserved?: number
}

/**
 * Waits until no other write of these SKUs is ahead in the queue. Without it, a crowd of writes would wait for the rows, and ended
 * reservations and imports would wait behind the crowd. Transactions that lock rows first must not call this afterwards.
 */
const queueForSkus = (tx: Db, service: Service, skuIds: readonly string[]) =>
  queueFor(tx, service, sql`unnest(${skuIds}::text[]) as skus (sku_id)`)

const queueFor = (tx: Db, service: Service, skus: Sql) =>
  tx.run(sql`
    select pg_advisory_xact_lock(${service.id}, key)
      from ${materialized(sql`select distinct hashtext('stock ' || sku_id) as key from ${skus} order by key`)} keys`)

/** Locks the stock that is about to move, in key order, so that no two transactions can deadlock. Call before `beginChange`. */
export async function lockStock(tx: Db, service: Service, moves: readonly StockMove[]) {
  const skuIds = moves.map(({ skuId }) => skuId)
  await Promise.all([queueForSkus(tx, service, skuIds), lockStockFirst(tx, service, moves)])
}

/** Locks the stock of a locked reservation like `lockStock`. Needs no lines, so it can be pipelined behind `lockReservation`. */
export async function lockReservedStock(tx: Db, service: Service, reservationId: string) {
  const lines = sql`stock_reservation_line where service_id = ${service.id} and reservation_id = ${reservationId}`
  await Promise.all([
    queueFor(tx, service, lines),
    tx.run(sql`
      select from stock
       where service_id = ${service.id} and (store_id, sku_id) in (select store_id, sku_id from ${lines})
       order by store_id, sku_id for update`),
  ])
}

/** Like `lockStock`, but ahead of the queue: waits only for the write that has locked the stock, not for writes that wait for the same SKUs. */
export const lockStockFirst = (tx: Db, service: Service, moves: readonly StockKey[]) =>
  tx.run(sql`
    select from stock
     where service_id = ${service.id} and (store_id, sku_id) in (select "storeId", "skuId" from ${selectMoves(moves)})
     order by store_id, sku_id for update`)

/**
 * Moves stock, which can fall below zero, and ends the expired reservations at the moved levels. Otherwise, a crowd that waits for this stock
 * would delay them. Ignores stock that no longer exists. Delete or renew the reservations of the moves first.
 * Aliases: `m` has the moved units of each level, `s` its new quantities with its store `c` and its variant `v`, and `r` its new record.
 */
export async function moveStock(tx: Db, service: Service, change: Change, moves: readonly StockMove[]) {
  const goneIds = selectRenamedIds(service, isAmong(moves))
  const clamp = (value: Sql, minimum: Sql) => sql`least(greatest(${value}, ${minimum}), 2147483647)`
  // Clamped to the range of an integer, because an overflow must not prevent an order. Stock that was removed and added again has lost its
  // allocated units, so they can't fall below 0 either.
  const moving = tx.run(sql`
    with removed as (${insertTombstones(service, change, 'stock', goneIds)}), ${endExpiredAt(service, selectMoves(moves))}
    update stock set free_stock = r.free_stock, allocated = r.allocated, reserved = r.reserved, record = ${withTimestamp(sql`r.body`, change)}, changed_at = ${change.at},
           sold_at = case when r.free_stock < stock.free_stock then list_clock(clock_timestamp()) else stock.sold_at end
      from (select s.store_id, s.sku_id, s.free_stock, s.allocated, s.reserved, ${body(service)} as body
              from (select "storeId", "skuId", coalesce(sum(quantity), 0) as quantity, coalesce(sum(allocated), 0) as allocated, coalesce(sum(reserved), 0) as reserved,
                           (select coalesce(sum(ended.quantity), 0) from ended where store_id = "storeId" and sku_id = "skuId") as expired
                      from ${selectMoves(moves)} group by 1, 2) m
              cross join lateral (select service_id, store_id, sku_id, buffer, ${clamp(sql`free_stock + m.quantity`, sql`-2147483648`)} as free_stock,
                                         ${clamp(sql`stock.allocated + m.allocated`, sql`0`)}::integer as allocated, ${clamp(sql`stock.reserved + m.reserved - m.expired`, sql`0`)}::integer as reserved
                                    from stock where service_id = ${service.id} and store_id = m."storeId" and sku_id = m."skuId") s
              cross join lateral ${materialized(sql`select * from store where service_id = s.service_id and store_id = s.store_id`)} c
              cross join lateral ${materialized(sql`select * from variant where service_id = s.service_id and sku_id = s.sku_id`)} v) r
     where stock.service_id = ${service.id} and stock.store_id = r.store_id and stock.sku_id = r.sku_id
       and (stock.free_stock, stock.allocated, stock.reserved) <> (r.free_stock, r.allocated, r.reserved)`)
  await Promise.all([moving, resolveOversold(tx, service, moves)])
}

/**
 * The whole units of a level `s` of store `c` that can be sold to the owner of reservation `own`. Reads the reservations instead of
 * `s.reserved`, which contains expired ones until `watchReservations` has ended them.
 */
export const sellableUnits = (service: Service, own?: string) => sql`
  least(2147483647, greatest(0, floor(s.free_stock) - coalesce(s.buffer, c.inventory_buffer, ${service.settings.inventoryBuffer}::integer) - s.allocated
    - ${currentlyReserved(own === undefined ? sql`` : sql`and r.id <> ${own}`)}))::integer`

/** Returns the units that can be sold, by SKU ID: in the store of each move, also to the owner of reservation `own`. Call after `lockStock`. */
export const readSellable = async (
  tx: Db,
  service: Service,
  moves: readonly StockMove[],
  own?: string,
): Promise<Map<string, number>> => {
  const rows = await tx.rows<{ skuId: string; units: number }>(sql`
    select s.sku_id as "skuId", ${sellableUnits(service, own)} as units
      from (select distinct "storeId", "skuId" from ${selectMoves(moves)}) m
      join stock s on s.service_id = ${service.id} and s.store_id = m."storeId" and s.sku_id = m."skuId"
      join store c on c.service_id = s.service_id and c.store_id = s.store_id`)
  return new Map(rows.map(({ skuId, units }) => [skuId, units]))
}

/**
 * Locks the stock of these SKUs in all stores, and returns the levels with units that can be sold, also to the owner of reservation `own`:
 * the most units first.
 */
export async function readSellableLevels(
  tx: Db,
  service: Service,
  skuIds: readonly string[],
  own?: string,
): Promise<{ storeId: string; skuId: string; quantity: number }[]> {
  await Promise.all([
    queueForSkus(tx, service, skuIds),
    lockRows(
      tx,
      sql`select from stock s where service_id = ${service.id} and sku_id = any(${skuIds}) order by store_id, sku_id for update`,
    ),
  ])
  return tx.rows(sql`
    select * from (
      select s.store_id as "storeId", s.sku_id as "skuId", ${sellableUnits(service, own)} as quantity
        from stock s join store c on c.service_id = s.service_id and c.store_id = s.store_id
       where s.service_id = ${service.id} and s.sku_id = any(${skuIds})) levels
     where quantity > 0 order by quantity desc, "storeId"`)
}

const selectMoves = (moves: readonly StockMove[]) =>
  sql`json_to_recordset(${JSON.stringify(moves)}) as moves ("storeId" text, "skuId" text, quantity bigint, allocated bigint, reserved bigint)`
