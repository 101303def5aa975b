import type { Db } from '../../database/db.ts'
import type { CancellationInput, OrderName } from '../../domain/orders/orders.ts'
import { sum } from '../../domain/orders/pricing.ts'
import { buildRefund, type Refund } from '../../domain/orders/refunds.ts'
import type { ShipmentInput } from '../../domain/orders/shipments.ts'
import { lineTransitions } from '../../domain/orders/transitions.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { formatAmount } from '../../domain/values/money.ts'
import { ApiError, type FieldError, notFound } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import { lockStock, moveStock } from '../../store/inventory/stock.ts'
import { beginChange, type Change } from '../../store/lists/change-timestamp.ts'
import { advanceLines, type LockedLine, lockOrderWithLines, touchOrder } from '../../store/orders/lines.ts'
import { type LockedOrder, orderRecord, readCharges } from '../../store/orders/orders.ts'
import { addSale } from '../../store/orders/sales.ts'
import { findShipmentByKey, writeShipments } from '../../store/orders/shipments.ts'
import { earnRewards, type LockedRewardAccount, lockRewardAccount } from '../../store/rewards/ledger.ts'
import type { WithTransaction } from '../../writes/write.ts'
import type { WrittenRecord } from '../port/orders.ts'
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

/**
 * Ships the unshipped lines of an order as one shipment. Their allocated units leave the stock. Returns the order and the key of the
 * shipment. Throws `invalid_transition` if it has none.
 */
export async function shipOrder(
  tx: Db,
  service: Service,
  name: OrderName,
  { carrier, trackingNumber, trackingUrl }: ShipmentInput = {},
): Promise<{ order: LockedOrder; key: string }> {
  const { order, selected } = await lockUnshippedLines(tx, service, name, 'ship')
  const moves = selected.flatMap(({ storeId, skuId, quantity, isAllocated }) =>
    storeId !== null && isAllocated ? [{ storeId, skuId, quantity: -quantity, allocated: -quantity }] : [],
  )
  const [, account, change] = await Promise.all([
    lockStock(tx, service, moves),
    lockRewardAccount(tx, service, order.customerId),
    beginChange(tx, service, ['stock', 'retail_transaction', 'sales_order', 'shipment']),
  ])
  // A line is shipped once, so its lines distinguish the shipment.
  const key = `lines ${selected.map(({ sequence }) => sequence).join(', ')}`
  const shipment = {
    carrier: carrier ?? null,
    trackingNumber: trackingNumber ?? null,
    trackingUrl: trackingUrl ?? null,
    shippedAt: change.at,
    key,
    lines: selected.map(({ sequence, sku, quantity }) => ({ orderSequence: sequence, sku, quantity })),
    cartons: [],
  }
  await Promise.all([
    moveStock(tx, service, change, moves),
    advanceLines(tx, service, order, selected, lineTransitions.ship),
    writeShipments(tx, service, change, order, [shipment]),
    recordShipment(tx, service, change, { order, account, lines: selected }),
    touchOrder(tx, service, order, change),
  ])
  return { order, key }
}

/** Ships the unshipped lines of an order and returns the shipment. */
export async function createShipment(
  { tx, service }: WithTransaction,
  idOrNumber: string,
  input: ShipmentInput,
): Promise<WrittenRecord> {
  const { order, key } = await shipOrder(tx, service, { idOrNumber }, input)
  const shipment = await findShipmentByKey(tx, service, order, key)
  if (!shipment) throw new Error('inserted shipment not found')
  return shipment
}

/**
 * Cancels lines of an order: returns their stock and refunds the vouchers that paid for them. Freight and taxes are refunded too if nothing
 * was shipped and no line is left. Returns the order and the refund. Throws `invalid_transition` if a line is not `processing`.
 */
