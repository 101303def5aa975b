import type { LineStatus } from '../../../domain/orders/orders.ts'
import { sum } from '../../../domain/orders/pricing.ts'
import type { Write } from '../../../domain/write.ts'
import { ApiError } from '../../../errors.ts'
import { knownSkuIds } from '../../../store/goods/stock.ts'
import { knownStores } from '../../../store/goods/stores.ts'
import { beginChange } from '../../../store/lists/change.ts'
import { followLines, type HeldLine, linesOf, stampOrder } from '../../../store/orders/lines.ts'
import { type HeldOrder, holdOrder } from '../../../store/orders/orders.ts'
import { insertLines, insertOrder, insertPayments, type SoldVariant } from '../../../store/orders/placing.ts'
import type { Client } from '../calls/client.ts'
import { orderFrom, orderIds, type ReadOrder, statusesIn } from '../records/order-read.ts'
import { Untranslatable } from '../xml/untranslatable.ts'
import type { Xml } from '../xml/xml.ts'
import { orderById, orderNumbered } from './order-search.ts'
import { isCustomer } from './people.ts'
import type { Upstream } from './upstream.ts'

/** An order that is held, with its lines as the back office sees them. */
export interface KnownOrder {
  order: HeldOrder
  /** A line that came back some other way has nothing left to return. */
  lines: HeldLine[]
}

/**
 * Holds an order and brings its lines up to date. One that our tables do not have, since it was placed before there was this service, is
 * fetched by its identifier (releases that can) or by its number, and becomes one of ours. Undefined: there is none.
 */
export async function knownOrder(upstream: Upstream, write: Write, key: string): Promise<KnownOrder | undefined> {
  const { tx, service } = write
  const { client, release } = upstream
  const own = await holdOrder(tx, service, { id: key })
  if (own) return upToDate(write, own, await orderById(client, release, own.id, own.customerId))
  const found = (await orderById(client, release, key)) ?? (await orderNumbered(client, key))
  if (!found) return
  const { id, personId } = readable(client, () => orderIds(found))
  // What is found by a number is as it was posted.
  const live = (await orderById(client, release, id, personId)) ?? found
  const order = (await holdOrder(tx, service, { id })) ?? (await adopt(upstream, write, live))
  return order && upToDate(write, order, live)
}

/** Follows the steps of lines that are shipped or cancelled by now. */
async function upToDate({ tx, service }: Write, order: HeldOrder, live: Xml | undefined): Promise<KnownOrder> {
  const before = await linesOf(tx, service, order)
  const seen = live ? statusesIn(live, before) : new Map<number, LineStatus>()
  const steps = before.flatMap(({ sequence, status }) => {
    const now = seen.get(sequence) ?? status
    return status === 'processing' && now !== status ? [{ sequence, status: stepTo(now) }] : []
  })
  if (steps.length) {
    const change = await beginChange(tx, service, ['retail_transaction'])
    await followLines(tx, service, order, steps)
    await stampOrder(tx, service, order, change)
  }
  const lines = steps.length ? await linesOf(tx, service, order) : before
  const isBack = ({ sequence, returned }: HeldLine) => returned === 0 && seen.get(sequence) === 'returned'
  return { order, lines: lines.map(line => (isBack(line) ? { ...line, returned: line.quantity } : line)) }
}

/** What is returned was shipped; how much of it came back is counted by returns. */
export const stepTo = (status: LineStatus): LineStatus => (status === 'returned' ? 'shipped' : status)

async function adopt(upstream: Upstream, write: Write, live: Xml): Promise<HeldOrder | undefined> {
  const { tx, service } = write
  const { client } = upstream
  const read = readable(client, () => orderFrom(live, service.settings.currency))
  if (read.lines.length === 0 || !(await isCustomer(upstream, write, read.personId))) return
  const { id, number, currency, decimals, freight, billingAddress, deliveryAddress } = read
  const header = { customerId: read.personId, billingAddress, deliveryAddress }
  const [pickup] = read.pickupStoreId ? await knownStores(tx, service, [read.pickupStoreId]) : []
  const order = await insertOrder(
    tx,
    service,
    { id, number, placedAt: placedAt(client, read) },
    { ...header, pickupStoreNumber: pickup?.number ?? null },
    { currency, decimals, freight, total: sum(read.lines.map(line => line.value)) + freight },
  )
  // Somebody else was about it, and has it by now.
  if (!order) return holdOrder(tx, service, { id })
  const sold = await soldAs(write, read)
  const variants = new Map(sold.map(variant => [variant.sku, variant]))
  const lines = read.lines.map(({ skuId, quantity, discounts }, i) => ({
    sku: sold[i]?.sku ?? skuId,
    quantity,
    discounts,
  }))
  await insertLines(tx, service, order, lines, read.lines, variants, new Map())
  const payments = read.payments.map(({ voucherNumber, ...payment }) => ({
    ...payment,
    ...(voucherNumber !== null && { voucher: { number: voucherNumber, validationId: '' } }),
  }))
  await insertPayments(tx, service, order, payments)
  return order
}

/** What each line sold: by our e-commerce SKU, or what comes nearest to it where the SKU is not known any more. */
async function soldAs({ tx, service }: Write, { lines }: ReadOrder): Promise<SoldVariant[]> {
  const known = await knownSkuIds(tx, service, [...new Set(lines.map(line => line.skuId))])
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

function placedAt({ connection }: Client, { placed }: ReadOrder): string | undefined {
  if (placed === null) return
  return Temporal.PlainDateTime.from(placed).toZonedDateTime(connection.timeZone).toInstant().toString()
}

function readable<T>({ connection }: Client, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error
    connection.log?.warn({ reason: error.message }, 'An order cannot be taken.')
    throw new ApiError('back_office_error')
  }
}
