import { releaseMoves, reservationExpired } from '../../domain/inventory/reservations.ts'
import { exchangeGateway } from '../../domain/orders/exchanges.ts'
import { checkStock, orderNumberTaken, priceOrder, sortErrors } from '../../domain/orders/order-rules.ts'
import type { OrderInput } from '../../domain/orders/orders.ts'
import { resolveQuote } from '../../domain/orders/quotes.ts'
import { lineTransitions } from '../../domain/orders/transitions.ts'
import { forEachVoucher } from '../../domain/orders/voucher-payments.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { formatAmount, getDecimals } from '../../domain/values/money.ts'
import { type FieldError, toApiError } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import { endReservation, lockReservation } from '../../store/inventory/reservations.ts'
import { lockStock, moveStock, readSellable } from '../../store/inventory/stock.ts'
import {
  findStockSources,
  hasScarceSku,
  markScarce,
  type StockSources,
  shareStockSources,
} from '../../store/inventory/stock-sources.ts'
import { beginChange } from '../../store/lists/change-timestamp.ts'
import { reserveNumber, useNumber } from '../../store/orders/numbers.ts'
import { findOrderRecord, type LockedOrder } from '../../store/orders/orders.ts'
import {
  findVariants,
  insertLines,
  insertOrder,
  insertPayments,
  isOrderNumberStored,
  readOrderContext,
} from '../../store/orders/place.ts'
import { lockRewardAccount } from '../../store/rewards/ledger.ts'
import { getWriter, type WithTransaction, type Write } from '../../writes/write.ts'
import type { WrittenRecord } from '../port/orders.ts'
import { findGiftCardSkuId } from '../vouchers/gift-card.ts'
import { recordShipment } from './fulfilment.ts'
import { redeemVoucher } from './vouchers/redeem.ts'

/**
 * Rejects an order of scarce SKUs before it waits for a connection: a crowd shares one query and leaves the connections to other writes. An
 * order with a used number passes, because it can be the repeat of the order that took the units.
 */
export async function rejectSoldOut({ service, read }: Write, input: OrderInput) {
  if (!isCheckedFirst(service, input)) return
  const { lines, pickupStoreNumber, orderNumber } = input
  const sources = await read(db => shareStockSources(db, service, listSkus(lines), pickupStoreNumber ?? undefined))
  const errors = findShortages(lines, sources)
  if (errors.length && orderNumber && (await read(db => isOrderNumberStored(db, service, orderNumber)))) return
  throwIfShort(service, lines, errors)
}

const listSkus = (lines: OrderInput['lines']) => lines.map(({ sku }) => sku)

/** True if the units of an order are checked before anything else. */
const isCheckedFirst = (service: Service, { lines, reservationId, quoteId }: OrderInput) =>
  service.settings.oversell === 'refuse' && !reservationId && !quoteId && hasScarceSku(service, listSkus(lines))

/** Returns the errors of lines beyond the units of the sources. Returns none if a SKU has no source: it may be unknown. */
const findShortages = (lines: OrderInput['lines'], sources: StockSources) =>
  lines.every(({ sku }) => sources.has(sku)) ? checkStock(lines, countSourceUnits(sources), sources) : []

const countSourceUnits = (sources: StockSources) =>
  new Map([...sources.values()].map(({ skuId, units }) => [skuId, units]))

/** Throws the errors of `checkStock`, if there are any. */
function throwIfShort(service: Service, lines: OrderInput['lines'], errors: FieldError[]) {
  if (errors.length) markScarce(service, listSkus(lines))
  throwIfAny(errors)
}

