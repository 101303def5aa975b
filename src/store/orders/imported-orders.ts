import { randomUUIDv7 } from 'node:crypto'
import { type Database, type Db, sql } from '../../database/db.ts'
import type { Order } from '../../domain/orders/orders.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { OrderAddress } from '../../domain/values/address.ts'
import { Contradiction } from '../../domain/values/contradiction.ts'
import { getDecimals } from '../../domain/values/money.ts'
import { requireCustomers } from '../customers/removal.ts'
import { beginChange, type Change, type Upserted } from '../lists/change-timestamp.ts'
import { removeRecords } from '../lists/tombstones.ts'
import { passOver } from './numbers.ts'

type Line = Order['lines'][number]

/** A line of an order of an earlier system. Amounts as text, with the currency's decimals. */
export interface BroughtLine extends Omit<Line, 'id'> {
  skuId: string
  refunded: string
  /** The store that gets back what is returned; null: no stock moves. */
  storeId: string | null
}

/** An order of an earlier system, whole. */
export interface BroughtOrder extends Pick<Order, 'pickupStoreNumber' | 'freight' | 'total' | 'payments'> {
  customerId: string
  number: string
  /** Null: as it is stored, or else one is made. */
  id: string | null
  /** On the clock of the service's time zone. */
  placedAt: string
  billingAddress: Partial<OrderAddress>
  deliveryAddress: Partial<OrderAddress>
  lines: BroughtLine[]
  /** Of all that is said of it. */
  digest: Buffer
  /** How many rows it came as. */
  rows: number
}

interface Stored {
  number: string
  id: string
  digest: Buffer | null
  isUntouched: boolean
}

/**
 * Adds orders, and puts those that an import says otherwise now in the place of what an earlier one brought. Each is as many rows as it
 * came as. Throws `Contradiction` for a number that was not imported, and for an order that something has happened to here.
 */
export const bringOrders = (db: Database, service: Service, given: readonly BroughtOrder[]): Promise<Upserted> =>
  db.transaction(async tx => {
    const orders = [...new Set(given)]
    const numbers = orders.map(({ number }) => number)
    await passOver(tx, service, numbers)
    const stored = await tx.rows<Stored>(sql`
      select order_number as number, id, import_digest as digest, coalesce(changed_at = imported_at, false) as "isUntouched"
        from sales_order where service_id = ${service.id} and order_number = any(${numbers}) order by order_number for update`)
    const there = new Map(stored.map(row => [row.number, row]))
    const said = orders.filter(({ number, digest }) => !there.get(number)?.digest?.equals(digest))
    const changed = said.filter(({ number }) => there.has(number))
    const fresh = said.filter(({ number }) => !there.has(number))
    for (const { number } of changed) {
      const { digest, isUntouched } = there.get(number) ?? {}
      if (!digest) throw new Contradiction('order_placed_here')
      if (!isUntouched) throw new Contradiction('order_changed_here')
    }
    const customers = said.map(({ customerId }) => customerId)
    await requireCustomers(tx, service, customers, 'order_customer')
    const change = await beginChange(tx, service, ['sales_order'])
    const where = sql`order_number = any(${changed.map(({ number }) => number)})`
    await removeRecords(tx, service, change, { list: 'sales_order', id: sql`id`, where })
    await insertOrders(
      tx,
      service,
      change,
      said.map(order => ({ ...order, id: order.id ?? there.get(order.number)?.id ?? randomUUIDv7() })),
    )
    return { inserted: rowsOf(fresh), changed: rowsOf(changed) }
  })

const rowsOf = (orders: readonly BroughtOrder[]) => orders.reduce((sum, { rows }) => sum + rows, 0)

async function insertOrders(
  tx: Db,
  service: Service,
  { at }: Change,
  orders: readonly (BroughtOrder & { id: string })[],
) {
  const { currency, timeZone } = service.settings
  const headers = orders.map(({ lines: _, payments: __, digest, ...header }) => ({
    ...header,
    digest: digest.toString('hex'),
  }))
  await tx.run(sql`
    insert into sales_order (service_id, id, changed_at, placed_at, order_number, customer_id, pickup_store_number, billing_address, delivery_address, currency, decimals, freight, total,
                             imported_at, import_digest)
    select ${service.id}, id, ${at}::timestamptz, "placedAt" at time zone ${timeZone}, number, "customerId", "pickupStoreNumber", "billingAddress", "deliveryAddress", ${currency}, ${getDecimals(currency)}::integer, freight, total,
           ${at}::timestamptz, decode(digest, 'hex')
      from json_to_recordset(${JSON.stringify(headers)}) as o (id text, number text, "placedAt" timestamp, "customerId" text, "pickupStoreNumber" text, "billingAddress" json, "deliveryAddress" json,
           freight numeric, total numeric, digest text)`)
  const lines = orders.flatMap(({ id, lines }) => lines.map(line => ({ ...line, orderId: id })))
  await tx.run(sql`
    insert into order_line (service_id, order_id, sequence, status, sku_id, sku, product_code, product_name, colour_code, colour_name, size_code, quantity, price, discounts, value, store_id, returned, refunded)
    select ${service.id}, "orderId", sequence, status, "skuId", sku, "productCode", "productName", "colourCode", "colourName", "sizeCode", quantity, price, discounts, value, "storeId", returned, refunded
      from json_to_recordset(${JSON.stringify(lines)}) as line ("orderId" text, sequence integer, status text, "skuId" text, sku text, "productCode" text, "productName" text, "colourCode" text,
           "colourName" text, "sizeCode" text, quantity integer, price numeric, discounts json, value numeric, "storeId" text, returned integer, refunded numeric)`)
  const payments = orders.flatMap(({ id, payments }) =>
    payments.map((payment, i) => ({ ...payment, orderId: id, sequence: i + 1 })),
  )
  await tx.run(sql`
    insert into order_payment (service_id, order_id, sequence, gateway, amount, reference, voucher_number)
    select ${service.id}, "orderId", sequence, gateway, amount, reference, "voucherNumber"
      from json_to_recordset(${JSON.stringify(payments)}) as payment ("orderId" text, sequence integer, gateway text, amount numeric, reference text, "voucherNumber" text)`)
}
