import { type Db, type Sql, sql } from '../../database/db.ts'
import type { OrderName } from '../../domain/orders/orders.ts'
import { toMinorUnits } from '../../domain/orders/pricing.ts'
import type { PickupStatus } from '../../domain/orders/transitions.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { beginChange, localTime } from '../lists/change-timestamp.ts'
import { filter, type PageRequest, readPage } from '../lists/page.ts'

/** An amount of an order `o`, with the decimals of its currency. */
export const orderMoney = (amount: Sql) => sql`round(${amount}, o.decimals)::text`

/** SQL for the rows of a select as a JSON array of objects. */
export const jsonArray = (source: Sql) =>
  sql`(select coalesce('[' || string_agg(row_to_json(item)::text, ',') || ']', '[]')::json from (${source}) item)`

/** The shipments of an order line `l`, as JSON. */
const lineTracking = jsonArray(sql`
  select s.id as "shipmentId", s.carrier, s.tracking_number as "trackingNumber", s.tracking_url as "trackingUrl",
         (content->>'quantity')::integer as quantity
    from shipment s, json_array_elements(s.lines) content
   where s.service_id = l.service_id and s.order_id = l.order_id and (content->>'orderSequence')::integer = l.sequence
   order by s.id`)

/** The record of an order `o` (`Order`). */
export const orderJson = (service: Service) => sql`
  (select row_to_json(r)::text from (select
     o.id, o.order_number as "orderNumber", o.customer_id as "customerId", o.pickup_store_number as "pickupStoreNumber",
     o.billing_address as "billingAddress", o.delivery_address as "deliveryAddress", o.currency,
     ${jsonArray(sql`
       select l.sequence::text as id, l.sequence, l.sku, l.product_code as "productCode", l.product_name as "productName",
              l.colour_code as "colourCode", l.colour_name as "colourName", l.size_code as "sizeCode", l.quantity, l.shipped, l.cancelled, l.returned,
              ${orderMoney(sql`l.price`)} as price, l.discounts, ${orderMoney(sql`l.value`)} as value, l.status,
              ${lineTracking} as tracking
         from order_line l where l.service_id = o.service_id and l.order_id = o.id order by l.sequence`)} as lines,
     ${orderMoney(sql`o.freight`)} as freight, o.tax_lines as "taxLines", ${orderMoney(sql`o.total`)} as total,
     ${jsonArray(sql`
       select p.gateway, ${orderMoney(sql`p.amount`)} as amount, p.reference, p.voucher_number as "voucherNumber"
         from order_payment p where p.service_id = o.service_id and p.order_id = o.id order by p.sequence`)} as payments,
     ${localTime(sql`o.placed_at`, service)} as "placedAt", ${localTime(sql`o.ready_at`, service)} as "readyAt", ${localTime(sql`o.collected_at`, service)} as "collectedAt", ${localTime(sql`o.changed_at`, service)} as "updateTimeStamp") r)`

/** Returns the JSON of an order. */
export const findOrderRecord = (db: Db, service: Service, id: string) =>
  db.row<{ record: string }>(
    sql`select ${orderJson(service)} as record from sales_order o where o.service_id = ${service.id} and o.id = ${id}`,
  )

/** Returns the ID of the order with this ID or number. An ID takes precedence over a number. */
export const findOrderId = async (db: Db, service: Service, name: OrderName): Promise<string | undefined> =>
  (await db.row<{ id: string }>(selectOrderId(service, name)))?.id

/** Like `findOrderId`, as SQL. */
export function selectOrderId(service: Service, name: OrderName) {
  const ofService = sql`service_id = ${service.id}`
  const { number, id } = 'number' in name ? { ...name, id: null } : { number: name.idOrNumber, id: name.idOrNumber }
  return sql`
    select id from (
      select id, 1 as precedence from sales_order where ${ofService} and id = ${id} union all
      select id, 2 from sales_order where ${ofService} and order_number = ${number} order by precedence limit 1) candidate`
}

interface Filters {
  customerId?: string
  id?: string
}

/** SQL: true if an order `o` sold a gift voucher of a back office, otherwise null. The order's customer is the recipient, so it may be a surprise. */
const hasSoldVoucher = sql`
  (select true from upstream_voucher_sale s where s.service_id = o.service_id and s.order_number = o.order_number)`