export async function cancelOrder(
  tx: Db,
  service: Service,
  name: OrderName,
  { lines: selection }: CancellationInput = {},
): Promise<{ order: LockedOrder; refund: Refund }> {
  const { order, selected, isUnsent, isComplete } = await lockUnshippedLines(tx, service, name, 'cancel', selection)
  const charges = isUnsent && isComplete ? await readCharges(tx, service, order) : 0n
  const total = sumValues(selected) + charges
  const vouchers = await refundVouchers(tx, service, order, total)
  const moves = selected.flatMap(({ storeId, skuId, quantity, isAllocated }) =>
    storeId === null ? [] : [{ storeId, skuId, ...(isAllocated ? { allocated: -quantity } : { quantity }) }],
  )
  await lockStock(tx, service, moves)
  const change = await beginChange(tx, service, ['stock', 'sales_order'])
  await advanceLines(tx, service, order, selected, lineTransitions.cancel)
  await moveStock(tx, service, change, moves)
  await touchOrder(tx, service, order, change)
  return { order, refund: buildRefund(order, total, vouchers) }
}

/** Cancels lines of an order and returns the order with the refund. */
export async function createCancellation(
  { tx, service }: WithTransaction,
  idOrNumber: string,
  input: CancellationInput,
): Promise<WrittenRecord> {
  const { order, refund } = await cancelOrder(tx, service, { idOrNumber }, input)
  const stored = await orderRecord(tx, service, order.id)
  if (!stored) throw new Error('cancelled order not found')
  return { id: order.id, record: `{"order":${stored.record},"refund":${JSON.stringify(refund)}}` }
}

/**
 * Locks an order and returns the selected lines, by default all unshipped ones. `isUnsent`: no line was shipped. `isComplete`: no other
 * line is unshipped. An imported order can have lines in any status.
 */
async function lockUnshippedLines(
  tx: Db,
  service: Service,
  name: OrderName,
  action: 'ship' | 'cancel',
  selection?: CancellationInput['lines'],
) {
  const locked = await lockOrderWithLines(tx, service, name)
  if (!locked) throw 'number' in name ? new ApiError('not_found', `Order ${name.number} not found.`) : notFound('order')
  const { order, lines } = locked
  const unshipped = lines.filter(line => line.status === lineTransitions.ship.from)
  const isUnsent = lines.every(
    line => line.status === lineTransitions.ship.from || line.status === lineTransitions.cancel.to,
  )
  const participle = lineTransitions[action].to
  if (!unshipped.length)
    throw new ApiError(
      'invalid_transition',
      `Order ${order.number} can't be ${participle}: it is already ${isUnsent ? 'cancelled' : 'shipped. If goods come back, create a return'}.`,
    )
  const selected = selection ? selectLines(order, lines, selection, participle) : unshipped
  return { order, selected, isUnsent, isComplete: selected.length === unshipped.length }
}

/** Returns the selected lines, each once. Throws the errors of all lines that don't exist or are not `processing`. */
function selectLines(
  order: LockedOrder,
  lines: readonly LockedLine[],
  selection: NonNullable<CancellationInput['lines']>,
  participle: string,
): LockedLine[] {
  const errors = selection.flatMap(({ orderLineId }, i): FieldError[] => {
    const pointer = `/lines/${i}/orderLineId`
    const line = lines.find(({ sequence }) => String(sequence) === orderLineId)
    if (!line) return [{ pointer, code: 'invalid_field', detail: `Order ${order.number} has no line ${orderLineId}.` }]
    if (line.status === lineTransitions.ship.from) return []
    const alternative = line.status === 'shipped' ? 'It can be returned.' : 'No action is possible.'
    const detail = `Line ${orderLineId} is ${line.status}, so it can't be ${participle}. ${alternative}`
    return [{ pointer, code: 'invalid_transition', detail }]
  })
  throwIfAny(errors)
  const ids = new Set(selection.map(({ orderLineId }) => orderLineId))
  return lines.filter(({ sequence }) => ids.has(String(sequence)))
}
