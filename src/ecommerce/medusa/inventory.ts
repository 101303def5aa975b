import { semaphore } from '../../concurrency/semaphore.ts'
import type {
  InventoryPort,
  LevelActivation,
  ObservedLevel,
  OnHandChange,
  OnHandResult,
  OrderCommitments,
} from '../port/inventory.ts'
import { type MedusaClient, MedusaRejection } from './client.ts'
import { type MedusaList, readList } from './lists.ts'

/*
 * The stock of a Medusa: `stocked_quantity` is on hand, `reserved_quantity` is committed.
 *
 * Medusa has no compare-and-set and no idempotency keys. A push reads its levels right before it writes, and drops those whose quantity isn't the
 * expected one. The write overwrites a change between this read and the write. If the change was a fulfilment, the response shows fewer reserved
 * units, and the level is read again. A write whose outcome is unknown is never repeated: its levels are read first.
 */

/**
 * Each call has a high fixed cost in Medusa, so batches are large: 500 changes have about 70 kB, and Medusa accepts bodies of 100 kB. The IDs of a
 * read must fit into a URL.
 */
const limits = { changes: 500, items: 100, orders: 50 }

/** Medusa has no rate limit, but it is one process of Node.js: more writes at a time only wait there. */
const maxWrites = 4

export function createInventory(client: MedusaClient): InventoryPort {
  const writes = semaphore({ permits: maxWrites })
  return {
    limits,
    hasIdempotencyKeys: false,
    readAllLevels: signal => readAllLevels(client, signal),
    readLevels: (itemIds, signal) => readLevels(client, itemIds, signal),
    // Medusa doesn't record who has changed a level.
    readAuthors: async () => [],
    readCommitments: (orderIds, signal) => readCommitments(client, orderIds, signal),
    async reserveCall(signal) {
      const release = await writes.acquire(signal)
      return { release: async () => release() }
    },
    setOnHand: (_permit, _key, changes, signal) => setOnHand(client, changes, signal),
    activateLevel: (_permit, _key, activation, signal) => activateLevel(client, activation, signal),
  }
}

interface Level {
  location_id: string
  stocked_quantity: number
  reserved_quantity: number
}

interface InventoryItem {
  id: string
  location_levels: Level[]
}

const inventoryItems: MedusaList = {
  path: '/admin/inventory-items',
  field: 'inventory_items',
  fields: 'id,location_levels.location_id,location_levels.stocked_quantity,location_levels.reserved_quantity',
}

const toObserved = (itemId: string, { location_id, stocked_quantity, reserved_quantity }: Level): ObservedLevel => ({
  itemId,
  locationId: location_id,
  onHand: stocked_quantity,
  committed: reserved_quantity,
  heldBack: 0,
})

async function* readAllLevels(client: MedusaClient, signal: AbortSignal): AsyncGenerator<ObservedLevel> {
  for await (const { id, location_levels } of readList<InventoryItem>(client, inventoryItems, {}, signal))
    for (const level of location_levels) yield toObserved(id, level)
}

async function readLevels(client: MedusaClient, itemIds: readonly string[], signal: AbortSignal) {
  if (!itemIds.length) return []
  const items = await Array.fromAsync(readList<InventoryItem>(client, inventoryItems, { 'id[]': itemIds }, signal))
  return items.flatMap(({ id, location_levels }) => location_levels.map(level => toObserved(id, level)))
}

const orders: MedusaList = { path: '/admin/orders', field: 'orders', fields: 'id,items.id' }
const reservations: MedusaList = {
  path: '/admin/reservations',
  field: 'reservations',
  fields: 'id,line_item_id,inventory_item_id,location_id,quantity',
}

interface Reservation {
  id: string
  line_item_id: string
  inventory_item_id: string
  location_id: string
  quantity: number
}

/** Line items of one query of reservations. */
const linesPerCall = 100

/** The committed units of an order are the reservations of its lines. A fulfilment ends them. */
async function readCommitments(
  client: MedusaClient,
  orderIds: readonly string[],
  signal: AbortSignal,
): Promise<OrderCommitments[]> {
  if (!orderIds.length) return []
  const records = await Array.fromAsync(
    readList<{ id: string; items: { id: string }[] }>(client, orders, { 'id[]': orderIds }, signal),
  )
  const lineIds = records.flatMap(({ items }) => items.map(({ id }) => id))
  const byLine = new Map<string, Reservation[]>()
  for (let at = 0; at < lineIds.length; at += linesPerCall) {
    const query = { 'line_item_id[]': lineIds.slice(at, at + linesPerCall) }
    for await (const reservation of readList<Reservation>(client, reservations, query, signal))
      byLine.set(reservation.line_item_id, [...(byLine.get(reservation.line_item_id) ?? []), reservation])
  }
  return records.map(({ id, items }) => ({
    orderId: id,
    lines: items.flatMap(({ id: lineId }) => toLines(lineId, byLine.get(lineId) ?? [])),
  }))
}

