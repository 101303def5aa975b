import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import { sum } from '../../domain/orders/pricing.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { formatAmount } from '../../domain/values/money.ts'
import { type Change, localTime } from '../lists/change-timestamp.ts'
import { jsonArray, type LockedOrder, orderMoney } from './orders.ts'
import { buildSaleId, returnPrefix } from './own-sales.ts'
import { returnedDiscounts, returnTotal } from './returns.ts'
import { addTransactions } from './transactions.ts'

/** Shipped units of an order line, with the amount paid for them in minor units. */
interface SoldUnits {
  sequence: number
  quantity: number
  value: bigint
}

/** The sale of a shipment. `ordinal`: the shipment's position in its order, from 1. `storeId`: the store, if the lines came from another one. */
export interface Sale {
  units: readonly SoldUnits[]
  ordinal?: number
  storeId?: string | null
}

/**
 * Adds the sale of shipped units: it appears in the purchase history and in `GET /orders/transactions/search`. Adds none if the sale of this
 * order was imported. Taxes on top of the prices are part of the first sale.
 */
export const addSale = (
  tx: Db,
  service: Service,
  change: Change,
  order: LockedOrder,
  { units, ordinal = 1, storeId = null }: Sale,
) => {
  const rows = units.map(({ value, ...unit }) => ({ ...unit, value: formatAmount(value, order.decimals) }))
  const parts = sql`json_to_recordset(${JSON.stringify(rows)}) as b (sequence integer, quantity integer, value numeric)`
  const sold = sql`l.service_id = o.service_id and l.order_id = o.id and l.sequence = any(${units.map(({ sequence }) => sequence)}::integer[])`
  return addTransactions(
    tx,
    service,
    change,
    sql`
    select ${buildSaleId(order.id, ordinal)}::text as id, o.order_number as number, ${header(service, change)},
           ${formatAmount(sum(units.map(({ value }) => value)), order.decimals)}::text as total,
           ${jsonArray(sql`
             select sold.sequence::text as id, sold.sequence, sold.sku, sold.product_code as "productCode", sold.product_name as "productName",
                    sold.colour_code as "colourCode", sold.colour_name as "colourName", sold.size_code as "sizeCode", b.quantity,
                    ${orderMoney(sql`sold.price`)} as price, ${orderMoney(sql`b.value`)} as value, null::text as "taxPercent",
                    case when b.quantity = sold.quantity then sold.discounts else ${returnedDiscounts(sql``)} end as discounts
               from ${parts} join order_line sold on sold.service_id = o.service_id and sold.order_id = o.id and sold.sequence = b.sequence
              order by sold.sequence`)} as lines
      from sales_order o left join store s on ${storeId === null ? soldBy(sold) : sql`s.service_id = o.service_id and s.store_id = ${storeId}`}
     where o.service_id = ${service.id} and o.id = ${order.id} and not o.has_imported_sale`,
    sql`(select case when ${ordinal > 1} or o.tax_lines::text = '[]' then '' else ',"taxLines":' || o.tax_lines::text end
           from sales_order o where o.service_id = ${service.id} and o.id = ${order.id})`,
  )
}

/** Adds the transaction of a return, with negative quantity and value. For a cancelled return, the signs are reversed. */
export const addReturn = (
  tx: Db,
  service: Service,
  change: Change,
  returnId: string,
  { cancelled = false }: { cancelled?: boolean } = {},
) => {
  const sign = raw(cancelled ? '' : '-')
  return addTransactions(
    tx,
    service,
    change,
    sql`
    select ${returnPrefix}::text || r.id || ${cancelled ? '-cancelled' : ''} as id, r.return_number as number, ${header(service, change)},
           ${returnTotal(sign)} as total,
           ${jsonArray(sql`
             select b.sequence::text as id, b.sequence, sold.sku, sold.product_code as "productCode", sold.product_name as "productName",
                    sold.colour_code as "colourCode", sold.colour_name as "colourName", sold.size_code as "sizeCode", ${sign}b.quantity as quantity,
                    ${orderMoney(sql`sold.price`)} as price, ${orderMoney(sql`${sign}b.value`)} as value, null::text as "taxPercent", ${returnedDiscounts(sign)} as discounts
               from return_line b join order_line sold on sold.service_id = b.service_id and sold.order_id = b.order_id and sold.sequence = b.order_sequence
              where b.service_id = r.service_id and b.return_id = r.id and not b.is_cancelled order by b.sequence`)} as lines
      from sales_return r
      join sales_order o on o.service_id = r.service_id and o.id = r.order_id
      left join store s on ${soldBy(sql`l.service_id = o.service_id and l.order_id = o.id`)}
     where r.service_id = ${service.id} and r.id = ${returnId}`,
  )
}

/** The fields that all transactions of an order `o` from a store `s` share. */
const header = (service: Service, change: Change) => sql`
  o.order_number as "orderNumber", 'web' as channel, 'sale' as type, ${localTime(sql`${change.at}::timestamptz`, service)} as "saleDate",
  o.customer_id as "customerId", s.store_number as "storeNumber", s.name as "storeName", o.currency`

/** Joins the store that all these lines `l` of an order `o` came from. Joins none if they came from several stores. */
const soldBy = (lines: Sql) => sql`
  s.service_id = o.service_id
  and s.store_id = (select case when count(distinct l.store_id) = 1 then min(l.store_id) end from order_line l where ${lines})`
