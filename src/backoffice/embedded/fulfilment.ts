import type { Db } from '../../database/db.ts'
import { lineTransitions } from '../../domain/orders/orders.ts'
import { sum } from '../../domain/orders/pricing.ts'
import type { Tracking } from '../../domain/orders/shipments.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { formatAmount } from '../../domain/values/money.ts'
import { lockStock, moveStock } from '../../store/inventory/stock.ts'
import { beginChange, type Change } from '../../store/lists/change-timestamp.ts'
import { advanceLines, type LockedLine, lockOrderWithLines, touchOrder } from '../../store/orders/lines.ts'
import { type LockedOrder, readCharges } from '../../store/orders/orders.ts'
import { addSale } from '../../store/orders/sales.ts'
import { writeShipments } from '../../store/orders/shipments.ts'
import { earnRewards, type LockedRewardAccount, lockRewardAccount } from '../../store/rewards/ledger.ts'
import { refundVouchers } from './vouchers/redeem.ts'

/** Records the sale of shipped lines in the customer's history, and the rewards that it earns. */
export const recordShipment = (
  tx: Db,
  service: Service,
  change: Change,
  {
    order,
    account,
    lines,
  }: { order: LockedOrder; account: LockedRewardAccount | undefined; lines: readonly ShippedLine[] },
) =>
  Promise.all([
    addSale(tx, service, change, order, lines),
    earnRewards(tx, service, account, {
      orderNumber: order.number,
      amount: formatAmount(sumValues(lines), order.decimals),
    }),
  ])

type ShippedLine = Pick<LockedLine, 'sequence' | 'value'>

const sumValues = (lines: readonly ShippedLine[]) => sum(lines.map(line => line.value))

/** Ships the unshipped lines of an order as one shipment. Their allocated units leave the stock. Returns the order. Throws if it has none. */
export async function shipOrder(
  tx: Db,
  service: Service,
  number: string,
  { carrier, trackingNumber, trackingUrl }: Tracking = {},
): Promise<LockedOrder> {
  const { order, unshipped } = await lockUnshippedLines(tx, service, number, 'shipped')
  const moves = unshipped.flatMap(({ storeId, skuId, quantity, isAllocated }) =>
    storeId !== null && isAllocated ? [{ storeId, skuId, quantity: -quantity, allocated: -quantity }] : [],
  )
  const [, account, change] = await Promise.all([
    lockStock(tx, service, moves),
    lockRewardAccount(tx, service, order.customerId),
    beginChange(tx, service, ['stock', 'retail_transaction', 'sales_order', 'shipment']),
  ])
  const shipment = {
    carrier: carrier ?? null,
    trackingNumber: trackingNumber ?? null,
    trackingUrl: trackingUrl ?? null,
    shippedAt: change.at,
    // An order can be shipped again only if lines were added, so the time distinguishes its shipments.
    key: change.at,
    lines: unshipped.map(({ sequence, sku, quantity }) => ({ orderSequence: sequence, sku, quantity })),
    cartons: [],
  }
  await Promise.all([
    moveStock(tx, service, change, moves),
    advanceLines(tx, service, order, lineTransitions.ship),
    writeShipments(tx, service, change, order, [shipment]),
    recordShipment(tx, service, change, { order, account, lines: unshipped }),
    touchOrder(tx, service, order, change),
  ])
  return order
}

/**
 * Cancels the unshipped lines of an order: returns their stock and refunds the vouchers that paid for them. Freight and taxes are refunded
 * too if nothing was shipped. Returns the order. Throws if it has no unshipped lines.
 */
export async function cancelOrder(tx: Db, service: Service, number: string): Promise<LockedOrder> {
  const { order, unshipped, isUnsent } = await lockUnshippedLines(tx, service, number, 'cancelled')
  const charges = isUnsent ? await readCharges(tx, service, order) : 0n
  await refundVouchers(tx, service, order, sumValues(unshipped) + charges)
  const moves = unshipped.flatMap(({ storeId, skuId, quantity, isAllocated }) =>
    storeId === null ? [] : [{ storeId, skuId, ...(isAllocated ? { allocated: -quantity } : { quantity }) }],
  )
  await lockStock(tx, service, moves)
  const change = await beginChange(tx, service, ['stock', 'sales_order'])
  await advanceLines(tx, service, order, lineTransitions.cancel)
  await moveStock(tx, service, change, moves)
  await touchOrder(tx, service, order, change)
  return order
}

/** Locks an order and returns its unshipped lines. `isUnsent`: no line was shipped. An imported order can have lines in any status. */
async function lockUnshippedLines(tx: Db, service: Service, number: string, action: 'shipped' | 'cancelled') {
  const locked = await lockOrderWithLines(tx, service, { number })
  if (!locked) throw new Error(`Order ${number} not found.`)
  const { order, lines } = locked
  const unshipped = lines.filter(line => line.status === lineTransitions.ship.from)
  const isUnsent = lines.every(
    line => line.status === lineTransitions.ship.from || line.status === lineTransitions.cancel.to,
  )
  if (!unshipped.length)
    throw new Error(
      `Order ${number} can't be ${action}: it is already ${isUnsent ? 'cancelled' : 'shipped. If goods come back, create a return'}.`,
    )
  return { order, unshipped, isUnsent }
}
