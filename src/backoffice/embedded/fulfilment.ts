import type { Db } from '../../database/db.ts'
import type { Writer } from '../../domain/audit.ts'
import type { CancellationInput, OrderLineSelection, OrderName } from '../../domain/orders/orders.ts'
import { computeUnitsValue, sum } from '../../domain/orders/pricing.ts'
import type { Refund } from '../../domain/orders/refunds.ts'
import type { ShipmentInput, Tracking } from '../../domain/orders/shipments.ts'
import {
  lineTransitions,
  type PickupAction,
  pickupTransitions,
  requirePermittedPickup,
} from '../../domain/orders/transitions.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { formatAmount } from '../../domain/values/money.ts'
import { ApiError, type FieldError, notFound, toApiError } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import { findStoresByNumber } from '../../store/catalog/stores.ts'
import { lockStock, moveStock } from '../../store/inventory/stock.ts'
import { beginChange, type Change } from '../../store/lists/change-timestamp.ts'
import { addCancellation } from '../../store/orders/cancellations.ts'
import {
  fulfilLines,
  type LineUnits,
  type LockedLine,
  lockOrderWithLines,
  touchOrder,
} from '../../store/orders/lines.ts'
import {
  findOrderRecord,
  type LockedOrder,
  readCharges,
  readPickupStatus,
  setPickupStatus,
} from '../../store/orders/orders.ts'
import { markReturnedSequences } from '../../store/orders/returns.ts'
import { addSale, type Sale } from '../../store/orders/sales.ts'
import { countShipments, findShipmentByKey, writeShipments } from '../../store/orders/shipments.ts'
import { earnRewards, type LockedRewardAccount, lockRewardAccount } from '../../store/rewards/ledger.ts'
import { getWriter, type WithTransaction } from '../../writes/write.ts'
import type { WrittenRecord } from '../port/orders.ts'
import { refundOrder } from './refunds.ts'

/** Records the sale of shipped units in the customer's history, and the rewards that it earns. */
export const recordShipment = (
  tx: Db,
  service: Service,
  change: Change,
  { order, account, ...sale }: { order: LockedOrder; account: LockedRewardAccount | undefined } & Sale,
) =>
  Promise.all([
    addSale(tx, service, change, order, sale),
    earnRewards(tx, service, account, {
      orderNumber: order.number,
      amount: formatAmount(sumValues(sale.units), order.decimals),
    }),
  ])

const sumValues = (units: readonly { value: bigint }[]) => sum(units.map(({ value }) => value))

/**
 * Ships open units of an order as one shipment, by default all of them. Its allocated units leave the stock, of `storeNumber` if the input
 * has it. Returns the order and the key of the shipment. Throws `invalid_transition` if units are not open.
 */
export async function shipOrder(
  tx: Db,
  service: Service,
  name: OrderName,
  { lines, storeNumber, ...tracking }: ShipmentInput = {},
): Promise<{ order: LockedOrder; key: string }> {
  const [{ order, selected }, shippedFrom] = await Promise.all([
    lockOpenUnits(tx, service, name, lineTransitions.ship.to, lines),
    storeNumber ? findStore(tx, service, storeNumber) : null,
  ])
  const key = await shipUnits(tx, service, order, selected, { ...tracking, shippedFrom })
  return { order, key }
}

