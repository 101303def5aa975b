import { type Db, type Sql, sql } from '../../database/db.ts'
import type { LineStatus, OrderName } from '../../domain/orders/orders.ts'
import { toMinorUnits } from '../../domain/orders/pricing.ts'
import type { SoldLine } from '../../domain/orders/return-rules.ts'
import { lineTransitions } from '../../domain/orders/transitions.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { formatAmount } from '../../domain/values/money.ts'
import type { Change } from '../lists/change-timestamp.ts'
import { type LockedOrder, lockOrder, selectOrderId } from './orders.ts'

/** A line of a locked order. */
export interface LockedLine extends SoldLine {
  status: LineStatus
  skuId: string
  /** The store that the item came from. Null if no store keeps the item. */
  storeId: string | null
  /** True if the open units are allocated: the free stock still contains them. */
  isAllocated: boolean
}

/** Reads the lines of a locked order, in their sequence. */
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

type Amount = 'value' | 'cancelledValue' | 'refunded'
type StoredLine = Omit<LockedLine, Amount> & Record<Amount, string>

const selectLines = (service: Service, where: Sql) => sql`
  select sequence, sku, sku_id as "skuId", store_id as "storeId", is_allocated as "isAllocated", status, quantity, shipped, cancelled, returned,
         value::text, cancelled_value::text as "cancelledValue", refunded::text
    from order_line where service_id = ${service.id} and ${where} order by sequence`

const toLockedLine = ({ decimals }: LockedOrder, row: StoredLine): LockedLine => ({
  ...row,
  value: toMinorUnits(row.value, decimals),
  cancelledValue: toMinorUnits(row.cancelledValue, decimals),
  refunded: toMinorUnits(row.refunded, decimals),
})

/** Open units of a locked line that are shipped or cancelled together, and the amount paid for them. */
export interface LineUnits {
  line: LockedLine
  quantity: number
  value: bigint
}

/** Ships or cancels open units of lines. A line leaves `processing` with its last open unit. `storeId`: the store that ships its last units. */
export function fulfilLines(
  tx: Db,
  service: Service,
  order: LockedOrder,
  units: readonly LineUnits[],
  action: 'ship' | 'cancel',
  storeId: string | null = null,
) {
  const rows = units.map(({ line: { sequence }, quantity, value }) => ({
    sequence,
    shipped: action === 'ship' ? quantity : 0,
    cancelled: action === 'cancel' ? quantity : 0,
    value: formatAmount(action === 'cancel' ? value : 0n, order.decimals),
  }))
  return tx.run(sql`
    update order_line l
       set shipped = n.shipped, cancelled = n.cancelled, cancelled_value = l.cancelled_value + u.value,
           status = case when n.is_open then l.status when n.shipped = 0 then ${lineTransitions.cancel.to} else ${lineTransitions.ship.to} end,
           is_allocated = l.is_allocated and n.is_open, store_id = case when n.is_open then l.store_id else coalesce(${storeId}, l.store_id) end
      from json_to_recordset(${JSON.stringify(rows)}) as u (sequence integer, shipped integer, cancelled integer, value numeric)
      join order_line o on o.service_id = ${service.id} and o.order_id = ${order.id} and o.sequence = u.sequence
     cross join lateral (select o.shipped + u.shipped as shipped, o.cancelled + u.cancelled as cancelled,
                                o.shipped + u.shipped + o.cancelled + u.cancelled < o.quantity as is_open) n
     where l.service_id = o.service_id and l.order_id = o.order_id and l.sequence = o.sequence`)
}

/** The units of a line of `quantity` units that has left the status `processing` at once. */
export const unitsOfStatus = (status: Sql, quantity: Sql) => ({
  shipped: sql`case when ${status} in ('shipped', 'returned') then ${quantity} else 0 end`,
  cancelled: sql`case when ${status} = 'cancelled' then ${quantity} else 0 end`,
  cancelledValue: (value: Sql) => sql`case when ${status} = 'cancelled' then ${value} else 0 end`,
})

/** Sets the status of lines that are still `processing`. */
export const updateProcessingLines = (
  tx: Db,
  service: Service,
  order: LockedOrder,
  statuses: readonly { sequence: number; status: LineStatus }[],
) => {
  const { shipped, cancelled, cancelledValue } = unitsOfStatus(sql`new.status`, sql`l.quantity`)
  return tx.run(sql`
    update order_line l set status = new.status, shipped = ${shipped}, cancelled = ${cancelled}, cancelled_value = ${cancelledValue(sql`l.value`)}
      from json_to_recordset(${JSON.stringify(statuses)}) as new (sequence integer, status text)
     where l.service_id = ${service.id} and l.order_id = ${order.id} and l.sequence = new.sequence and l.status = 'processing'`)
}

/** Sets the change timestamp of an order, so that it is published. */
export const touchOrder = (tx: Db, service: Service, order: LockedOrder, change: Change) =>
  tx.run(sql`update sales_order set changed_at = ${change.at} where service_id = ${service.id} and id = ${order.id}`)
