import { type Db, type Sql, sql } from '../../database/db.ts'
import { mainConnection } from '../../domain/ecommerce/connection-settings.ts'
import type { DueDirection, dueRanks, HoldReason, LevelFacts } from '../../domain/ecommerce/stock-push.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { isInMainConnection } from './main-connection.ts'

/**
 * The stock of the platform as Tillbridge knows it.
 * Pattern: transactional outbox. Desired quantity and idempotency key are stored before a call; its result clears them.
 * Lock order: stock, then levels by item and location, then commitments.
 */

export interface LevelKey {
  itemId: string
  locationId: string
}

const selectKeys = (keys: readonly LevelKey[]) =>
  sql`unnest(${keys.map(({ itemId }) => itemId)}::text[], ${keys.map(({ locationId }) => locationId)}::text[]) as k (item_id, location_id)`
const isLevel = sql`l.item_id = k.item_id and l.location_id = k.location_id`

/** Locks levels in key order. Levels that another transaction has locked are skipped if `skipsLocked`. Returns the locked ones. */
const lockLevels = (tx: Db, service: Service, keys: readonly LevelKey[], skipsLocked = false) =>
  tx.rows<LevelKey>(sql`
    select item_id as "itemId", location_id as "locationId" from ecommerce_level l
     where ${isInMainConnection(service)} and (item_id, location_id) in (select * from ${selectKeys(keys)})
     order by item_id, location_id for update ${skipsLocked ? sql`skip locked` : sql``}`)

/** The rules by which committed units have left our stock. */
export interface NettingRules {
  /** True if orders take their units off the stock in the transaction that places them. */
  isEmbedded: boolean
  nettingDelayMinutes: number
}

/**
 * Units of order line `l` of order `o` that have left the stock of its own store. Open units have; shipped units have if all shipments left
 * from that store. Units that come back are free again.
 */
const unitsOffStock = sql`
  (l.quantity - l.cancelled - case
     when l.shipped > 0 and (l.returned > 0 or not (
       select coalesce(bool_and(s.store_id is null) or bool_and(s.store_id is not distinct from l.store_id), true)
         from shipment s where s.service_id = o.service_id and s.order_id = o.id)) then l.shipped
     else 0 end)`

/**
 * True if order line `l` of order `o` has left the stock that location `p` shows. Embedded: the line has a store of the location. Otherwise
 * the store isn't known, so all stores with the SKU must be of the location, and a stock sync must have begun late enough after the order.
 */
const hasLeftStock = ({ isEmbedded, nettingDelayMinutes }: NettingRules) =>
  isEmbedded
    ? sql`exists (select from store c where c.service_id = o.service_id and c.store_id = l.store_id and c.ecommerce_location_id = p.ecommerce_id)`
    : sql`not exists (select from stock s join store c on c.service_id = s.service_id and c.store_id = s.store_id
                       where s.service_id = o.service_id and s.sku_id = l.sku_id and c.ecommerce_location_id is distinct from p.ecommerce_id)
          and exists (select from sync_run r where r.service_id = o.service_id and r.sync = 'stock' and r.ended_at is not null and r.error is null
                       and r.changed_at > o.placed_at + ${nettingDelayMinutes}::integer * interval '1 min')`

/**
 * Selects the facts of levels `k`: the formula of docs/connect/shopify.md. One statement, so one snapshot of stock, orders and commitments.
 * Unknown levels have a null `knownOnHand`.
 * Aliases: `e` is the stored level, `i` the item and `p` the location. `same` is the number of items with the SKU. `t` is the sellable stock of
 * the location's stores. `n` is the number of committed units that have left our stock already.
 */
