import { randomUUIDv7 } from 'node:crypto'
import { type Db, sql } from '../../database/db.ts'
import type { OrderFacts, PricedOrder } from '../../domain/orders/order-rules.ts'
import type { OrderInput } from '../../domain/orders/orders.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { OrderAddress } from '../../domain/values/address.ts'
import { formatAmount } from '../../domain/values/money.ts'
import { findStoresByNumber } from '../catalog/stores.ts'
import { lockCustomerKeys } from '../customers/removal.ts'
import { nextChangeTimestamp } from '../lists/change-timestamp.ts'
import { materialized } from '../lists/planner-fences.ts'
import { listGatewayNames } from '../tenancy/gateways.ts'
import type { LockedOrder } from './orders.ts'

/** A SKU with its current price. */
export interface SoldVariant {
  sku: string
  skuId: string
  /** With the currency's decimals, as in `GET /products`. */
  price: string
  productCode: string
  productName: string
  colourCode: string | null
  colourName: string | null
  sizeCode: string
  /** True if orders can exceed the units that can be sold. Absent in an order that was read from a back office. */
  allowBackorder?: boolean
}

/**
 * Returns the SKUs with their current prices. Omits unknown SKUs. Looks up product and colour by key: a plan cached while there were few rows
 * would continue to read all colours of the service.
 */
export const findVariants = (tx: Db, service: Service, skus: readonly string[], decimals: number) =>
  tx.rows<SoldVariant>(sql`
    select v.sku, v.sku_id as "skuId", round(v.price, ${decimals}::integer)::text as price, p.product_code as "productCode", p.name as "productName",
           c.code as "colourCode", c.name as "colourName", v.size_code as "sizeCode", v.allow_backorder as "allowBackorder"
      from variant v
     cross join lateral ${materialized(sql`select * from product where service_id = v.service_id and product_id = v.product_id`)} p
     cross join lateral ${materialized(sql`select * from colour where service_id = v.service_id and product_id = v.product_id and colour_id = v.colour_id`)} c
     where v.service_id = ${service.id} and v.sku = any(${skus})`)

export const isOrderNumberStored = async (tx: Db, service: Service, number: string) =>
  Boolean(
    await tx.row(
      sql`select true as taken from sales_order where service_id = ${service.id} and order_number = ${number}`,
    ),
  )

/**
 * True if an order with this number was placed in Tillbridge or imported. An order that was only read from a back office does not count:
 * an earlier attempt may have placed it, although its response was lost.
 */
export const isOrderNumberUsed = async (tx: Db, service: Service, number: string) =>
  Boolean(
    await tx.row(sql`
      select true as used
        from sales_order o
       where o.service_id = ${service.id} and o.order_number = ${number}
         and (o.imported_at is not null
              or exists (select from audit a
                          where a.service_id = ${service.id} and a.record::json->>'subject' = '/orders/' || o.id and a.record::json->>'operation' = 'POST /orders'))`),
  )

/** Reads what the order refers to, except for its SKUs. */
export async function readOrderContext(
  tx: Db,
  service: Service,
  { customerId, pickupStoreNumber, orderNumber }: OrderInput,
): Promise<Omit<OrderFacts, 'variants' | 'giftCardSkuId'>> {
  const [customers, stores, numberTaken, gateways] = await Promise.all([
    lockCustomerKeys(tx, service, [customerId]),
    pickupStoreNumber ? findStoresByNumber(tx, service, [pickupStoreNumber]) : undefined,
    typeof orderNumber === 'string' && isOrderNumberStored(tx, service, orderNumber),
    listGatewayNames(tx, service),
  ])
  return {
    customer: customers.length > 0,
    // A shopper can't collect an order from a warehouse.
    store: stores === undefined || stores.some(({ kind }) => kind === 'store'),
    numberTaken,
    gateways,
  }
}

