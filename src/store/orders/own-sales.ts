import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { Change } from '../lists/change-timestamp.ts'
import { removeRecords } from '../lists/tombstones.ts'

/** The prefixes of the IDs of transactions that Tillbridge creates. The ID of the order or return follows the prefix. */
export const salePrefix = 'order-'
export const returnPrefix = 'return-'

/** Returns the ID of the sale of an order's shipment, by the shipment's position from 1. */
export const buildSaleId = (orderId: string, ordinal: number) =>
  `${salePrefix}${orderId}${ordinal === 1 ? '' : `-${ordinal}`}`

/** True if Tillbridge itself created a transaction with this ID, for a shipment or a return. */
export const isOwnTransaction = (id: string) => id.startsWith(salePrefix) || id.startsWith(returnPrefix)

/**
 * Lets imported sales replace the sales that Tillbridge recorded for the same orders, so that no order counts twice. Locks the orders, so
 * that a concurrent shipment records no sale either.
 */
export async function replaceOwnSales(tx: Db, service: Service, change: Change, orderNumbers: readonly string[]) {
  const orders = await tx.rows<{ id: string; shipments: number }>(sql`
    with locked as (
      select id from sales_order where service_id = ${service.id} and order_number = any(${orderNumbers}) order by id for no key update)
    update sales_order o set has_imported_sale = true from locked
     where o.service_id = ${service.id} and o.id = locked.id
    returning o.id, (select count(*)::integer from shipment s where s.service_id = o.service_id and s.order_id = o.id) as shipments`)
  if (!orders.length) return
  const ids = orders.flatMap(({ id, shipments }) =>
    Array.from({ length: Math.max(1, shipments) }, (_, i) => buildSaleId(id, i + 1)),
  )
  await removeRecords(tx, service, change, { list: 'retail_transaction', id: sql`id`, where: sql`id = any(${ids})` })
}
