import { type Db, type Sql, sql } from '../../database/db.ts'
import type { LineStatus, OrderName } from '../../domain/orders/orders.ts'
import { toMinorUnits } from '../../domain/orders/pricing.ts'
import type { SoldLine } from '../../domain/orders/return-rules.ts'
import type { lineTransitions } from '../../domain/orders/transitions.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { Change } from '../lists/change-timestamp.ts'
import { type LockedOrder, lockOrder, selectOrderId } from './orders.ts'

type LineStep = (typeof lineTransitions)[keyof typeof lineTransitions]

/** A line of a locked order. */
export interface LockedLine extends SoldLine {
  skuId: string
  /** The store that the item came from. Null if no store keeps the item. */
  storeId: string | null
  /** True if the units are allocated: the free stock still contains them. */
  isAllocated: boolean
}

export const readLines = async (tx: Db, service: Service, order: LockedOrder): Promise<LockedLine[]> =>
  (await tx.rows<StoredLine>(selectLines(service, sql`order_id = ${order.id}`))).map(row => toLockedLine(order, row))

/** Locks an order and then reads its lines, so that it sees the changes of the previous lock holder. */
export async function lockOrderWithLines(
  tx: Db,
  service: Service,
  name: OrderName,
): Promise<{ order: LockedOrder; lines: LockedLine[] } | undefined> {
  const [order, rows] = await Promise.all([
    lockOrder(tx, service, name),
    tx.rows<StoredLine>(selectLines(service, sql`order_id = (${selectOrderId(service, name)})`)),
  ])
  return order && { order, lines: rows.map(row => toLockedLine(order, row)) }
}

type StoredLine = Omit<LockedLine, 'value' | 'refunded'> & { value: string; refunded: string }

const selectLines = (service: Service, where: Sql) => sql`
  select sequence, sku, sku_id as "skuId", store_id as "storeId", is_allocated as "isAllocated", status, quantity, returned, value::text, refunded::text
    from order_line where service_id = ${service.id} and ${where} order by sequence`

const toLockedLine = ({ decimals }: LockedOrder, row: StoredLine): LockedLine => ({
  ...row,
  value: toMinorUnits(row.value, decimals),
  refunded: toMinorUnits(row.refunded, decimals),
})

/** Sets the next status of those lines of an order that have the status `from`. Their units are no longer allocated: see `moveStock`. */
export const advanceLines = (
  tx: Db,
  service: Service,
  order: LockedOrder,
  lines: readonly Pick<LockedLine, 'sequence'>[],
  { from, to }: LineStep,
) =>
  tx.run(sql`
    update order_line set status = ${to}, is_allocated = false
     where service_id = ${service.id} and order_id = ${order.id} and sequence = any(${lines.map(({ sequence }) => sequence)}) and status = ${from}`)

/** Sets the status of lines that are still `processing`. */
export const updateProcessingLines = (
  tx: Db,
  service: Service,
  order: LockedOrder,
  statuses: readonly { sequence: number; status: LineStatus }[],
) =>
  tx.run(sql`
    update order_line l set status = status_change.status
      from json_to_recordset(${JSON.stringify(statuses)}) as status_change (sequence integer, status text)
     where l.service_id = ${service.id} and l.order_id = ${order.id} and l.sequence = status_change.sequence and l.status = 'processing'`)

export const touchOrder = (tx: Db, service: Service, order: LockedOrder, change: Change) =>
  tx.run(sql`update sales_order set changed_at = ${change.at} where service_id = ${service.id} and id = ${order.id}`)