export const selectFacts = (service: Service, keys: Sql, rules: NettingRules) => sql`
  select k.item_id as "itemId", k.location_id as "locationId", e.known_on_hand as "knownOnHand", coalesce(e.version, 0)::integer as version,
         coalesce(t.sellable, 0)::integer as sellable, coalesce(n.netted, 0)::integer as netted, coalesce(e.observed_held_back, 0) as "heldBack",
         e.idempotency_key is not null as "isInFlight", coalesce(e.must_read, false) as "mustRead", i.ecommerce_id as sku,
         case when i.is_gift_card then 'giftCard' when i.is_bundle then 'bundle' when not i.is_tracked then 'untracked'
              when i.same > 1 then 'duplicate' when i.sku_id is null then 'unmapped' when p.ecommerce_id is null or not p.is_active then 'inactiveLocation'
              when t.stores = 0 then 'unmapped' end as "holdReason"
    from ${keys}
    left join ecommerce_level e on e.service_id = ${service.id} and e.connection_id = ${mainConnection} and e.item_id = k.item_id and e.location_id = k.location_id
    left join (
      select distinct on (x.inventory_item_id) x.*,
             (select count(*) from ecommerce_item o where o.service_id = x.service_id and o.connection_id = x.connection_id and o.kind = 'skus' and o.ecommerce_id = x.ecommerce_id) as same,
             (select v.sku_id from variant v where v.service_id = x.service_id and v.sku = x.ecommerce_id) as sku_id
        from ecommerce_item x
       where x.service_id = ${service.id} and x.connection_id = ${mainConnection} and x.kind = 'skus' and x.inventory_item_id in (select k.item_id from ${keys})
       order by x.inventory_item_id, x.item_key) i on i.inventory_item_id = k.item_id
    left join ecommerce_item p on p.service_id = ${service.id} and p.connection_id = ${mainConnection} and p.platform_id = k.location_id and p.kind = 'stores'
    left join lateral (
      select count(*) as stores,
             sum(greatest(0, floor(s.free_stock - coalesce(s.buffer, c.inventory_buffer, ${service.settings.inventoryBuffer}::integer) - s.reserved - s.allocated))) as sellable
        from store c left join stock s on s.service_id = c.service_id and s.store_id = c.store_id and s.sku_id = i.sku_id
       where c.service_id = ${service.id} and c.ecommerce_location_id = p.ecommerce_id) t on true
    left join lateral (
      select sum(greatest(0, least(c.units, u.units))) as netted
        from (select order_id, sum(units) as units from ecommerce_commitment
               where service_id = ${service.id} and connection_id = ${mainConnection} and item_id = k.item_id and location_id = k.location_id group by 1) c
       cross join lateral (
         select coalesce(sum(${unitsOffStock}), 0) as units
           from sales_order o join order_line l on l.service_id = o.service_id and l.order_id = o.id
          where o.service_id = ${service.id} and o.ecommerce_order_id = c.order_id and l.sku_id = i.sku_id and ${hasLeftStock(rules)}) u) n on true`

export interface StoredLevel extends LevelFacts, LevelKey {
  holdReason: HoldReason | null
  version: number
  isInFlight: boolean
  mustRead: boolean
  sku: string | null
}

/** Reads the facts of levels from one snapshot. */
export const readLevelFacts = (tx: Db, service: Service, keys: readonly LevelKey[], rules: NettingRules) =>
  tx.rows<StoredLevel>(selectFacts(service, selectKeys(keys), rules))

/** Returns the stored levels of these SKUs, and their levels at mapped locations that have something to sell. */
export const findLevelsOfSkus = (tx: Db, service: Service, skus: readonly string[]) =>
  tx.rows<LevelKey>(sql`
    with item as (
      select inventory_item_id, ecommerce_id from ecommerce_item
       where ${isInMainConnection(service)} and kind = 'skus' and inventory_item_id is not null and ecommerce_id = any(${skus}))
    select l.item_id as "itemId", l.location_id as "locationId"
      from item join ecommerce_level l on l.service_id = ${service.id} and l.connection_id = ${mainConnection} and l.item_id = item.inventory_item_id
    union
    select item.inventory_item_id, p.platform_id
      from item
      join variant v on v.service_id = ${service.id} and v.sku = item.ecommerce_id
      join stock s on s.service_id = v.service_id and s.sku_id = v.sku_id and s.free_stock > 0
      join store c on c.service_id = s.service_id and c.store_id = s.store_id
      join ecommerce_item p on p.service_id = ${service.id} and p.connection_id = ${mainConnection} and p.kind = 'stores' and p.ecommerce_id = c.ecommerce_location_id and p.platform_id is not null
     order by 1, 2`)

/** Returns up to `limit` SKUs of synced variants after `after`, in order. */
export const listSyncedSkus = async (tx: Db, service: Service, after: string, limit: number): Promise<string[]> =>
  (
    await tx.rows<{ sku: string }>(sql`
      select distinct ecommerce_id collate "C" as sku from ecommerce_item
       where ${isInMainConnection(service)} and kind = 'skus' and inventory_item_id is not null and ecommerce_id collate "C" > ${after} order by 1 limit ${limit}`)
  ).map(({ sku }) => sku)

/** A level to mark as due (with a rank), held (with a reason) or in step (with neither). */
export interface MarkedLevel extends LevelKey {
  /** The order in which due levels are sent. Null: not due. */
  rank: (typeof dueRanks)[DueDirection] | null
  holdReason: string | null
}

/**
 * Marks levels as due, held or in step, and locks them in key order. Unknown levels are added. A level in flight stays due, because its result
 * would hide the change.
 */
