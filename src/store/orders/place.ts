import { randomUUIDv7 } from 'node:crypto'
import { type Db, sql } from '../../database/db.ts'
import type { OrderFacts, PricedOrder } from '../../domain/orders/order-rules.ts'
import type { LineStatus, OrderInput } from '../../domain/orders/orders.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { OrderAddress } from '../../domain/values/address.ts'
import { formatAmount } from '../../domain/values/money.ts'
import { findStoresByNumber } from '../catalog/stores.ts'
import { holdCustomers } from '../customers/removal.ts'
import { nextChangeTimestamp } from '../lists/change-timestamp.ts'
import { materialized } from '../lists/planner-fences.ts'
import { gatewayNames } from '../tenancy/gateways.ts'
import type { HeldOrder } from './orders.ts'

/** A SKU as it is sold now. */
export interface SoldVariant {
  sku: string
  skuId: string
  /** With the currency's decimals, as `GET /products` shows it. */
  price: string
  productCode: string
  productName: string
  colourCode: string | null
  colourName: string | null
  sizeCode: string
}

/** Each by its keys: a plan that was made while there were few would go on reading all colours of the service. */
export const variantsOf = (tx: Db, service: Service, skus: readonly string[], decimals: number) =>
  tx.rows<SoldVariant>(sql`
    select v.sku, v.sku_id as "skuId", round(v.price, ${decimals}::integer)::text as price, p.product_code as "productCode", p.name as "productName",
           c.code as "colourCode", c.name as "colourName", v.size_code as "sizeCode"
      from variant v
     cross join lateral ${materialized(sql`select * from product where service_id = v.service_id and product_id = v.product_id`)} p
     cross join lateral ${materialized(sql`select * from colour where service_id = v.service_id and product_id = v.product_id and colour_id = v.colour_id`)} c
     where v.service_id = ${service.id} and v.sku = any(${skus})`)

const orderNumberTaken = async (tx: Db, service: Service, number: string) =>
  Boolean(
    await tx.row(
      sql`select true as taken from sales_order where service_id = ${service.id} and order_number = ${number}`,
    ),
  )

/**
 * Whether an order that was placed here, or imported, has this number. One that a back office had, and that was only looked up, may be what
 * an earlier attempt has placed there: nobody has been told so.
 */
export const orderNumberGiven = async (tx: Db, service: Service, number: string) =>
  Boolean(
    await tx.row(sql`
      select true as given
        from sales_order o
       where o.service_id = ${service.id} and o.order_number = ${number}
         and (o.imported_at is not null
              or exists (select from audit a
                          where a.service_id = ${service.id} and a.record::json->>'subject' = '/orders/' || o.id and a.record::json->>'operation' = 'POST /orders'))`),
  )

/** What is known of what an order names, the SKUs apart. */
export async function knownToOrder(
  tx: Db,
  service: Service,
  { customerId, pickupStoreNumber, orderNumber }: OrderInput,
): Promise<Omit<OrderFacts, 'variants' | 'giftCardSkuId'>> {
  const [customers, stores, numberTaken, gateways] = await Promise.all([
    holdCustomers(tx, service, [customerId]),
    pickupStoreNumber ? findStoresByNumber(tx, service, [pickupStoreNumber]) : undefined,
    typeof orderNumber === 'string' && orderNumberTaken(tx, service, orderNumber),
    gatewayNames(tx, service),
  ])
  return { customer: customers.length > 0, store: stores === undefined || stores.length > 0, numberTaken, gateways }
}

/** What an order is known by. */
interface OrderIdentity {
  number: string
  /** Absent: one is made. */
  id?: string
  /** When it was placed, as text of a `timestamptz`; absent: now. */
  placedAt?: string | undefined
}

type GivenAddress = { [name in keyof OrderAddress]?: OrderAddress[name] | undefined }

/** What is kept of an order beside its lines and payments. */
interface OrderHeader extends Pick<OrderInput, 'customerId' | 'pickupStoreNumber'> {
  billingAddress: GivenAddress
  deliveryAddress: GivenAddress
}

