import { randomUUIDv7 } from 'node:crypto'
import { type Database, type Db, sql } from '../../database/db.ts'
import type { Order } from '../../domain/orders/orders.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { OrderAddress } from '../../domain/values/address.ts'
import { Contradiction } from '../../domain/values/contradiction.ts'
import { getDecimals } from '../../domain/values/money.ts'
import { requireCustomers } from '../customers/removal.ts'
import { beginChange, type Change, type Upserted } from '../lists/change-timestamp.ts'
import { opaqueServiceId } from '../lists/planner-fences.ts'
import { removeRecords } from '../lists/tombstones.ts'
import { unitsOfStatus } from './lines.ts'
import { skipNumbers } from './numbers.ts'

type Line = Order['lines'][number]

/** A line of an order from an earlier system. Amounts are strings with the currency's decimals. */
export interface ImportedLine extends Omit<Line, 'id' | 'tracking' | 'shipped' | 'cancelled'> {
  skuId: string
  refunded: string
  /** The store whose stock increases with a return. Null: no stock moves. */
  storeId: string | null
}

/** A complete order from an earlier system. */
export interface ImportedOrder
  extends Pick<Order, 'pickupStoreNumber' | 'freight' | 'taxLines' | 'total' | 'payments'> {
  customerId: string
  number: string
  /** Null: keeps the stored ID, or creates one. */
  id: string | null
  /** In the service's time zone. */
  placedAt: string
  billingAddress: Partial<OrderAddress>
  deliveryAddress: Partial<OrderAddress>
  lines: ImportedLine[]
  /** Digest of all its fields. */
  digest: Buffer
  /** Number of imported rows. */
  rows: number
}

interface StoredOrder {
  number: string
  id: string
  digest: Buffer | null
  isUntouched: boolean
}

/** Returns the numbers of the orders with these IDs. */
export const findOrderNumbers = (db: Db, service: Service, ids: readonly string[]) =>
  db.rows<{ number: string }>(
    sql`select order_number as number from sales_order where service_id = ${service.id} and id = any(${ids})`,
  )

/**
 * Inserts orders, and replaces orders of an earlier import that differ now. Returns counts of rows. Throws `Contradiction` for an order
 * that was not imported, and for an imported order that was changed in Tillbridge.
 */
export const mergeImportedOrders = (
  db: Database,
  service: Service,
  ordersWithRepeats: readonly ImportedOrder[],
): Promise<Upserted> =>
  db.transaction(async tx => {
    const orders = [...new Set(ordersWithRepeats)]
    const numbers = orders.map(({ number }) => number)
    await skipNumbers(tx, service, numbers)
    const stored = await tx.rows<StoredOrder>(sql`
      select order_number as number, id, import_digest as digest, coalesce(changed_at = imported_at, false) as "isUntouched"
        from sales_order where service_id = ${service.id} and order_number = any(${numbers}) order by order_number for update`)
    const storedByNumber = new Map(stored.map(row => [row.number, row]))
    const differing = orders.filter(({ number, digest }) => !storedByNumber.get(number)?.digest?.equals(digest))
    const changed = differing.filter(({ number }) => storedByNumber.has(number))
    const newOrders = differing.filter(({ number }) => !storedByNumber.has(number))
    for (const { number } of changed) {
      const { digest, isUntouched } = storedByNumber.get(number) ?? {}
      if (!digest) throw new Contradiction('order_placed_here')
      if (!isUntouched) throw new Contradiction('order_changed_here')
    }
    const customers = differing.map(({ customerId }) => customerId)
    await requireCustomers(tx, service, customers, 'order_customer')
    const change = await beginChange(tx, service, ['sales_order'])
    const where = sql`order_number = any(${changed.map(({ number }) => number)})`
    await removeRecords(tx, service, change, { list: 'sales_order', id: sql`id`, where })
    await insertOrders(
      tx,
      service,
      change,
      differing.map(order => ({ ...order, id: order.id ?? storedByNumber.get(order.number)?.id ?? randomUUIDv7() })),
    )
    return { inserted: countRows(newOrders), changed: countRows(changed) }
  })

const countRows = (orders: readonly ImportedOrder[]) => orders.reduce((sum, { rows }) => sum + rows, 0)

async function insertOrders(
  tx: Db,
  service: Service,
  { at }: Change,
  orders: readonly (ImportedOrder & { id: string })[],
) {
  const { currency, timeZone } = service.settings
  const headers = orders.map(({ lines: _, payments: __, digest, ...header }) => ({
    ...header,
    digest: digest.toString('hex'),
  }))
  await tx.run(sql`
    insert into sales_order (service_id, id, changed_at, placed_at, order_number, customer_id, pickup_store_number, billing_address, delivery_address, currency, decimals, freight, tax_lines, total,
                             imported_at, import_digest, has_imported_sale)
    select ${service.id}, id, ${at}::timestamptz, "placedAt" at time zone ${timeZone}, number, "customerId", "pickupStoreNumber", "billingAddress", "deliveryAddress", ${currency}, ${getDecimals(currency)}::integer, freight, "taxLines", total,
           ${at}::timestamptz, decode(digest, 'hex'),
           exists (select from retail_transaction t where t.service_id = ${opaqueServiceId(service)} and lower(t.order_number) = lower(number) and t.order_number = number)
      from json_to_recordset(${JSON.stringify(headers)}) as o (id text, number text, "placedAt" timestamp, "customerId" text, "pickupStoreNumber" text, "billingAddress" json, "deliveryAddress" json,
           freight numeric, "taxLines" json, total numeric, digest text)`)
  const lines = orders.flatMap(order => order.lines.map(line => ({ ...line, orderId: order.id })))
  const { shipped, cancelled, cancelledValue } = unitsOfStatus(sql`status`, sql`quantity`)
  await tx.run(sql`
    insert into order_line (service_id, order_id, sequence, status, sku_id, sku, product_code, product_name, colour_code, colour_name, size_code, quantity, shipped, cancelled, cancelled_value, price, discounts, value, store_id, returned, refunded)
    select ${service.id}, "orderId", sequence, status, "skuId", sku, "productCode", "productName", "colourCode", "colourName", "sizeCode", quantity, ${shipped}, ${cancelled}, ${cancelledValue(sql`value`)}, price, discounts, value, "storeId", returned, refunded
      from json_to_recordset(${JSON.stringify(lines)}) as line ("orderId" text, sequence integer, status text, "skuId" text, sku text, "productCode" text, "productName" text, "colourCode" text,
           "colourName" text, "sizeCode" text, quantity integer, price numeric, discounts json, value numeric, "storeId" text, returned integer, refunded numeric)`)
  const payments = orders.flatMap(order =>
    order.payments.map((payment, i) => ({ ...payment, orderId: order.id, sequence: i + 1 })),
  )
  await tx.run(sql`
    insert into order_payment (service_id, order_id, sequence, gateway, amount, reference, voucher_number)
    select ${service.id}, "orderId", sequence, gateway, amount, reference, "voucherNumber"
      from json_to_recordset(${JSON.stringify(payments)}) as payment ("orderId" text, sequence integer, gateway text, amount numeric, reference text, "voucherNumber" text)`)
}