/** Ships units of a locked order as one shipment, from their own stores or from `shippedFrom`. Returns the key of the shipment. */
async function shipUnits(
  tx: Db,
  service: Service,
  order: LockedOrder,
  selected: readonly LineUnits[],
  { carrier, trackingNumber, trackingUrl, shippedFrom = null }: Tracking & { shippedFrom?: string | null } = {},
): Promise<string> {
  const moves = selected.flatMap(({ line: { storeId, skuId, isAllocated }, quantity }) => [
    ...(storeId !== null && isAllocated ? [{ storeId, skuId, allocated: -quantity }] : []),
    // Units that are not allocated have left the stock of their store with the order.
    ...(storeId !== null && !isAllocated && shippedFrom !== null ? [{ storeId, skuId, quantity }] : []),
    ...[shippedFrom ?? (isAllocated ? storeId : null)].flatMap(from =>
      from === null ? [] : [{ storeId: from, skuId, quantity: -quantity }],
    ),
  ])
  const [, account, earlier, change] = await Promise.all([
    lockStock(tx, service, moves),
    lockRewardAccount(tx, service, order.customerId),
    countShipments(tx, service, order),
    beginChange(tx, service, ['stock', 'retail_transaction', 'sales_order', 'shipment']),
  ])
  const ordinal = earlier + 1
  const key = `shipment ${ordinal}`
  const shipment = {
    carrier: carrier ?? null,
    trackingNumber: trackingNumber ?? null,
    trackingUrl: trackingUrl ?? null,
    storeId: shippedFrom,
    shippedAt: change.at,
    key,
    lines: selected.map(({ line: { sequence, sku }, quantity }) => ({ orderSequence: sequence, sku, quantity })),
    cartons: [],
  }
  const units = selected.map(({ line: { sequence }, quantity, value }) => ({ sequence, quantity, value }))
  await Promise.all([
    moveStock(tx, service, change, moves),
    recordShipment(tx, service, change, { order, account, units, ordinal, storeId: shippedFrom }),
    fulfilLines(tx, service, order, selected, 'ship', shippedFrom),
    writeShipments(tx, service, change, order, [shipment]),
    touchOrder(tx, service, order, change),
  ])
  return key
}

async function findStore(tx: Db, service: Service, storeNumber: string): Promise<string> {
  const [store] = await findStoresByNumber(tx, service, [storeNumber])
  if (store) return store.store_id
  throw toApiError([{ pointer: '/storeNumber', code: 'invalid_field', detail: `Store ${storeNumber} not found.` }])
}

/** Ships open units of an order and returns the shipment. */
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
 * Cancels open units of an order, by default all of them: returns their stock and refunds the vouchers that paid for them. Freight and taxes
 * are refunded too if nothing was shipped and no unit is left. Returns the order and the refund. Throws `invalid_transition` if units are
 * not open. The order keeps a record of the cancellation.
 */
export async function cancelOrder(
  tx: Db,
  service: Service,
  name: OrderName,
  { lines }: CancellationInput = {},
  writer?: Writer,
): Promise<{ order: LockedOrder; refund: Refund }> {
  const { order, selected, isUnsent, isComplete } = await lockOpenUnits(
    tx,
    service,
    name,
    lineTransitions.cancel.to,
    lines,
  )
  const charges = isUnsent && isComplete ? await readCharges(tx, service, order) : 0n
  const refund = await refundOrder(tx, service, order, sumValues(selected) + charges, writer)
  const moves = selected.flatMap(({ line: { storeId, skuId, isAllocated }, quantity }) =>
    storeId === null ? [] : [{ storeId, skuId, ...(isAllocated ? { allocated: -quantity } : { quantity }) }],
  )
  await lockStock(tx, service, moves)
  const change = await beginChange(tx, service, ['stock', 'sales_order'])
  await fulfilLines(tx, service, order, selected, 'cancel')
  const returned = selected.flatMap(({ line: { sequence, returned: units } }) => (units > 0 ? [sequence] : []))
  if (returned.length) await markReturnedSequences(tx, service, order, returned)
  await moveStock(tx, service, change, moves)
  await addCancellation(tx, service, order, change, {
    username: writer?.username ?? null,
    apiKey: writer?.apiKey ?? null,
    lines: selected.map(({ line: { sku }, quantity }) => ({ sku, quantity })),
    refund,
  })
  return { order, refund }
}

/**
 * Marks an order as ready for collection, or as collected. A collected order is shipped: its open units leave the stock. Returns the order.
 * Throws `invalid_transition` if the shopper doesn't collect it, no unit is open, or its status doesn't permit the action.
 */
export async function advancePickup(
  tx: Db,
  service: Service,
  name: OrderName,
  action: PickupAction,
): Promise<LockedOrder> {
  const { order, selected } = await lockOpenUnits(tx, service, name, pickupTransitions[action].to)
  requirePermittedPickup(order, await readPickupStatus(tx, service, order), action)
  if (action === 'collect') await shipUnits(tx, service, order, selected)
  else await touchOrder(tx, service, order, await beginChange(tx, service, ['sales_order']))
  await setPickupStatus(tx, service, order, pickupTransitions[action].to)
  return order
}