export const markLevels = (tx: Db, service: Service, levels: readonly MarkedLevel[]) =>
  tx.run(sql`
    insert into ecommerce_level as l (service_id, connection_id, item_id, location_id, due_at, due_rank, hold_reason)
    select ${service.id}, ${mainConnection}, "itemId", "locationId", case when rank is not null then clock_timestamp() end, rank, "holdReason"
      from json_to_recordset(${JSON.stringify(levels)}) as n ("itemId" text, "locationId" text, rank smallint, "holdReason" text)
     order by "itemId" collate "C", "locationId" collate "C"
    on conflict (service_id, connection_id, item_id, location_id) do update
       set (due_at, due_rank, hold_reason) = row(
             case when l.idempotency_key is not null then clock_timestamp() when excluded.due_rank is null then null else coalesce(l.due_at, excluded.due_at) end,
             case when l.idempotency_key is not null then coalesce(excluded.due_rank, 1) else excluded.due_rank end,
             excluded.hold_reason)`)

/** Marks all levels of items, of locations and of the items with these SKUs as due, because the platform has changed them. */
export const markItems = (
  tx: Db,
  service: Service,
  items: readonly { platformId: string; skus: readonly string[] }[],
) =>
  tx.run(sql`
    update ecommerce_level l
       set due_at = case when idempotency_key is null then coalesce(due_at, clock_timestamp()) else clock_timestamp() end, due_rank = coalesce(due_rank, 1)
      from (select item_id, location_id from ecommerce_level
             where ${isInMainConnection(service)}
               and (location_id = any(${items.map(({ platformId }) => platformId)})
                    or item_id in (select unnest(${items.map(({ platformId }) => platformId)}::text[]) union
                                   select inventory_item_id from ecommerce_item i
                                    where i.service_id = ${service.id} and i.connection_id = ${mainConnection} and i.kind = 'skus'
                                      and i.ecommerce_id = any(${items.flatMap(({ skus }) => skus)})))
             order by item_id, location_id for update) k
     where l.service_id = ${service.id} and l.connection_id = ${mainConnection} and ${isLevel}`)

/** Deletes the levels of items and of locations that the platform has deleted. */
export const deleteLevels = (tx: Db, service: Service, platformIds: readonly string[]) =>
  tx.run(sql`
    delete from ecommerce_level l
     using (select item_id, location_id from ecommerce_level
             where ${isInMainConnection(service)} and (item_id = any(${platformIds}) or location_id = any(${platformIds}))
             order by item_id, location_id for update) k
     where l.service_id = ${service.id} and l.connection_id = ${mainConnection} and ${isLevel}`)

/** Returns the next due levels, falling ones first. Omits `busy`: levels that other cycles of the push are processing. */
export const selectDue = (db: Db, service: Service, busy: readonly LevelKey[], limit: number) =>
  db.rows<LevelKey & { mustRead: boolean; hasHeldBack: boolean }>(sql`
    select item_id as "itemId", location_id as "locationId", must_read as "mustRead", coalesce(observed_held_back, 0) <> 0 as "hasHeldBack"
      from ecommerce_level
     where ${isInMainConnection(service)} and due_at is not null and idempotency_key is null
       and (item_id, location_id) not in (select * from ${selectKeys(busy)})
     order by due_rank, due_at limit ${limit}`)

/** The quantities of a level, as read from the platform. Null: the item isn't stocked there. */
export interface Observation extends LevelKey {
  onHand: number | null
  committed: number
  heldBack: number
}

/**
 * Stores quantities that were read. Levels in flight are skipped. The on-hand quantity becomes the known one only for levels that must be
 * read: a compare-and-set with a value that was just read would hide every change before the read.
 */
export async function storeObservations(tx: Db, service: Service, levels: readonly Observation[]): Promise<void> {
  await lockLevels(tx, service, levels)
  await tx.run(sql`
    update ecommerce_level l
       set observed_on_hand = o."onHand", observed_committed = o.committed, observed_held_back = o."heldBack", observed_at = clock_timestamp(),
           version = l.version + case when l.must_read or l.observed_held_back is distinct from o."heldBack" then 1 else 0 end,
           known_on_hand = case when l.must_read then o."onHand" else l.known_on_hand end,
           known_at = case when l.must_read then clock_timestamp() else l.known_at end, must_read = false
      from json_to_recordset(${JSON.stringify(levels)}) as o ("itemId" text, "locationId" text, "onHand" integer, committed integer, "heldBack" integer)
     where l.service_id = ${service.id} and l.connection_id = ${mainConnection} and l.item_id = o."itemId" and l.location_id = o."locationId" and l.idempotency_key is null`)
}

export interface OutboxLevel extends LevelKey {
  /** The idempotency key of the call. */
  key: string
  desiredOnHand: number
  knownOnHand: number | null
}

