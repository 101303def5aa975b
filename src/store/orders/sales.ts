import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { type Change, localTime } from '../lists/change-timestamp.ts'
import { jsonArray, type LockedOrder, orderMoney } from './orders.ts'
import { returnPrefix, salePrefix } from './own-sales.ts'
import { returnedDiscounts } from './returns.ts'
import { addTransactions } from './transactions.ts'

/**
 * Adds the sale of shipped order lines: it appears in the purchase history and in `GET /orders/transactions/search`. Adds none if an import
 * has already brought the sale of this order.
 */
export const addSale = (
  tx: Db,
  service: Service,
  change: Change,
  order: LockedOrder,
  lines: readonly { sequence: number }[],
) => {
  const sold = sql`l.service_id = o.service_id and l.order_id = o.id and l.sequence = any(${lines.map(line => line.sequence)}::integer[])`
  return addTransactions(
    tx,
    service,
    change,
    sql`
    select ${salePrefix}::text || o.id as id, o.order_number as number, ${header(service, change)},
           (select ${orderMoney(sql`sum(l.value)`)} from order_line l where ${sold}) as total,
           ${jsonArray(sql`
             select l.sequence::text as id, l.sequence, l.sku, l.product_code as "productCode", l.product_name as "productName",
                    l.colour_code as "colourCode", l.colour_name as "colourName", l.size_code as "sizeCode", l.quantity,
                    ${orderMoney(sql`l.price`)} as price, ${orderMoney(sql`l.value`)} as value, null::text as "taxPercent", l.discounts
               from order_line l where ${sold} order by l.sequence`)} as lines
      from sales_order o left join store s on ${soldBy(sold)}
     where o.service_id = ${service.id} and o.id = ${order.id} and not o.has_imported_sale`,
    sql`(select case when o.tax_lines::text = '[]' then '' else ',"taxLines":' || o.tax_lines::text end
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
           (select ${orderMoney(sql`sum(${sign}l.value)`)} from return_line l where l.service_id = r.service_id and l.return_id = r.id) as total,
           ${jsonArray(sql`
             select b.sequence::text as id, b.sequence, sold.sku, sold.product_code as "productCode", sold.product_name as "productName",
                    sold.colour_code as "colourCode", sold.colour_name as "colourName", sold.size_code as "sizeCode", ${sign}b.quantity as quantity,
                    ${orderMoney(sql`sold.price`)} as price, ${orderMoney(sql`${sign}b.value`)} as value, null::text as "taxPercent", ${returnedDiscounts(sign)} as discounts
               from return_line b join order_line sold on sold.service_id = b.service_id and sold.order_id = b.order_id and sold.sequence = b.order_sequence
              where b.service_id = r.service_id and b.return_id = r.id order by b.sequence`)} as lines
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