/** Places an order in our own tables. Locks rows in this order: customer, order number, vouchers by number, reservation, stock, reward account. */
export async function placeOrder(
  write: WithTransaction,
  requested: OrderInput,
  exchange?: ExchangedReturn,
): Promise<WrittenRecord & { credit: bigint }> {
  const { tx, service, keys } = write
  const { currency, fulfilment, allocated, oversell } = service.settings
  const decimals = getDecimals(currency)
  const { input, isQuoted, errors: quoteErrors } = resolveQuote(keys, service, requested)
  const skus = listSkus(input.lines)
  const { orderNumber } = input
  const pendingSources = findStockSources(tx, service, skus, input.pickupStoreNumber ?? undefined)
  if (orderNumber == null && isCheckedFirst(service, requested))
    throwIfShort(service, input.lines, findShortages(input.lines, await pendingSources))
  const [soldVariants, context, giftCard, sources, reserved] = await Promise.all([
    findVariants(tx, service, skus, decimals),
    readOrderContext(tx, service, input),
    findGiftCardSkuId(tx, service),
    pendingSources,
    typeof orderNumber === 'string' ? undefined : reserveNumber(tx, service, 'order'),
  ])
  const variants = new Map(soldVariants.map(variant => [variant.sku, variant]))
  const facts = { ...context, giftCardSkuId: giftCard, variants, isQuoted, availableCredit: exchange?.available ?? 0n }
  const priced = priceOrder(input, facts, currency, decimals)
  throwIfAny(sortErrors([...quoteErrors, ...priced.errors]))
  const { reservationId } = input
  // Rejects before the order is inserted and stock is locked: a crowd that gets none of the last units must not delay those who get them.
  if (oversell === 'refuse' && !reservationId)
    throwIfShort(service, input.lines, checkStock(input.lines, countSourceUnits(sources), variants))

  const place = async () => {
    const insert = (number: string) => insertOrder(tx, service, { number }, input, { ...priced, currency, decimals })
    const order = reserved ? await useNumber(tx, service, 'order', reserved, insert) : await insert(orderNumber ?? '')
    if (!order)
      throw toApiError([orderNumberTaken('/orderNumber', `Order number ${input.orderNumber} is already used.`)])
    return order
  }
  const placing = place()
  if (input.payments.some(({ voucher }) => voucher)) await redeemVouchers(write, await placing, input)
  const isShipped = fulfilment === 'automatic'
  const isAllocated = !isShipped && allocated === 'excluded'
  const reservation = reservationId ? await lockReservation(tx, service, reservationId) : undefined
  if (reservationId && !reservation) throw reservationExpired()
  const storeIds = new Map<string, string>()
  const ordered = input.lines.flatMap(({ sku, quantity }) => {
    const skuId = variants.get(sku)?.skuId ?? ''
    const reservedStore = input.pickupStoreNumber
      ? undefined
      : reservation?.lines.find(line => line.skuId === skuId)?.storeId
    const storeId = reservedStore ?? sources.get(sku)?.storeId
    if (storeId === undefined) return []
    storeIds.set(sku, storeId)
    return [{ storeId, skuId, ...(isAllocated ? { allocated: quantity } : { quantity: -quantity }) }]
  })
  const moves = [...ordered, ...(reservation ? releaseMoves(reservation.lines) : [])]
  const [order, , sellable, account, change] = await Promise.all([
    placing,
    lockStock(tx, service, moves),
    oversell === 'refuse' ? readSellable(tx, service, ordered, reservation?.id) : undefined,
    isShipped ? lockRewardAccount(tx, service, input.customerId) : undefined,
    beginChange(tx, service, ['stock', 'retail_transaction']),
  ])
  if (sellable) throwIfShort(service, input.lines, checkStock(input.lines, sellable, variants))
  const shipped = input.lines.map(({ quantity }, i) => ({
    sequence: i + 1,
    quantity,
    value: priced.lines[i]?.value ?? 0n,
  }))
  const [, , , , record] = await Promise.all([
    insertLines(tx, service, order, input.lines, priced.lines, variants, {
      sources: storeIds,
      status: isShipped ? lineTransitions.ship.to : lineTransitions.ship.from,
      isAllocated,
    }),
    insertPayments(tx, service, order, [
      ...input.payments,
      ...buildExchangePayments(exchange, priced.credit, decimals),
    ]),
    reservation && endReservation(tx, service, reservation.id),
    moveStock(tx, service, change, moves),
    findOrderRecord(tx, service, order.id),
    isShipped && recordShipment(tx, service, change, { order, account, units: shipped }),
  ])
  if (!record) throw new Error('inserted order not found')
  return { id: order.id, ...record, credit: priced.credit }
}

/** The return that pays for an order first, with its refund in minor units. */
interface ExchangedReturn {
  available: bigint
  returnNumber: string
}

const buildExchangePayments = (exchange: ExchangedReturn | undefined, credit: bigint, decimals: number) =>
  exchange && credit > 0n
    ? [{ gateway: exchangeGateway, amount: formatAmount(credit, decimals), reference: exchange.returnNumber }]
    : []

/** Redeems the vouchers that pay for an order. Throws the errors of all vouchers at once. */
function redeemVouchers(write: WithTransaction, { number: orderNumber }: LockedOrder, { payments }: OrderInput) {
  const { tx, service, keys } = write
  const writer = getWriter(write)
  return forEachVoucher(payments, payment => redeemVoucher(tx, keys, service, { ...payment, orderNumber, writer }))
}