/** Returns a page of orders, newest first. Chunks of an export have the oldest first. */
export const readOrderPage = (db: Db, service: Service, { customerId, id }: Filters, request: PageRequest) =>
  readPage(
    db,
    service,
    {
      table: sql`sales_order o`,
      record: orderJson(service),
      order: { column: sql`placed_at`, type: 'timestamptz' },
      key: sql`id`,
      live: true,
      descending: !request.asLines,
      where: sql`
        ${filter(customerId, value => sql`and customer_id = ${value} and ${hasSoldVoucher} is null`)}
        ${filter(id, value => sql`and id = ${value}`)}`,
    },
    request,
  )

/**
 * Assigns the orders of a removed customer to another customer, after the back office has merged the two. Orders of erased customers stay
 * anonymous.
 */
export async function reassignOrders(tx: Db, service: Service, ids: readonly string[], customerId: string) {
  const change = await beginChange(tx, service, ['sales_order'])
  await tx.run(sql`
    update sales_order o set customer_id = ${customerId}, changed_at = ${change.at}
     where service_id = ${service.id} and id = any(${ids}) and customer_id <> ${customerId}
       and not exists (select from customer c where c.service_id = o.service_id and c.id = o.customer_id)`)
}

/** Returns the orders with these IDs, with their customer. Omits unknown IDs. A null customer was erased. */
export const findOrdersById = (db: Db, service: Service, ids: readonly string[]) =>
  db.rows<{ id: string; customerId: string | null }>(sql`
    select id, customer_id as "customerId" from sales_order where service_id = ${service.id} and id = any(${ids})`)

/** True if another service has the same order: both services then use the same back office. */
export const isKnownToAnotherService = async (
  db: Db,
  service: Service,
  { id, number, customerId }: Pick<LockedOrder, 'id' | 'number' | 'customerId'>,
) =>
  Boolean(
    await db.row(sql`
      select true as there
        from service s join sales_order o on o.service_id = s.service_id and o.id = ${id}
       where s.service_id <> ${service.id} and o.order_number = ${number} and o.customer_id = ${customerId} limit 1`),
  )

/** A locked order: its writes are serialized. */
export interface LockedOrder {
  id: string
  number: string
  /** Null if the customer was erased. */
  customerId: string | null
  pickupStoreNumber: string | null
  currency: string
  decimals: number
}

/** Locks an order until the transaction ends. Returns undefined if it doesn't exist. */
export function lockOrder(tx: Db, service: Service, name: OrderName | { id: string }) {
  const condition =
    'idOrNumber' in name
      ? sql`id = (${selectOrderId(service, name)})`
      : 'id' in name
        ? sql`id = ${name.id}`
        : sql`order_number = ${name.number}`
  return tx.row<LockedOrder>(sql`
    select id, order_number as number, customer_id as "customerId", pickup_store_number as "pickupStoreNumber", currency, decimals
      from sales_order
     where service_id = ${service.id} and ${condition}
       for update`)
}

/** Returns the vouchers that paid for an order, in the order of their numbers. */
export const readVoucherPayments = (tx: Db, service: Service, order: LockedOrder) =>
  tx.rows<{ number: string }>(sql`
    select voucher_number as number
      from order_payment where service_id = ${service.id} and order_id = ${order.id} and voucher_number is not null order by voucher_number`)

/** Returns the status of a locked order that the shopper collects. */
export const readPickupStatus = async (tx: Db, service: Service, order: LockedOrder): Promise<PickupStatus> =>
  (
    await tx.row<{ status: PickupStatus }>(sql`
      select case when collected_at is not null then 'collected' when ready_at is not null then 'ready' else 'processing' end as status
        from sales_order where service_id = ${service.id} and id = ${order.id}`)
  )?.status ?? 'processing'

/** Sets the time at which an order became ready or was collected to the order's change timestamp. */
export const setPickupStatus = (tx: Db, service: Service, order: LockedOrder, status: 'ready' | 'collected') =>
  tx.run(sql`
    update sales_order set ${status === 'ready' ? sql`ready_at` : sql`collected_at`} = changed_at
     where service_id = ${service.id} and id = ${order.id}`)

/** Returns the freight and taxes of an order, in minor units: the part of its total that no line has. */
export const readCharges = async (tx: Db, service: Service, order: LockedOrder): Promise<bigint> => {
  const row = await tx.row<{ charges: string }>(sql`
    select (o.total - (select coalesce(sum(l.value), 0) from order_line l where l.service_id = o.service_id and l.order_id = o.id))::text as charges
      from sales_order o where o.service_id = ${service.id} and o.id = ${order.id}`)
  return toMinorUnits(row?.charges ?? '0', order.decimals)
}
