import { type Db, sql } from '../../database/db.ts'
import { mainConnection } from '../../domain/ecommerce/connection-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { addJob } from '../jobs/jobs.ts'
import { lockRows } from '../lists/change-timestamp.ts'
import { isInMainConnection } from './main-connection.ts'

/** The job that reads the committed units of a platform order. Its subject is the order's ID on the platform. */
const refreshCommitmentsJob = 'refresh-commitments'

/** Stores which order of the platform an order comes from, and queues the job that reads its committed units. */
export async function linkPlatformOrder(tx: Db, service: Service, orderId: string, platformOrderId: string) {
  await tx.run(
    sql`update sales_order set ecommerce_order_id = ${platformOrderId} where service_id = ${service.id} and id = ${orderId}`,
  )
  const isConnected = await tx.run(sql`select from ecommerce_connection where ${isInMainConnection(service)}`)
  if (isConnected) await addJob(tx, service.id, refreshCommitmentsJob, { subject: platformOrderId })
}

/** The committed units of an order, as read from the platform. */
interface Commitment {
  orderId: string
  lineId: string
  locationId: string
  itemId: string
  units: number
}

/** The result of a read of orders by ID. `readAt`: the time of our clock before the call. */
interface ReadOrders {
  orderIds: readonly string[]
  readAt: string
  commitments: readonly Commitment[]
}

/**
 * Replaces the committed units of these orders, unless a later read is stored already. The levels whose units have changed are due again. If
 * units have left, the merchant has fulfilled or cancelled them, so that the on-hand quantity is read first. Returns the number of open lines.
 * Aliases: `old` are the stored commitments, `n` the new ones, and `c` the change of units of each level.
 */
export async function storeCommitments(tx: Db, service: Service, read: ReadOrders): Promise<number> {
  const { readAt } = read
  const ofOrder = sql`service_id = ${service.id} and ecommerce_order_id = any(${read.orderIds})`
  // Serializes the reads of an order. Lock order: orders, levels by key, commitments.
  await lockRows(tx, sql`select from sales_order where ${ofOrder} order by id for no key update`)
  const updated = await tx.rows<{ orderId: string }>(sql`
    update sales_order set ecommerce_read_at = ${readAt}::timestamptz where ${ofOrder} and coalesce(ecommerce_read_at <= ${readAt}::timestamptz, true)
    returning ecommerce_order_id as "orderId"`)
  const orderIds = [...new Set(updated.map(({ orderId }) => orderId))]
  const commitments = read.commitments.filter(({ orderId }) => orderIds.includes(orderId))
  const rows = sql`json_to_recordset(${JSON.stringify(commitments)}) as n ("orderId" text, "lineId" text, "locationId" text, "itemId" text, units integer)`
  const ofOrders = sql`${isInMainConnection(service)} and order_id = any(${orderIds})`
  const changes = sql`
    select coalesce(old.item_id, n."itemId") as item_id, coalesce(old.location_id, n."locationId") as location_id,
           coalesce(n.units, 0) - coalesce(old.units, 0) as change
      from (select * from ecommerce_commitment where ${ofOrders}) old
      full join ${rows} on n."orderId" = old.order_id and n."lineId" = old.line_id and n."locationId" = old.location_id and n."itemId" = old.item_id
     where n.units is distinct from old.units`
  await lockRows(
    tx,
    sql`
      select from ecommerce_level l
       where ${isInMainConnection(service)} and (item_id, location_id) in (select item_id, location_id from (${changes}) c)
       order by item_id, location_id for update`,
  )
  await tx.run(sql`
    update ecommerce_level l
       set version = l.version + 1, must_read = l.must_read or c.has_left,
           due_at = case when l.idempotency_key is null then coalesce(l.due_at, clock_timestamp()) else clock_timestamp() end,
           due_rank = least(l.due_rank, case when c.has_left then 1 else 2 end)
      from (select item_id, location_id, bool_or(change < 0) as has_left from (${changes}) c group by 1, 2) c
     where l.service_id = ${service.id} and l.connection_id = ${mainConnection} and l.item_id = c.item_id and l.location_id = c.location_id`)
  await tx.run(sql`delete from ecommerce_commitment where ${ofOrders}`)
  return tx.run(sql`
    insert into ecommerce_commitment (service_id, connection_id, order_id, line_id, location_id, item_id, units, confirmed_at)
    select ${service.id}, ${mainConnection}, "orderId", "lineId", "locationId", "itemId", units, now() from ${rows} where units > 0`)
}

/** Returns the orders with committed units, least recently confirmed first. Omits those that this transaction confirmed. */
export const findUnconfirmedOrders = async (db: Db, service: Service): Promise<string[]> =>
  (
    await db.rows<{ orderId: string }>(sql`
      select order_id as "orderId" from ecommerce_commitment
       where ${isInMainConnection(service)} group by 1
      having min(confirmed_at) < now() order by min(confirmed_at), 1`)
  ).map(({ orderId }) => orderId)

/** Returns the orders with committed units of these items. */
export const findOrdersOfItems = async (db: Db, service: Service, itemIds: readonly string[]): Promise<string[]> =>
  (
    await db.rows<{ orderId: string }>(sql`
      select distinct order_id as "orderId" from ecommerce_commitment
       where service_id = ${service.id} and connection_id = ${mainConnection} and item_id = any(${itemIds}) order by 1`)
  ).map(({ orderId }) => orderId)

/** Returns the orders with committed units at these levels, each with its levels. */
export const findOrdersOfLevels = (
  db: Db,
  service: Service,
  levels: readonly { itemId: string; locationId: string }[],
) =>
  db.rows<{ orderId: string; itemId: string; locationId: string }>(sql`
    select distinct c.order_id as "orderId", c.item_id as "itemId", c.location_id as "locationId"
      from unnest(${levels.map(({ itemId }) => itemId)}::text[], ${levels.map(({ locationId }) => locationId)}::text[]) k (item_id, location_id)
      join ecommerce_commitment c on c.service_id = ${service.id} and c.connection_id = ${mainConnection} and c.item_id = k.item_id and c.location_id = k.location_id
     order by 1, 2, 3`)
