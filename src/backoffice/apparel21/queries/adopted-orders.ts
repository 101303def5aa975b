import type { Keys } from '../../../crypto/keys.ts'
import type { Db } from '../../../database/db.ts'
import { sum } from '../../../domain/orders/pricing.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { findSkusById } from '../../../store/catalog/skus.ts'
import { findStoresById } from '../../../store/catalog/stores.ts'
import { type HeldOrder, holdOrder, isOfAnother } from '../../../store/orders/orders.ts'
import { insertLines, insertOrder, insertPayments, type SoldVariant } from '../../../store/orders/place.ts'
import { isTakenByAny } from '../../../store/writes/intents.ts'
import type { Client } from '../client/client.ts'
import { type BackOfficeOrder, parseOrder } from '../mapping/order-from-xml.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import type { Xml } from '../xml/xml.ts'
import type { Upstream } from './upstream.ts'

/** What an order is held by while it is placed. */
export const getOrderNumberLock = (number: string) => `order number ${number}`

/**
 * Puts an order of a customer of ours into our tables. Undefined: it sells nothing, is the order of another service, or is one that is
 * being placed by a service, which stores it with all that is known of it once its outcome is known.
 */
export async function adoptOrder(
  { client }: Upstream,
  tx: Db,
  { keys, service }: { keys: Keys; service: Service },
  live: Xml,
): Promise<HeldOrder | undefined> {
  const { gateways } = client.connection
  const read = parseOrThrow(client, () => parseOrder(live, { defaultCurrency: service.settings.currency, gateways }))
  const { id, number, currency, decimals, freight, billingAddress, deliveryAddress } = read
  if (read.lines.length === 0) return
  // Asked in this order: whose it is has stored it once nobody holds it any more.
  if (await isTakenByAny(tx, keys, getOrderNumberLock(number))) return
  if (await isOfAnother(tx, service, { id, number, customerId: read.personId })) return
  const header = { customerId: read.personId, billingAddress, deliveryAddress }
  const [pickup] = read.pickupStoreId ? await findStoresById(tx, service, [read.pickupStoreId]) : []
  const order = await insertOrder(
    tx,
    service,
    { id, number, placedAt: toPlacedAt(client, read) },
    { ...header, pickupStoreNumber: pickup?.number ?? null },
    { currency, decimals, freight, total: sum(read.lines.map(line => line.value)) + freight },
  )
  // Somebody else was about it, and has it by now.
  if (!order) return holdOrder(tx, service, { id })
  const sold = await resolveVariants(tx, service, read)
  const variants = new Map(sold.map(variant => [variant.sku, variant]))
  const lines = read.lines.map(({ skuId, quantity, discounts }, i) => ({
    sku: sold[i]?.sku ?? skuId,
    quantity,
    discounts,
  }))
  await insertLines(tx, service, order, lines, read.lines, variants)
  const payments = read.payments.map(({ voucherNumber, ...payment }) => ({
    ...payment,
    ...(voucherNumber !== null && { voucher: { number: voucherNumber, validationId: '' } }),
  }))
  await insertPayments(tx, service, order, payments)
  return order
}

/** What each line sold: by our e-commerce SKU, or what comes nearest to it where the SKU is not known any more. */
async function resolveVariants(tx: Db, service: Service, { lines }: BackOfficeOrder): Promise<SoldVariant[]> {
  const known = await findSkusById(tx, service, [...new Set(lines.map(line => line.skuId))])
  const skus = new Map(known.map(row => [row.skuId, row.sku]))
  return lines.map(({ skuId, barcode, productCode, productName, colourCode, colourName, sizeCode }) => ({
    skuId,
    sku: skus.get(skuId) ?? barcode ?? skuId,
    price: '0',
    productCode,
    productName,
    colourCode,
    colourName,
    sizeCode,
  }))
}

function toPlacedAt({ connection }: Client, { placedAt: placed }: BackOfficeOrder): string | undefined {
  if (placed === null) return
  return Temporal.PlainDateTime.from(placed).toZonedDateTime(connection.timeZone).toInstant().toString()
}

/** What a translation reads; one that cannot be read is 502. */
export function parseOrThrow<T>({ connection }: Client, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof InvalidRecord)) throw error
    connection.log?.warn({ reason: error.message }, 'An order cannot be taken.')
    throw new ApiError('back_office_error')
  }
}
