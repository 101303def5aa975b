import { randomUUIDv7 } from 'node:crypto'
import { type Db, type Sql, sql } from '../../database/db.ts'
import type { Allocation, ReceivableLine, ReceivedUnits, StoredReturnLine } from '../../domain/orders/return-rules.ts'
import type { ReturnLine, ReturnStatus } from '../../domain/orders/returns.ts'
import { lineTransitions } from '../../domain/orders/transitions.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { formatAmount } from '../../domain/values/money.ts'
import { localTime, nextChangeTimestamp } from '../lists/change-timestamp.ts'
import { type PageRequest, readPage } from '../lists/page.ts'
import { jsonArray, type LockedOrder, lockOrder, orderMoney } from './orders.ts'

/**
 * The part of the discounts of an order line `sold` of an order `o` that belongs to a return line `b`. The parts add up exactly to the
 * difference between price and value.
 */
export const returnedDiscounts = (sign: Sql) => sql`
  (select coalesce(json_agg(json_build_object('type', type, 'reason', reason, 'amount', round(${sign}part, o.decimals)::text, 'percentage', percentage) order by n), '[]')
     from (select d.*, coalesce(round(running_total * line_discount / nullif(total_discount, 0), o.decimals) - round((running_total - amount) * line_discount / nullif(total_discount, 0), o.decimals), 0) as part
             from (select n, e->>'type' as type, e->>'reason' as reason, e->>'percentage' as percentage, (e->>'amount')::numeric as amount,
                          sum((e->>'amount')::numeric) over (order by n) as running_total, sum((e->>'amount')::numeric) over () as total_discount,
                          sold.price * b.quantity - b.value as line_discount
                     from json_array_elements(sold.discounts) with ordinality as entries (e, n)) d) shares)`

/** The total of a return `r` of an order `o`, without its cancelled lines. */
export const returnTotal = (sign: Sql) => sql`
  (select ${orderMoney(sql`coalesce(sum(${sign}l.value), 0)`)}
     from return_line l where l.service_id = r.service_id and l.return_id = r.id and not l.is_cancelled)`

/** The record of a return `r` (`Return`). */
export const returnJson = (service: Service) => sql`
  (select row_to_json(x)::text from (select
     r.id, r.return_number as "returnNumber", r.authorisation_number as "returnAuthorisationNumber",
     o.id as "orderId", o.order_number as "orderNumber", o.customer_id as "customerId", r.exchange_order_id as "exchangeOrderId", r.status, r.restock, o.currency,
     ${returnTotal(sql``)} as total,
     ${jsonArray(sql`
       select b.sequence::text as id, b.sequence, b.order_sequence::text as "orderLineId", sold.sku, b.quantity, b.received,
              b.reason_code as "reasonCode", b.notes, ${orderMoney(sql`sold.price`)} as price, ${returnedDiscounts(sql``)} as discounts,
              ${orderMoney(sql`b.value`)} as value
         from return_line b
         join order_line sold on sold.service_id = b.service_id and sold.order_id = b.order_id and sold.sequence = b.order_sequence
        where b.service_id = r.service_id and b.return_id = r.id and not b.is_cancelled order by b.sequence`)} as lines,
     ${localTime(sql`r.created_at`, service)} as "createdAt", ${localTime(sql`r.changed_at`, service)} as "updateTimeStamp"
     from sales_order o where o.service_id = r.service_id and o.id = r.order_id) x)`

/** Returns the JSON of a return. */
export const findReturn = (db: Db, service: Service, id: string) =>
  db.row<{ record: string }>(
    sql`select ${returnJson(service)} as record from sales_return r where r.service_id = ${service.id} and r.id = ${id}`,
  )

/** Returns a page of an order's returns, oldest first. */
export const readReturnPage = (db: Db, service: Service, { orderId }: { orderId: string }, request: PageRequest) =>
  readPage(
    db,
    service,
    {
      table: sql`sales_return r`,
      record: returnJson(service),
      order: { column: sql`created_at`, type: 'timestamptz' },
      key: sql`id`,
      live: true,
      where: sql`and order_id = ${orderId}`,
    },
    request,
  )