/** Locks levels that are neither locked nor in flight, and reads their facts in one snapshot. */
export async function lockIdleLevels(
  tx: Db,
  service: Service,
  keys: readonly LevelKey[],
  rules: NettingRules,
): Promise<StoredLevel[]> {
  const locked = await lockLevels(tx, service, keys, true)
  const facts = await readLevelFacts(tx, service, locked, rules)
  return facts.filter(({ isInFlight }) => !isInFlight)
}

/** Stores the outbox of locked levels before they are sent. */
export const storeOutbox = (tx: Db, service: Service, levels: readonly OutboxLevel[]) =>
  tx.run(sql`
    update ecommerce_level l
       set desired_on_hand = o."desiredOnHand", idempotency_key = o.key, sent_at = clock_timestamp(), hold_reason = null
      from json_to_recordset(${JSON.stringify(levels)}) as o ("itemId" text, "locationId" text, key text, "desiredOnHand" integer)
     where l.service_id = ${service.id} and l.connection_id = ${mainConnection} and l.item_id = o."itemId" and l.location_id = o."locationId"`)

/** Takes the levels out of the outbox whose facts have changed since their quantity was computed. They stay due. Returns the others. */
export async function keepUnchanged<T extends OutboxLevel & { version: number }>(
  db: Db,
  service: Service,
  levels: readonly T[],
): Promise<T[]> {
  const changed = await db.rows<LevelKey>(sql`
    update ecommerce_level l set desired_on_hand = null, idempotency_key = null, sent_at = null
      from json_to_recordset(${JSON.stringify(levels)}) as o ("itemId" text, "locationId" text, key text, version integer)
     where l.service_id = ${service.id} and l.connection_id = ${mainConnection} and l.item_id = o."itemId" and l.location_id = o."locationId"
       and l.idempotency_key = o.key and l.version <> o.version
    returning l.item_id as "itemId", l.location_id as "locationId"`)
  const keys = new Set(changed.map(({ itemId, locationId }) => `${itemId} ${locationId}`))
  return levels.filter(({ itemId, locationId }) => !keys.has(`${itemId} ${locationId}`))
}

export interface SentLevel extends LevelKey {
  state: 'applied' | 'notApplied' | 'stale' | 'held'
  holdReason: string | null
}

/** Stores the results of a call, and clears its outbox. A level that became due after it was sent stays due. */
export const recordResults = (db: Db, service: Service, key: string, levels: readonly SentLevel[]) =>
  db.run(sql`
    update ecommerce_level l
       set known_on_hand = case when r.state = 'applied' then l.desired_on_hand else l.known_on_hand end,
           known_at = case when r.state = 'applied' then clock_timestamp() else l.known_at end,
           version = l.version + 1, must_read = l.must_read or r.state = 'stale', hold_reason = r."holdReason",
           due_at = case when r.state in ('applied', 'held') and l.due_at <= l.sent_at then null else l.due_at end,
           due_rank = case when r.state in ('applied', 'held') and l.due_at <= l.sent_at then null else l.due_rank end,
           desired_on_hand = null, idempotency_key = null, sent_at = null
      from json_to_recordset(${JSON.stringify(levels)}) as r ("itemId" text, "locationId" text, state text, "holdReason" text)
     where l.service_id = ${service.id} and l.connection_id = ${mainConnection} and l.idempotency_key = ${key} and l.item_id = r."itemId" and l.location_id = r."locationId"`)

/** Returns the levels in flight of earlier runs by key, in the order in which they were sent. */
export const readOutbox = (db: Db, service: Service) =>
  db.rows<OutboxLevel & { isRecent: boolean }>(sql`
    select idempotency_key as key, item_id as "itemId", location_id as "locationId", desired_on_hand as "desiredOnHand", known_on_hand as "knownOnHand",
           sent_at > now() - ${replaySeconds} * interval '1 s' as "isRecent"
      from ecommerce_level where ${isInMainConnection(service)} and idempotency_key is not null order by 1, 2, 3`)

/** Seconds for which a call can be repeated with the same idempotency key: a small part of the time for which the platform keeps keys. */
const replaySeconds = 600

/** Counts the levels that would fall to zero since the last approval. */
export const countFalling = (db: Db, service: Service) =>
  countRows(
    db,
    sql`ecommerce_level l join ecommerce_connection c using (service_id, connection_id)
     where l.service_id = ${service.id} and l.connection_id = ${mainConnection} and l.due_at is not null and l.due_rank = 0
       and (c.push_approved_at is null or l.due_at > c.push_approved_at)`,
  )

/** Counts the levels with stock on the platform, except for those that are held. Reads every level. */
export const countStocked = (db: Db, service: Service) =>
  countRows(db, sql`ecommerce_level where ${isInMainConnection(service)} and known_on_hand > 0 and hold_reason is null`)

const countRows = async (db: Db, from: Sql) =>
  (await db.row<{ count: number }>(sql`select count(*)::integer as count from ${from}`))?.count ?? 0