/** Marks an order as ready for collection, or as collected, and returns it. */
export const createPickupStep =
  (action: PickupAction) =>
  async ({ tx, service }: WithTransaction, idOrNumber: string): Promise<WrittenRecord> => {
    const { id } = await advancePickup(tx, service, { idOrNumber }, action)
    return { id, record: await readOrder(tx, service, id) }
  }

async function readOrder(tx: Db, service: Service, id: string): Promise<string> {
  const stored = await findOrderRecord(tx, service, id)
  if (!stored) throw new Error('changed order not found')
  return stored.record
}

/** Cancels lines of an order and returns the order with the refund. */
export async function createCancellation(
  write: WithTransaction,
  idOrNumber: string,
  input: CancellationInput,
): Promise<WrittenRecord> {
  const { tx, service } = write
  const { order, refund } = await cancelOrder(tx, service, { idOrNumber }, input, getWriter(write))
  const record = await readOrder(tx, service, order.id)
  return { id: order.id, record: `{"order":${record},"refund":${JSON.stringify(refund)}}` }
}

/**
 * Locks an order and returns the selected units, by default all open ones. `isUnsent`: no unit was shipped. `isComplete`: no other unit is
 * open. An imported order can have lines in any status.
 */
async function lockOpenUnits(
  tx: Db,
  service: Service,
  name: OrderName,
  targetStatus: string,
  selection?: OrderLineSelection | null,
) {
  const locked = await lockOrderWithLines(tx, service, name)
  if (!locked) throw 'number' in name ? new ApiError('not_found', `Order ${name.number} not found.`) : notFound('order')
  const { order, lines } = locked
  const isUnsent = lines.every(({ shipped }) => shipped === 0)
  const open = lines.flatMap(line => (countOpen(line) > 0 ? [selectUnits(line, countOpen(line))] : []))
  if (!open.length)
    throw new ApiError(
      'invalid_transition',
      `Order ${order.number} can't be ${targetStatus}: it is already ${isUnsent ? 'cancelled' : 'shipped. If goods come back, create a return'}.`,
    )
  const selected = selection ? selectLines(order, lines, selection, targetStatus) : open
  return { order, selected, isUnsent, isComplete: countUnits(selected) === countUnits(open) }
}

const countOpen = ({ quantity, shipped, cancelled }: LockedLine) => quantity - shipped - cancelled
const countUnits = (units: readonly LineUnits[]) => units.reduce((count, { quantity }) => count + quantity, 0)
const selectUnits = (line: LockedLine, quantity: number): LineUnits => ({
  line,
  quantity,
  value: computeUnitsValue(line, quantity),
})

/** Returns the selected units in the order of their lines. Throws the errors of all lines that don't exist, repeat or have too few open units. */
function selectLines(
  order: LockedOrder,
  lines: readonly LockedLine[],
  selection: OrderLineSelection,
  targetStatus: string,
): LineUnits[] {
  const selected = new Map<LockedLine, LineUnits>()
  const errors = selection.flatMap(({ orderLineId, quantity }, i): FieldError[] => {
    const pointer = `/lines/${i}/orderLineId`
    const line = lines.find(({ sequence }) => String(sequence) === orderLineId)
    if (!line) return [{ pointer, code: 'invalid_field', detail: `Order ${order.number} has no line ${orderLineId}.` }]
    if (selected.has(line))
      return [{ pointer, code: 'invalid_field', detail: `Line ${orderLineId} can't be listed twice. Merge the two.` }]
    const open = countOpen(line)
    if (open === 0) {
      const alternative = line.returned < line.shipped ? 'It can be returned.' : 'No action is possible.'
      const detail = `Line ${orderLineId} is ${line.status}, so it can't be ${targetStatus}. ${alternative}`
      return [{ pointer, code: 'invalid_transition', detail }]
    }
    selected.set(line, selectUnits(line, Math.min(quantity ?? open, open)))
    if (quantity == null || quantity <= open) return []
    const detail = `At most ${open} of line ${orderLineId} can be ${targetStatus}, not ${quantity}.`
    return [{ pointer: `/lines/${i}/quantity`, code: 'invalid_transition', detail }]
  })
  throwIfAny(errors)
  return lines.flatMap(line => selected.get(line) ?? [])
}
