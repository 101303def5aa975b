import { type Db, type Sql, sql } from '../../database/db.ts'
import type { LineStatus, lineTransitions, OrderName } from '../../domain/orders/orders.ts'
import { toMinorUnits } from '../../domain/orders/pricing.ts'
import type { SoldLine } from '../../domain/orders/return-rules.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { Change } from '../lists/change-timestamp.ts'
import { type HeldOrder, holdOrder, named } from './orders.ts'

type LineStep = (typeof lineTransitions)[keyof typeof lineTransitions]

/** A line of an order that is held. */
export interface HeldLine extends SoldLine {
  skuId: string
  /** Where the goods came from; null where no store keeps them. */
  storeId: string | null
}

export const linesOf = async (tx: Db, service: Service, order: HeldOrder): Promise<HeldLine[]> =>
  (await tx.rows<StoredLine>(linesWhere(service, sql`order_id = ${order.id}`))).map(row => heldLine(order, row))

/** Holds an order, and reads its lines behind that: as whoever had it before has left them. */
export async function holdWithLines(
  tx: Db,
  service: Service,
  name: OrderName,
): Promise<{ order: HeldOrder; lines: HeldLine[] } | undefined> {
  const [order, rows] = await Promise.all([
    holdOrder(tx, service, name),
    tx.rows<StoredLine>(linesWhere(service, sql`order_id = (${named(service, name)})`)),
  ])
  return order && { order, lines: rows.map(row => heldLine(order, row)) }
}

type StoredLine = Omit<HeldLine, 'value' | 'refunded'> & { value: string; refunded: string }

const linesWhere = (service: Service, where: Sql) => sql`
  select sequence, sku, sku_id as "skuId", store_id as "storeId", status, quantity, returned, value::text, refunded::text
    from order_line where service_id = ${service.id} and ${where} order by sequence`

const heldLine = ({ decimals }: HeldOrder, row: StoredLine): HeldLine => ({
  ...row,
  value: toMinorUnits(row.value, decimals),
  refunded: toMinorUnits(row.refunded, decimals),
})

/** Takes all lines of an order a step further that are where it begins. */
export const stepLines = (tx: Db, service: Service, order: HeldOrder, { from, to }: LineStep) =>
  tx.run(
    sql`update order_line set status = ${to} where service_id = ${service.id} and order_id = ${order.id} and status = ${from}`,
  )

/** Gives some lines that are still `processing` another status. */
export const followLines = (
  tx: Db,
  service: Service,
  order: HeldOrder,
  steps: readonly { sequence: number; status: LineStatus }[],
) =>
  tx.run(sql`
    update order_line l set status = step.status
      from json_to_recordset(${JSON.stringify(steps)}) as step (sequence integer, status text)
     where l.service_id = ${service.id} and l.order_id = ${order.id} and l.sequence = step.sequence and l.status = 'processing'`)

export const stampOrder = (tx: Db, service: Service, order: HeldOrder, change: Change) =>
  tx.run(sql`update sales_order set changed_at = ${change.at} where service_id = ${service.id} and id = ${order.id}`)