/** Returns the returnable quantities of an order as JSON (`Returnable`), or undefined if the order does not exist. */
export const findReturnable = (db: Db, service: Service, orderId: string) =>
  db.row<{ record: string }>(sql`
    select ${jsonArray(sql`
      select l.sku, sum(l.shipped) as sold, sum(l.returned) as returned, sum(l.shipped - l.returned) as returnable
        from order_line l
       where l.service_id = o.service_id and l.order_id = o.id group by l.sku order by min(l.sequence)`)}::text as record
      from sales_order o where o.service_id = ${service.id} and o.id = ${orderId}`)

export const isReturnNumberTaken = async (tx: Db, service: Service, number: string) =>
  Boolean(
    await tx.row(
      sql`select true as taken from sales_return where service_id = ${service.id} and return_number = ${number}`,
    ),
  )

interface NewReturn {
  number: string
  restock: boolean
  authorisation?: string
  /** The back office's ID of the return, by which its status can be requested. */
  backOfficeId?: string | null
}

/** Inserts a return without lines. Returns undefined if another return has the number. */
export const insertReturn = (
  tx: Db,
  service: Service,
  order: LockedOrder,
  { number, restock, authorisation = `RA-${number}`, backOfficeId = null }: NewReturn,
) =>
  tx.row<{ id: string; number: string }>(sql`
    insert into sales_return (service_id, id, changed_at, created_at, order_id, return_number, authorisation_number, status, restock, back_office_id)
    select ${service.id}, ${randomUUIDv7()}, now, now, ${order.id}, ${number}, ${authorisation}, 'requested', ${restock}::boolean, ${backOfficeId}
      from ${nextChangeTimestamp(service, ['sales_return'])} now
    on conflict (service_id, return_number) do nothing
    returning id, return_number as number`)

/** Inserts the lines of a return and adds them to the returned quantities of the order lines. */
export async function insertReturnLines(
  tx: Db,
  service: Service,
  order: LockedOrder,
  returnId: string,
  lines: readonly ReturnLine[],
  parts: readonly Allocation[],
) {
  const rows = parts.map(({ entry, orderSequence, quantity, value }, i) => ({
    sequence: i + 1,
    orderSequence,
    quantity,
    value: formatAmount(value, order.decimals),
    reasonCode: lines[entry]?.reasonCode,
    notes: lines[entry]?.notes ?? null,
  }))
  const inserted = tx.run(sql`
    insert into return_line (service_id, return_id, sequence, order_id, order_sequence, quantity, value, reason_code, notes)
    select ${service.id}, ${returnId}, sequence, ${order.id}, "orderSequence", quantity, value, "reasonCode", notes
      from json_to_recordset(${JSON.stringify(rows)}) as line (sequence integer, "orderSequence" integer, quantity integer, value numeric, "reasonCode" text, notes text)`)
  await Promise.all([inserted, updateReturnedQuantities(tx, service, returnId, sql`+`)])
}

/** Subtracts the lines of a return from the order lines. */
export const subtractReturnLines = (tx: Db, service: Service, returnId: string) =>
  updateReturnedQuantities(tx, service, returnId, sql`-`)

/** Cancels single lines of a return, so that their units can be returned again, and sets its change timestamp. */
export async function cancelReturnLines(
  tx: Db,
  service: Service,
  returnId: string,
  sequences: readonly number[],
  at: string,
) {
  await updateReturnedQuantities(tx, service, returnId, sql`-`, sql`and sequence = any(${sequences}::integer[])`)
  await tx.run(sql`
    update return_line set is_cancelled = true
     where service_id = ${service.id} and return_id = ${returnId} and sequence = any(${sequences}::integer[])`)
  await tx.run(sql`update sales_return set changed_at = ${at} where service_id = ${service.id} and id = ${returnId}`)
}

/** Returns all lines of a return in their order, by the back office's SKUs. */
export const findStoredReturnLines = (tx: Db, service: Service, returnId: string) =>
  tx.rows<StoredReturnLine>(sql`
    select b.sequence, l.sku_id as "skuId", b.quantity, b.is_cancelled as "isCancelled"
      from return_line b join order_line l on l.service_id = b.service_id and l.order_id = b.order_id and l.sequence = b.order_sequence
     where b.service_id = ${service.id} and b.return_id = ${returnId} order by b.sequence`)

