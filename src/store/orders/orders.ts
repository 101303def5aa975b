import { type Db, type Sql, sql } from '../../database/db.ts'
import type { OrderName } from '../../domain/orders/orders.ts'
import { toMinorUnits } from '../../domain/orders/pricing.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { beginChange, localTime } from '../lists/change-timestamp.ts'
import { filter, type PageRequest, readPage } from '../lists/page.ts'

/** An amount of an order `o` with the decimals of its currency. */
export const orderMoney = (amount: Sql) => sql`round(${amount}, o.decimals)::text`

/** Rows, each a JSON object, as a JSON array; `source` is aliased `each`. */
export const arrayOf = (source: Sql) =>
  sql`(select coalesce('[' || string_agg(row_to_json(each)::text, ',') || ']', '[]')::json from (${source}) each)`

/** The record of an order `o` (`Order`). */
export const orderJson = (service: Service) => sql`
  (select row_to_json(r)::text from (select
     o.id, o.order_number as "orderNumber", o.customer_id as "customerId", o.pickup_store_number as "pickupStoreNumber",
     o.billing_address as "billingAddress", o.delivery_address as "deliveryAddress", o.currency,
     ${arrayOf(sql`
       select l.sequence::text as id, l.sequence, l.sku, l.product_code as "productCode", l.product_name as "productName",
              l.colour_code as "colourCode", l.colour_name as "colourName", l.size_code as "sizeCode", l.quantity, l.returned,
              ${orderMoney(sql`l.price`)} as price, l.discounts, ${orderMoney(sql`l.value`)} as value, l.status
         from order_line l where l.service_id = o.service_id and l.order_id = o.id order by l.sequence`)} as lines,
     ${orderMoney(sql`o.freight`)} as freight, ${orderMoney(sql`o.total`)} as total,
     ${arrayOf(sql`
       select p.gateway, ${orderMoney(sql`p.amount`)} as amount, p.reference, p.voucher_number as "voucherNumber"
         from order_payment p where p.service_id = o.service_id and p.order_id = o.id order by p.sequence`)} as payments,
     ${localTime(sql`o.placed_at`, service)} as "placedAt", ${localTime(sql`o.changed_at`, service)} as "updateTimeStamp") r)`

/** The record of one order, as JSON text. */
export const orderRecord = (db: Db, service: Service, id: string) =>
  db.row<{ record: string }>(
    sql`select ${orderJson(service)} as record from sales_order o where o.service_id = ${service.id} and o.id = ${id}`,
  )

/** The identifier of the order of that name. Where one order has it as its identifier and another as its number, it is the former. */
export const orderNamed = async (db: Db, service: Service, name: OrderName): Promise<string | undefined> =>
  (await db.row<{ id: string }>(named(service, name)))?.id

/** The same as SQL. */
export function named(service: Service, name: OrderName) {
  const mine = sql`service_id = ${service.id}`
  const { number, id } = 'number' in name ? { ...name, id: null } : { number: name.idOrNumber, id: name.idOrNumber }
  return sql`
    select id from (
      select id, 1 as turn from sales_order where ${mine} and id = ${id} union all
      select id, 2 from sales_order where ${mine} and order_number = ${number} order by turn limit 1) named`
}

interface Filters {
  customerId?: string
  id?: string
}

/** Whether an order `o` sold a gift voucher here: its customer is whom that is for, and it may be a surprise. */
const soldVoucher = sql`
  (select true from upstream_voucher_sale s where s.service_id = o.service_id and s.order_number = o.order_number)`

/** Orders, the newest first; as lines the oldest. */
export const orderPage = (db: Db, service: Service, { customerId, id }: Filters, asked: PageRequest) =>
  readPage(
    db,
    service,
    {
      table: sql`sales_order o`,
      record: orderJson(service),
      order: { column: sql`placed_at`, type: 'timestamptz' },
      key: sql`id`,
      live: true,
      descending: !asked.asLines,
      where: sql`
        ${filter(customerId, of => sql`and customer_id = ${of} and ${soldVoucher} is null`)}
        ${filter(id, is => sql`and id = ${is}`)}`,
    },
    asked,
  )

/**
 * Gives orders of a customer who has left to the one whose they are by now: head office has made one person of two. Those of one who was
 * erased stay nobody's.
 */
export async function handOver(tx: Db, service: Service, ids: readonly string[], customerId: string) {
  const change = await beginChange(tx, service, ['sales_order'])
  await tx.run(sql`
    update sales_order o set customer_id = ${customerId}, changed_at = ${change.at}
     where service_id = ${service.id} and id = any(${ids}) and customer_id <> ${customerId}
       and not exists (select from customer c where c.service_id = o.service_id and c.id = o.customer_id)`)
}

/** Which of these orders are in our tables, and whose they are there; null: they were erased. */
export const knownOrders = (db: Db, service: Service, ids: readonly string[]) =>
  db.rows<{ id: string; customerId: string | null }>(sql`
    select id, customer_id as "customerId" from sales_order where service_id = ${service.id} and id = any(${ids})`)

/** Whether another service has this very order: the back office of both is the same then. */
export const isOfAnother = async (
  db: Db,
  service: Service,
  { id, number, customerId }: Pick<HeldOrder, 'id' | 'number' | 'customerId'>,
) =>
  Boolean(
    await db.row(sql`
      select true as there
        from service s join sales_order o on o.service_id = s.service_id and o.id = ${id}
       where s.service_id <> ${service.id} and o.order_number = ${number} and o.customer_id = ${customerId} limit 1`),
  )

/** An order that is held until the transaction ends: its writes come one after the other. */
export interface HeldOrder {
  id: string
  number: string
  /** Null: they were erased. */
  customerId: string | null
  currency: string
  decimals: number
}

export function holdOrder(tx: Db, service: Service, name: OrderName | { id: string }) {
  const which =
    'idOrNumber' in name
      ? sql`id = (${named(service, name)})`
      : 'id' in name
        ? sql`id = ${name.id}`
        : sql`order_number = ${name.number}`
  return tx.row<HeldOrder>(sql`
    select id, order_number as number, customer_id as "customerId", currency, decimals
      from sales_order
     where service_id = ${service.id} and ${which}
       for update`)
}

/** The vouchers that have paid for an order, in the order of their numbers. */
export const voucherPayments = (tx: Db, service: Service, order: HeldOrder) =>
  tx.rows<{ number: string }>(sql`
    select voucher_number as number
      from order_payment where service_id = ${service.id} and order_id = ${order.id} and voucher_number is not null order by voucher_number`)

/** What the delivery of an order costs. */
export const freightOf = async (tx: Db, service: Service, order: HeldOrder): Promise<bigint> => {
  const row = await tx.row<{ freight: string }>(
    sql`select freight::text from sales_order where service_id = ${service.id} and id = ${order.id}`,
  )
  return toMinorUnits(row?.freight ?? '0', order.decimals)
}