/** Adds an order, without its lines yet; undefined where another order has the number, or the identifier. */
export const insertOrder = (
  tx: Db,
  service: Service,
  { number, id = randomUUIDv7(), placedAt }: OrderIdentity,
  { customerId, pickupStoreNumber = null, billingAddress, deliveryAddress }: OrderHeader,
  {
    currency,
    decimals,
    freight,
    total,
  }: { currency: string; decimals: number } & Pick<PricedOrder, 'freight' | 'total'>,
) =>
  tx.row<HeldOrder>(sql`
    insert into sales_order (service_id, id, changed_at, placed_at, order_number, customer_id, pickup_store_number, billing_address, delivery_address, currency, decimals, freight, total)
    select ${service.id}, ${id}, now, coalesce(${placedAt ?? null}::timestamptz, now), ${number}, ${customerId}, ${pickupStoreNumber}::text, ${addressOf(billingAddress)}::json, ${addressOf(deliveryAddress)}::json,
           ${currency}, ${decimals}::integer, ${formatAmount(freight, decimals)}::numeric, ${formatAmount(total, decimals)}::numeric
      from ${nextChangeTimestamp(service, ['sales_order'])} now
    on conflict do nothing
    returning id, order_number as number, customer_id as "customerId", currency, decimals`)

/** As `OrderAddress` has it, in its order. */
function addressOf(address: GivenAddress) {
  const {
    contactName = null,
    companyName = null,
    addressLine1 = null,
    addressLine2 = null,
    city = null,
    state = null,
    postcode = null,
    country = null,
  } = address
  return JSON.stringify({ contactName, companyName, addressLine1, addressLine2, city, state, postcode, country })
}

/** The address of an order of somebody who was erased. */
export const noAddress = addressOf({})

/** Adds the lines of an order, of this status. `sources` says which store each SKU comes from. */
export function insertLines(
  tx: Db,
  service: Service,
  order: HeldOrder,
  input: OrderInput['lines'],
  priced: PricedOrder['lines'],
  variants: ReadonlyMap<string, SoldVariant>,
  { sources = new Map(), status = 'processing' }: { sources?: ReadonlyMap<string, string>; status?: LineStatus } = {},
) {
  const rows = input.map(({ sku, quantity, discounts }, i) => {
    const variant = variants.get(sku)
    return {
      ...variant,
      sequence: i + 1,
      quantity,
      discounts: (discounts ?? []).map(({ type, reason = null, amount, percentage = null }) => ({
        type,
        reason,
        amount,
        percentage,
      })),
      price: formatAmount(priced[i]?.price ?? 0n, order.decimals),
      value: formatAmount(priced[i]?.value ?? 0n, order.decimals),
      storeId: sources.get(sku) ?? null,
    }
  })
  return tx.run(sql`
    insert into order_line (service_id, order_id, sequence, status, sku_id, sku, product_code, product_name, colour_code, colour_name, size_code, quantity, price, discounts, value, store_id)
    select ${service.id}, ${order.id}, sequence, ${status}, "skuId", sku, "productCode", "productName", "colourCode", "colourName", "sizeCode", quantity, price, discounts, value, "storeId"
      from json_to_recordset(${JSON.stringify(rows)}) as line (sequence integer, "skuId" text, sku text, "productCode" text, "productName" text, "colourCode" text,
           "colourName" text, "sizeCode" text, quantity integer, price numeric, discounts json, value numeric, "storeId" text)`)
}

/** Adds how an order is paid. Of a voucher only the number is kept. */
export function insertPayments(tx: Db, service: Service, order: HeldOrder, payments: OrderInput['payments']) {
  const rows = payments.map(({ gateway, amount, reference = null, voucher }, i) => ({
    sequence: i + 1,
    gateway,
    amount,
    reference,
    voucherNumber: voucher?.number ?? null,
  }))
  return tx.run(sql`
    insert into order_payment (service_id, order_id, sequence, gateway, amount, reference, voucher_number)
    select ${service.id}, ${order.id}, sequence, gateway, amount, reference, "voucherNumber"
      from json_to_recordset(${JSON.stringify(rows)}) as payment (sequence integer, gateway text, amount numeric, reference text, "voucherNumber" text)`)
}
