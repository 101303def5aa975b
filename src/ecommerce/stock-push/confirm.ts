import type { Database } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { findOrdersOfLevels, storeCommitments } from '../../store/ecommerce/commitments.ts'
import { type LevelKey, type Observation, type selectDue, storeObservations } from '../../store/ecommerce/levels.ts'
import { readDatabaseTime } from '../../store/lists/change-timestamp.ts'
import type { InventoryPort } from '../port/inventory.ts'

type DueLevel = Awaited<ReturnType<typeof selectDue>>[number]

/** Reads levels by ID. A level that the platform doesn't return is no longer stocked there: its `onHand` is null. */
export async function readObservations(
  inventory: InventoryPort,
  levels: readonly LevelKey[],
  signal: AbortSignal,
): Promise<Observation[]> {
  const observed = await inventory.readLevels([...new Set(levels.map(({ itemId }) => itemId))], signal)
  const byKey = new Map(observed.map(level => [`${level.itemId} ${level.locationId}`, level]))
  return levels.map(
    ({ itemId, locationId }) =>
      byKey.get(`${itemId} ${locationId}`) ?? { itemId, locationId, onHand: null, committed: 0, heldBack: 0 },
  )
}

/** Reads the committed units of orders by ID and stores them. Returns the number of open lines. */
export async function confirmOrders(
  db: Database,
  service: Service,
  inventory: InventoryPort,
  orderIds: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  const readAt = await readDatabaseTime(db)
  const orders = await inventory.readCommitments(orderIds, signal)
  const commitments = orders.flatMap(({ orderId, lines }) => lines.map(line => ({ orderId, ...line })))
  return db.transaction(tx => storeCommitments(tx, service, { orderIds, readAt, commitments }))
}

/**
 * Reads the facts that on-hand doesn't include, right before quantities are computed. Reads items with an unknown quantity or held-back units
 * first, then orders with committed units: a fulfilment between these reads then makes the compare-and-set fail. Makes at most one call of each
 * kind. Returns the confirmed levels. All other levels wait for the next cycle.
 */
export async function confirmLevels(
  db: Database,
  service: Service,
  inventory: InventoryPort,
  due: readonly DueLevel[],
  signal: AbortSignal,
): Promise<LevelKey[]> {
  const { limits } = inventory
  const items = new Set<string>()
  const readable = due.filter(({ itemId, mustRead, hasHeldBack }) => {
    if (!(mustRead || hasHeldBack)) return true
    if (!items.has(itemId) && items.size >= limits.items) return false
    items.add(itemId)
    return true
  })
  const toRead = readable.filter(({ itemId }) => items.has(itemId))
  if (toRead.length) {
    const observations = await readObservations(inventory, toRead, signal)
    await db.transaction(tx => storeObservations(tx, service, observations))
  }
  const committed = await findOrdersOfLevels(db, service, readable)
  const orders = new Set([...new Set(committed.map(({ orderId }) => orderId))].slice(0, limits.orders))
  if (orders.size) await confirmOrders(db, service, inventory, [...orders], signal)
  const unconfirmed = new Set(
    committed.filter(({ orderId }) => !orders.has(orderId)).map(({ itemId, locationId }) => `${itemId} ${locationId}`),
  )
  return readable.filter(({ itemId, locationId }) => !unconfirmed.has(`${itemId} ${locationId}`))
}
