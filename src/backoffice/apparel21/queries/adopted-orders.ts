import type { Keys } from '../../../crypto/keys.ts'
import type { Db } from '../../../database/db.ts'
import { sum } from '../../../domain/orders/pricing.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { findSkusById } from '../../../store/catalog/skus.ts'
import { findStoresById } from '../../../store/catalog/stores.ts'
import { isKnownToAnotherService, type LockedOrder, lockOrder } from '../../../store/orders/orders.ts'
import { insertLines, insertOrder, insertPayments, type SoldVariant } from '../../../store/orders/place.ts'
import { isReservedByAnyService } from '../../../store/writes/intents.ts'
import type { Client } from '../client/client.ts'
import { type BackOfficeOrder, parseOrder } from '../mapping/order-from-xml.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import type { Xml } from '../xml/xml.ts'
import type { Upstream } from './upstream.ts'

export const getOrderNumberLock = (number: string) => `order number ${number}`

/**
 * Stores an order that so far only the back office has. `current`: the order's XML. The customer must be stored. Returns undefined in three
 * cases.
 * - The order sells nothing.
 * - The order belongs to another service.
 * - A service is placing the order right now, and stores it itself as soon as the outcome is known.
 */
export async function adoptOrder(
  { client }: Upstream,
  tx: Db,
  { keys, service }: { keys: Keys; service: Service },
  current: Xml,
): Promise<LockedOrder | undefined> {
  const { gateways, timeZone } = client.connection
  const parsed = parseOrThrow(client, () =>
    parseOrder(current, { defaultCurrency: service.settings.currency, gateways, timeZone }),
  )
  const { id, number, currency, decimals, freight, billingAddress, deliveryAddress } = parsed
  if (parsed.lines.length === 0) return
  // Check the lock before the owner: the owning service stores the order before it releases the lock.
  if (await isReservedByAnyService(tx, keys, getOrderNumberLock(number))) return
  if (await isKnownToAnotherService(tx, service, { id, number, customerId: parsed.personId })) return
  const header = { customerId: parsed.personId, billingAddress, deliveryAddress }
  const [pickup] = parsed.pickupStoreId ? await findStoresById(tx, service, [parsed.pickupStoreId]) : []
  const order = await insertOrder(
    tx,
    service,
    { id, number, placedAt: toPlacedAt(client, parsed) },
    { ...header, pickupStoreNumber: pickup?.number ?? null },
    { currency, decimals, freight, total: sum(parsed.lines.map(line => line.value)) + freight },
  )
  // A concurrent transaction has stored the order.
  if (!order) return lockOrder(tx, service, { id })
  const sold = await resolveVariants(tx, service, parsed)
  const variants = new Map(sold.map(variant => [variant.sku, variant]))
  const lines = parsed.lines.map(({ skuId, quantity, discounts }, i) => ({
    sku: sold[i]?.sku ?? skuId,
    quantity,
    discounts,
  }))
  await insertLines(tx, service, order, lines, parsed.lines, variants)
  const payments = parsed.payments.map(({ voucherNumber, ...payment }) => ({
    ...payment,
    ...(voucherNumber !== null && { voucher: { number: voucherNumber, validationId: '' } }),
  }))
  await insertPayments(tx, service, order, payments)
  return order
}

/** Returns the variant of each line, with the platform's SKU. Falls back to the barcode or identifier if the SKU is no longer known. */
async function resolveVariants(tx: Db, service: Service, { lines }: BackOfficeOrder): Promise<SoldVariant[]> {
  const storedSkus = await findSkusById(tx, service, [...new Set(lines.map(line => line.skuId))])
  const skus = new Map(storedSkus.map(row => [row.skuId, row.sku]))
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

function toPlacedAt({ connection }: Client, { placedAt: localTime }: BackOfficeOrder): string | undefined {
  if (localTime === null) return
  return Temporal.PlainDateTime.from(localTime).toZonedDateTime(connection.timeZone).toInstant().toString()
}

/** Returns the result of `parse`. Throws 502 `back_office_error` if the order is malformed. */
export function parseOrThrow<T>({ connection }: Client, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof InvalidRecord)) throw error
    connection.log?.warn({ reason: error.message }, 'order rejected')
    throw new ApiError('back_office_error')
  }
}