/** A line can have several reservations of the same level. */
function toLines(lineId: string, list: readonly Reservation[]): OrderCommitments['lines'] {
  const byLevel = Map.groupBy(list, ({ inventory_item_id, location_id }) => `${inventory_item_id} ${location_id}`)
  return [...byLevel.values()].flatMap(group => {
    const [first] = group
    const units = group.reduce((sum, { quantity }) => sum + quantity, 0)
    return first && units > 0 ? [{ lineId, itemId: first.inventory_item_id, locationId: first.location_id, units }] : []
  })
}

const toKey = ({ itemId, locationId }: { itemId: string; locationId: string }) => `${itemId} ${locationId}`

async function setOnHand(
  client: MedusaClient,
  changes: readonly OnHandChange[],
  signal: AbortSignal,
): Promise<OnHandResult[]> {
  const itemIds = [...new Set(changes.map(({ itemId }) => itemId))]
  const observed = new Map<string, ObservedLevel>()
  for (let at = 0; at < itemIds.length; at += limits.items)
    for (const level of await readLevels(client, itemIds.slice(at, at + limits.items), signal))
      observed.set(toKey(level), level)
  const isExpected = (change: OnHandChange) => observed.get(toKey(change))?.onHand === change.expectedOnHand
  const results = await writeLevels(client, changes.filter(isExpected), observed, signal)
  return changes.map(change => results.get(toKey(change)) ?? { state: 'stale' })
}

const batchPath = '/admin/inventory-items/location-levels/batch'

interface WrittenLevel extends Level {
  inventory_item_id: string
}

/** Writes levels in one call. If Medusa rejects it, nothing was written, and both halves are sent alone until the bad row is found. */
async function writeLevels(
  client: MedusaClient,
  changes: readonly OnHandChange[],
  observed: ReadonlyMap<string, ObservedLevel>,
  signal: AbortSignal,
): Promise<Map<string, OnHandResult>> {
  const [first] = changes
  if (!first) return new Map()
  try {
    const { updated } = await client.post<{ updated: WrittenLevel[] }>(
      batchPath,
      {
        update: changes.map(({ itemId, locationId, onHand }) => ({
          inventory_item_id: itemId,
          location_id: locationId,
          stocked_quantity: onHand,
        })),
      },
      signal,
    )
    return new Map(
      updated.map(level => {
        const key = toKey({ itemId: level.inventory_item_id, locationId: level.location_id })
        // Fewer reserved units: a fulfilment was stored after the read, and this write has overwritten its on-hand quantity.
        const isOverwritten = level.reserved_quantity < (observed.get(key)?.committed ?? 0)
        return [key, { state: isOverwritten ? 'stale' : 'applied' }]
      }),
    )
  } catch (error) {
    if (!(error instanceof MedusaRejection)) throw error
    if (changes.length === 1)
      return new Map([
        [toKey(first), error.code === 'not_found' ? { state: 'stale' } : { state: 'rejected', reason: error.code }],
      ])
    const middle = Math.ceil(changes.length / 2)
    return new Map([
      ...(await writeLevels(client, changes.slice(0, middle), observed, signal)),
      ...(await writeLevels(client, changes.slice(middle), observed, signal)),
    ])
  }
}

/** Creates a level. If it exists already, it is read before the next push. */
async function activateLevel(
  client: MedusaClient,
  { itemId, locationId, onHand }: LevelActivation,
  signal: AbortSignal,
): Promise<OnHandResult> {
  const level = { location_id: locationId, stocked_quantity: onHand }
  try {
    await client.post(`/admin/inventory-items/${encodeURIComponent(itemId)}/location-levels`, level, signal)
    return { state: 'applied' }
  } catch (error) {
    if (!(error instanceof MedusaRejection)) throw error
    return /already exists/.test(error.message) ? { state: 'stale' } : { state: 'rejected', reason: error.code }
  }
}
