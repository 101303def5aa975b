import { randomUUIDv7 } from 'node:crypto'
import { type Database, type Db, sql } from '../../database/db.ts'
import { type AllocatedShipment, allocateShipments } from '../../domain/orders/shipments.ts'
import type { SyncRows } from '../../domain/sync/port.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { beginChange, type Change, localTime, type Upserted } from '../lists/change-timestamp.ts'
import { type PageRequest, readPage } from '../lists/page.ts'
import { removeRecords } from '../lists/tombstones.ts'
import { readLines, touchOrder } from './lines.ts'
import { jsonArray, type LockedOrder } from './orders.ts'
import { updateEachOrder } from './update-each-order.ts'

/** The record of a shipment `s` (`Shipment`). */
export const shipmentJson = (service: Service) => sql`
  (select row_to_json(r)::text from (select
     s.id, o.id as "orderId", o.order_number as "orderNumber", s.carrier, s.tracking_number as "trackingNumber", s.tracking_url as "trackingUrl",
     (select c.store_number from store c where c.service_id = s.service_id and c.store_id = s.store_id) as "storeNumber",
     ${localTime(sql`s.shipped_at`, service)} as "shippedAt",
     ${jsonArray(sql`
       select content->>'orderSequence' as "orderLineId", content->>'sku' as sku, (content->>'quantity')::integer as quantity
         from json_array_elements(s.lines) content`)} as lines,
     s.cartons, ${localTime(sql`s.changed_at`, service)} as "updateTimeStamp"
     from sales_order o where o.service_id = s.service_id and o.id = s.order_id) r)`

/** Returns the JSON of a shipment. */
export const findShipment = (db: Db, service: Service, id: string) =>
  db.row<{ record: string }>(
    sql`select ${shipmentJson(service)} as record from shipment s where s.service_id = ${service.id} and s.id = ${id}`,
  )

/** Returns the ID and the JSON of a shipment of an order. */
export const findShipmentByKey = (db: Db, service: Service, order: Pick<LockedOrder, 'id'>, key: string) =>
  db.row<{ id: string; record: string }>(sql`
    select s.id, ${shipmentJson(service)} as record
      from shipment s where s.service_id = ${service.id} and s.order_id = ${order.id} and s.source_key = ${key}`)

/** Returns a page of an order's shipments, in the order in which they became known. */
export const readShipmentPage = (db: Db, service: Service, { orderId }: { orderId: string }, request: PageRequest) =>
  readPage(
    db,
    service,
    {
      table: sql`shipment s`,
      record: shipmentJson(service),
      key: sql`id`,
      live: true,
      where: sql`and order_id = ${orderId}`,
    },
    request,
  )

/** Counts the shipments of a locked order. */
export async function countShipments(tx: Db, service: Service, order: Pick<LockedOrder, 'id'>): Promise<number> {
  const row = await tx.row<{ count: number }>(
    sql`select count(*)::integer as count from shipment where service_id = ${service.id} and order_id = ${order.id}`,
  )
  return row?.count ?? 0
}

/** Writes shipments of a locked order. Returns the number of shipments that are new or changed. */
export const writeShipments = (
  tx: Db,
  service: Service,
  change: Change,
  order: Pick<LockedOrder, 'id'>,
  shipments: readonly AllocatedShipment[],
) =>
  tx.run(sql`
    insert into shipment as s (service_id, id, changed_at, order_id, source_key, shipped_at, carrier, tracking_number, tracking_url, store_id, lines, cartons)
    select ${service.id}, id, ${change.at}, ${order.id}, key, "shippedAt", carrier, "trackingNumber", "trackingUrl", "storeId", lines, cartons
      from json_to_recordset(${JSON.stringify(shipments.map(shipment => ({ ...shipment, id: randomUUIDv7() })))})
           as r (id text, key text, "shippedAt" timestamptz, carrier text, "trackingNumber" text, "trackingUrl" text, "storeId" text, lines json, cartons json)
    on conflict (service_id, order_id, source_key) do update
      set (changed_at, shipped_at, carrier, tracking_number, tracking_url, lines, cartons)
        = (excluded.changed_at, excluded.shipped_at, excluded.carrier, excluded.tracking_number, excluded.tracking_url, excluded.lines, excluded.cartons)
      where (s.shipped_at, s.carrier, s.tracking_number, s.tracking_url, s.lines::text, s.cartons::text)
            is distinct from (excluded.shipped_at, excluded.carrier, excluded.tracking_number, excluded.tracking_url, excluded.lines::text, excluded.cartons::text)`)

/**
 * Replaces the shipments of orders with those of the back office, one transaction per order. Unchanged shipments stay as they are, so that
 * each state is published once. An order of an erased customer is skipped, because a carrier's page shows the address.
 */
export const replaceShipments = (
  db: Database,
  service: Service,
  rows: readonly SyncRows['shipments'][],
): Promise<Upserted> =>
  updateEachOrder(db, service, rows, async (tx, order, { orderId, shipments }) => {
    if (order.customerId === null) return 0
    const allocated = allocateShipments(shipments, await readLines(tx, service, order))
    const change = await beginChange(tx, service, ['sales_order', 'shipment'])
    const removed = await removeRecords(tx, service, change, {
      list: 'shipment',
      id: sql`id`,
      where: sql`order_id = ${orderId} and source_key <> all(${allocated.map(({ key }) => key)}::text[])`,
    })
    const written = await writeShipments(tx, service, change, order, allocated)
    if (written || removed) await touchOrder(tx, service, order, change)
    return written
  })
