/**
 * The units of an order while it is sent: a reservation of the order itself, so that concurrent orders can't be sent for the same units.
 * It has the units that the shopper's reservation lacks. A crash leaves it to expire.
 */
import type { Db } from '../../../database/db.ts'
import { releaseMoves, reservationExpired } from '../../../domain/inventory/reservations.ts'
import { checkStock, countUnits } from '../../../domain/orders/order-rules.ts'
import type { OrderInput } from '../../../domain/orders/orders.ts'
import type { FieldError } from '../../../errors/api-error.ts'
import {
  endReservation,
  extendReservation,
  lockReservation,
  type ReservationLine,
  storeReservation,
} from '../../../store/inventory/reservations.ts'
import { lockStock, moveStock, readSellableLevels } from '../../../store/inventory/stock.ts'
import { beginChange } from '../../../store/lists/change-timestamp.ts'
import type { SoldVariant } from '../../../store/orders/place.ts'
import type { Write } from '../../../writes/write.ts'

/** Seconds for which units stay reserved while their order is sent: longer than such a write can take. */
const orderSeconds = 60

type Variants = ReadonlyMap<string, SoldVariant>

const getHoldId = (reference: string) => `order ${reference}`

/**
 * Extends the shopper's reservation. Returns an error for each SKU with too few units, and a function that reserves the units of the order.
 * Throws `reservation_expired`.
 */
export async function prepareHold(
  tx: Db,
  { service, reference, isDryRun }: Write,
  { lines, reservationId }: OrderInput,
  variants: Variants,
): Promise<{ errors: FieldError[]; hold: () => Promise<void> }> {
  const shopperReservation = reservationId ? await lockReservation(tx, service, reservationId) : undefined
  if (reservationId && !shopperReservation) throw reservationExpired()
  if (shopperReservation) await extendReservation(tx, service, shopperReservation.id, orderSeconds)
  if (service.settings.oversell === 'allow') return { errors: [], hold: async () => {} }
  const id = getHoldId(reference)
  const previous = await lockReservation(tx, service, id)
  const levels = await readSellableLevels(
    tx,
    service,
    [...variants.values()].map(({ skuId }) => skuId),
    id,
  )
  const reserved = Map.groupBy(shopperReservation?.lines ?? [], ({ skuId }) => skuId)
  const sellable = new Map(
    [...variants.values()].map(({ skuId }) => [
      skuId,
      sum(reserved.get(skuId) ?? []) + sum(levels.filter(level => level.skuId === skuId)),
    ]),
  )
  const errors = lines.every(({ sku }) => variants.has(sku)) ? checkStock(lines, sellable, variants) : []
  const hold = async () => {
    if (isDryRun) return
    const held: Omit<ReservationLine, 'sequence'>[] = []
    for (const [sku, ordered] of countUnits(lines)) {
      const skuId = variants.get(sku)?.skuId
      let missing = ordered - sum(reserved.get(skuId ?? '') ?? [])
      for (const level of levels) {
        const quantity = level.skuId === skuId ? Math.min(missing, level.quantity) : 0
        if (quantity <= 0) continue
        held.push({ ...level, quantity, requested: quantity })
        missing -= quantity
      }
    }
    if (!held.length && !previous) return
    const moves = [
      ...held.map(line => ({ ...line, quantity: 0, reserved: line.quantity })),
      ...releaseMoves(previous?.lines ?? []),
    ]
    const change = await beginChange(tx, service, ['stock'])
    const reservation = { id, reference: null, account: '', seconds: orderSeconds, hasLines: true }
    await storeReservation(
      tx,
      service,
      reservation,
      held.map((line, i) => ({ ...line, sequence: i + 1 })),
    )
    await moveStock(tx, service, change, moves)
  }
  return { errors, hold }
}

/**
 * Ends the reservations of an order that the back office has, and takes its units off the stock: they must not become sellable until the
 * stock is read again. An expired reservation may have ended while the back office was called.
 */
export async function useHold(
  tx: Db,
  { service, reference }: Pick<Write, 'service' | 'reference'>,
  { lines, reservationId }: OrderInput,
  variants: Variants,
) {
  const reservations = []
  for (const id of [...(reservationId ? [reservationId] : []), getHoldId(reference)]) {
    const reservation = await lockReservation(tx, service, id)
    if (reservation) reservations.push(reservation)
  }
  if (!reservations.length) return
  const open = new Map([...countUnits(lines)].map(([sku, units]) => [variants.get(sku)?.skuId ?? '', units]))
  const moves = reservations.flatMap(reservation => {
    return releaseMoves(reservation.lines).map(move => {
      const sold = Math.min(-move.reserved, open.get(move.skuId) ?? 0)
      open.set(move.skuId, (open.get(move.skuId) ?? 0) - sold)
      return { ...move, quantity: -sold }
    })
  })
  await lockStock(tx, service, moves)
  const change = await beginChange(tx, service, ['stock'])
  for (const { id } of reservations) await endReservation(tx, service, id)
  await moveStock(tx, service, change, moves)
}

/** Ends the reservation of an order that the back office doesn't have. */
export async function releaseHold(tx: Db, { service, reference }: Pick<Write, 'service' | 'reference'>) {
  const reservation = await lockReservation(tx, service, getHoldId(reference))
  if (!reservation) return
  const moves = releaseMoves(reservation.lines)
  await lockStock(tx, service, moves)
  const change = await beginChange(tx, service, ['stock'])
  await endReservation(tx, service, reservation.id)
  await moveStock(tx, service, change, moves)
}

const sum = (lines: readonly { quantity: number }[]) => lines.reduce((units, { quantity }) => units + quantity, 0)