/**
 * Adds the lines of a return to the returned quantities of the order lines, or subtracts them. A line from which units are subtracted is no
 * longer `returned`. Cancelled lines have been subtracted before.
 */
const updateReturnedQuantities = (tx: Db, service: Service, returnId: string, sign: Sql, and = sql``) =>
  tx.run(sql`
    update order_line l
       set returned = l.returned ${sign} b.quantity, refunded = l.refunded ${sign} b.value,
           status = case when l.status = ${lineTransitions.cancelReturn.from} then ${lineTransitions.cancelReturn.to} else l.status end
      from (select order_id, order_sequence, sum(quantity) as quantity, sum(value) as value
              from return_line where service_id = ${service.id} and return_id = ${returnId} and not is_cancelled ${and} group by 1, 2) b
     where l.service_id = ${service.id} and l.order_id = b.order_id and l.sequence = b.order_sequence`)

/** A return. Lock its order before you use it. */
interface StoredReturn {
  id: string
  number: string
  orderId: string
  status: ReturnStatus
  restock: boolean
  total: string
  /** The part of the total that pays for the order of an exchange. */
  exchangeCredit: string
}

/** Identifies a return by its ID or its number. */
export type ReturnName = { id: string } | { number: string }

/** Returns a return with its total. Returns undefined if it doesn't exist. */
export const findStoredReturn = (tx: Db, service: Service, name: ReturnName) =>
  tx.row<StoredReturn>(sql`
    select r.id, r.return_number as number, r.order_id as "orderId", r.status, r.restock, ${orderMoney(sql`r.exchange_credit`)} as "exchangeCredit",
           ${returnTotal(sql``)} as total
      from sales_return r join sales_order o on o.service_id = r.service_id and o.id = r.order_id
     where r.service_id = ${service.id} and ${'id' in name ? sql`r.id = ${name.id}` : sql`r.return_number = ${name.number}`}`)

/** Pays for the order of an exchange with the refund of a return. */
export const payWithReturn = (
  tx: Db,
  service: Service,
  { id }: Pick<StoredReturn, 'id'>,
  { orderId, credit }: { orderId: string; credit: string },
) =>
  tx.run(sql`
    update sales_return set exchange_order_id = ${orderId}, exchange_credit = ${credit}::numeric where service_id = ${service.id} and id = ${id}`)

/** An amount that a return gets back from the order that it paid for. */
interface RestoredCredit {
  amount: string
  /** False if the return was refunded before, so that the amount must be refunded now. */
  isOpen: boolean
  returnedOrder: LockedOrder
}

/** Finds the return that paid for an order in an exchange. */
const findPayingReturn = (tx: Db, service: Service, { id }: Pick<LockedOrder, 'id'>) =>
  tx.row<{ id: string; orderId: string }>(
    sql`select id, order_id as "orderId" from sales_return where service_id = ${service.id} and exchange_order_id = ${id}`,
  )

/** Locks the orders whose returns paid for an order, directly or through further exchanges: the newest first. */
export async function lockExchangedOrders(tx: Db, service: Service, order: LockedOrder): Promise<LockedOrder[]> {
  const locked: LockedOrder[] = []
  for (let newer: LockedOrder | undefined = order; newer; ) {
    const paying: { orderId: string } | undefined = await findPayingReturn(tx, service, newer)
    newer = paying && (await lockOrder(tx, service, { id: paying.orderId }))
    if (newer) locked.push(newer)
  }
  return locked
}