/** Number, ID and time of an order. */
interface OrderIdentity {
  number: string
  /** Default: a new ID. */
  id?: string
  /** Text of a `timestamptz`. Default: now. */
  placedAt?: string | undefined
}

type PartialAddress = { [name in keyof OrderAddress]?: OrderAddress[name] | undefined }

/** The stored fields of an order, except for lines and payments. */
interface OrderHeader extends Pick<OrderInput, 'customerId' | 'pickupStoreNumber' | 'taxLines'> {
  billingAddress: PartialAddress
  deliveryAddress: PartialAddress
}

/** Inserts an order without lines. Returns undefined if another order has the number or the ID. */
export const insertOrder = (
  tx: Db,
  service: Service,
  { number, id = randomUUIDv7(), placedAt }: OrderIdentity,
  { customerId, pickupStoreNumber = null, billingAddress, deliveryAddress, taxLines }: OrderHeader,
  {
    currency,
    decimals,
    freight,
    total,
  }: { currency: string; decimals: number } & Pick<PricedOrder, 'freight' | 'total'>,
) =>
  tx.row<LockedOrder>(sql`
    insert into sales_order (service_id, id, changed_at, placed_at, order_number, customer_id, pickup_store_number, billing_address, delivery_address, currency, decimals, freight, tax_lines, total)
    select ${service.id}, ${id}, now, coalesce(${placedAt ?? null}::timestamptz, now), ${number}, ${customerId}, ${pickupStoreNumber}::text, ${buildAddress(billingAddress)}::json, ${buildAddress(deliveryAddress)}::json,
           ${currency}, ${decimals}::integer, ${formatAmount(freight, decimals)}::numeric, ${buildTaxLines(taxLines)}::json, ${formatAmount(total, decimals)}::numeric
      from ${nextChangeTimestamp(service, ['sales_order'])} now
    on conflict do nothing
    returning id, order_number as number, customer_id as "customerId", pickup_store_number as "pickupStoreNumber", currency, decimals`)

/** Builds the stored `TaxLine`s of a request. */
const buildTaxLines = (taxLines: OrderInput['taxLines']) =>
  JSON.stringify((taxLines ?? []).map(({ name, percentage = null, amount }) => ({ name, percentage, amount })))

/** Builds a complete `OrderAddress`, with its fields in order. */
function buildAddress(address: PartialAddress) {
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

/** The address of an order whose customer was erased. */
export const emptyAddress = buildAddress({})

/** Inserts the lines of an order. `sources`: the store of each SKU. */
export function insertLines(
  tx: Db,
  service: Service,
  order: LockedOrder,
  input: OrderInput['lines'],
  priced: PricedOrder['lines'],
  variants: ReadonlyMap<string, SoldVariant>,
  {
    sources = new Map(),
    status = 'processing',
    isAllocated = false,
  }: { sources?: ReadonlyMap<string, string>; status?: 'processing' | 'shipped'; isAllocated?: boolean } = {},
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
    insert into order_line (service_id, order_id, sequence, status, sku_id, sku, product_code, product_name, colour_code, colour_name, size_code, quantity, shipped, price, discounts, value, store_id, is_allocated)
    select ${service.id}, ${order.id}, sequence, ${status}, "skuId", sku, "productCode", "productName", "colourCode", "colourName", "sizeCode", quantity, ${status === 'processing' ? sql`0` : sql`quantity`}, price, discounts, value, "storeId", ${isAllocated} and "storeId" is not null
      from json_to_recordset(${JSON.stringify(rows)}) as line (sequence integer, "skuId" text, sku text, "productCode" text, "productName" text, "colourCode" text,
           "colourName" text, "sizeCode" text, quantity integer, price numeric, discounts json, value numeric, "storeId" text)`)
}

/** Inserts the payments of an order. Stores only the number of a voucher. */
export function insertPayments(tx: Db, service: Service, order: LockedOrder, payments: OrderInput['payments']) {
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