/** Gives a refunded amount of an order back to the return that paid for it, if there is one. Locks the returned order. */
export async function restoreExchangeCredit(
  tx: Db,
  service: Service,
  order: LockedOrder,
  maxAmount: string,
): Promise<RestoredCredit | undefined> {
  const paying = await findPayingReturn(tx, service, order)
  const returnedOrder = paying && (await lockOrder(tx, service, { id: paying.orderId }))
  if (!returnedOrder) return
  const restored = await tx.row<Pick<RestoredCredit, 'amount' | 'isOpen'>>(sql`
    update sales_return r set exchange_credit = r.exchange_credit - o.amount, changed_at = ${nextChangeTimestamp(service, ['sales_return'])}
      from (select id, least(exchange_credit, ${maxAmount}::numeric) as amount
              from sales_return where service_id = ${service.id} and id = ${paying.id}) o
     where r.service_id = ${service.id} and r.id = o.id and o.amount > 0
    returning round(o.amount, ${order.decimals}::integer)::text as amount, r.status <> 'refunded' as "isOpen"`)
  return restored && { ...restored, returnedOrder }
}

/** Sets whether a return goes back into stock when it is received. */
export const setRestock = (tx: Db, service: Service, { id }: StoredReturn, restock: boolean) =>
  tx.run(sql`update sales_return set restock = ${restock} where service_id = ${service.id} and id = ${id}`)

/** Returns the lines of a return in their order, without cancelled ones. */
export const findReceivableLines = (tx: Db, service: Service, returnId: string) =>
  tx.rows<ReceivableLine>(sql`
    select b.sequence, l.store_id as "storeId", l.sku_id as "skuId", b.quantity, b.received, b.restocked
      from return_line b join order_line l on l.service_id = b.service_id and l.order_id = b.order_id and l.sequence = b.order_sequence
     where b.service_id = ${service.id} and b.return_id = ${returnId} and not b.is_cancelled order by b.sequence`)

/** Adds units to the received ones of a return, and to the restocked ones if they go back into stock. */
export const receiveUnits = (
  tx: Db,
  service: Service,
  returnId: string,
  units: readonly ReceivedUnits[],
  isRestocked: boolean,
) =>
  tx.run(sql`
    update return_line b
       set received = b.received + units.quantity, restocked = b.restocked + case when ${isRestocked}::boolean then units.quantity else 0 end
      from unnest(${units.map(({ line }) => line.sequence)}::integer[], ${units.map(({ quantity }) => quantity)}::integer[]) as units (sequence, quantity)
     where b.service_id = ${service.id} and b.return_id = ${returnId} and b.sequence = units.sequence`)

/** Sets the status of a return of a locked order. Returns the number of order lines that are completely returned now. */
export async function setReturnStatus(
  tx: Db,
  service: Service,
  returnId: string,
  status: ReturnStatus,
  at: string,
): Promise<number> {
  await tx.run(
    sql`update sales_return set (status, changed_at) = (${status}, ${at}) where service_id = ${service.id} and id = ${returnId}`,
  )
  if (status !== 'received' && status !== 'refunded') return 0
  await tx.run(sql`
    update return_line set received = quantity
     where service_id = ${service.id} and return_id = ${returnId} and received < quantity and not is_cancelled`)
  return markReturnedLines(tx, service, returnId)
}

/**
 * Sets the status `returned` of the order lines of a return if all their shipped units have come back and no unit is open. Announced units
 * don't count.
 */
const markReturnedLines = (tx: Db, service: Service, returnId: string) =>
  markReturned(
    tx,
    service,
    sql`exists (select from return_line b
                 where b.service_id = l.service_id and b.return_id = ${returnId} and b.order_id = l.order_id and b.order_sequence = l.sequence
                   and not b.is_cancelled)`,
  )

/** Like `markReturnedLines`, for lines of an order whose last open units were cancelled. */
export const markReturnedSequences = (tx: Db, service: Service, order: LockedOrder, sequences: readonly number[]) =>
  markReturned(tx, service, sql`l.order_id = ${order.id} and l.sequence = any(${sequences})`)

const markReturned = (tx: Db, service: Service, condition: Sql) =>
  tx.run(sql`
    update order_line l set status = ${lineTransitions.receiveReturn.to}
     where l.service_id = ${service.id} and l.status = ${lineTransitions.receiveReturn.from} and l.returned = l.shipped and ${condition}
       and not exists (select from return_line b join sales_return r on r.service_id = b.service_id and r.id = b.return_id
                        where b.service_id = l.service_id and b.order_id = l.order_id and b.order_sequence = l.sequence and r.status = 'requested'
                          and not b.is_cancelled)`)
