import { findMedusaLevel, type MedusaShop } from './state.ts'

/** A change by a merchant or a shopper in a simulated Medusa. */
export type MedusaChange =
  | { kind: 'location'; id?: string; name: string }
  | { kind: 'product'; id?: string; title: string; status?: 'draft' | 'published' }
  | { kind: 'variant'; id?: string; productId: string; sku: string; barcode?: string; kitUnits?: number }
  | { kind: 'customer'; id?: string; email: string }
  | { kind: 'remove'; list: 'locations' | 'customers' | 'products' | 'variants'; id: string }
  /** Counts the units of an item at a location, and stocks it there. */
  | { kind: 'count'; itemId: string; locationId: string; units: number }
  /** Sells units: an order with one line, whose units are reserved at the location. */
  | { kind: 'sell'; itemId: string; locationId: string; units: number }
  /** Ships all lines of an order: the reservations end, and the stock falls. */
  | { kind: 'fulfil'; id: string }

/** Creates an ID that sorts by its creation, as a ULID does. */
export type CreateId = (prefix: string) => string

/** Applies a change. Returns the ID of its record. Throws if a record is missing. */
export function applyMedusaChange(shop: MedusaShop, change: MedusaChange, now: string, createId: CreateId): string {
  const createDates = (id: string, before?: { created_at: string }) => ({
    id,
    created_at: before?.created_at ?? now,
    updated_at: now,
  })
  switch (change.kind) {
    case 'location': {
      const id = change.id ?? createId('sloc')
      shop.locations.set(id, { ...createDates(id, shop.locations.get(id)), name: change.name })
      return id
    }
    case 'product': {
      const id = change.id ?? createId('prod')
      const { title, status = 'published' } = change
      shop.products.set(id, { ...createDates(id, shop.products.get(id)), title, status, is_giftcard: false })
      return id
    }
    case 'variant': {
      const id = change.id ?? createId('variant')
      const before = shop.variants.get(id)
      const itemId = before?.inventory_items[0]?.inventory_item_id ?? createId('iitem')
      shop.items.set(itemId, { ...createDates(itemId), sku: change.sku })
      shop.variants.set(id, {
        ...createDates(id, before),
        product_id: change.productId,
        title: 'M',
        sku: change.sku,
        barcode: change.barcode ?? null,
        manage_inventory: true,
        inventory_items: [{ inventory_item_id: itemId, required_quantity: change.kitUnits ?? 1 }],
      })
      return id
    }
    case 'customer': {
      const id = change.id ?? createId('cus')
      shop.customers.set(id, { ...createDates(id, shop.customers.get(id)), email: change.email, has_account: true })
      return id
    }
    case 'remove': {
      const { list, id } = change
      if (list === 'products')
        for (const { id: variantId, product_id } of shop.variants.values())
          if (product_id === id)
            applyMedusaChange(shop, { kind: 'remove', list: 'variants', id: variantId }, now, createId)
      if (list === 'variants') removeItems(shop, id)
      // The levels of a location stay, as in Medusa.
      shop[list].delete(id)
      return id
    }
    case 'count': {
      const { itemId, locationId, units } = change
      const before = findMedusaLevel(shop, itemId, locationId)
      const id = before?.id ?? createId('ilev')
      shop.levels.set(id, {
        ...createDates(id, before),
        inventory_item_id: itemId,
        location_id: locationId,
        stocked_quantity: units,
        reserved_quantity: before?.reserved_quantity ?? 0,
      })
      return id
    }
    case 'sell': {
      const { itemId, locationId, units } = change
      const level = requireLevel(shop, itemId, locationId)
      level.reserved_quantity += units
      level.updated_at = now
      const [orderId, lineId, reservationId] = [createId('order'), createId('ordli'), createId('resitem')]
      shop.orders.set(orderId, { ...createDates(orderId), items: [{ id: lineId }] })
      shop.reservations.set(reservationId, {
        ...createDates(reservationId),
        line_item_id: lineId,
        inventory_item_id: itemId,
        location_id: locationId,
        quantity: units,
      })
      return orderId
    }
    case 'fulfil': {
      const lines = shop.orders.get(change.id)?.items.map(({ id }) => id) ?? []
      for (const { id, line_item_id, inventory_item_id, location_id, quantity } of [...shop.reservations.values()]) {
        if (line_item_id === null || !lines.includes(line_item_id)) continue
        const level = requireLevel(shop, inventory_item_id, location_id)
        level.reserved_quantity -= quantity
        level.stocked_quantity -= quantity
        level.updated_at = now
        shop.reservations.delete(id)
      }
      return change.id
    }
  }
}

function requireLevel(shop: MedusaShop, itemId: string, locationId: string) {
  const level = findMedusaLevel(shop, itemId, locationId)
  if (!level) throw new TypeError(`${itemId} is not stocked at ${locationId}`)
  return level
}

/** Removes the inventory items of a variant with their levels. */
function removeItems(shop: MedusaShop, variantId: string): void {
  for (const { inventory_item_id } of shop.variants.get(variantId)?.inventory_items ?? []) {
    shop.items.delete(inventory_item_id)
    for (const { id, inventory_item_id: itemId } of shop.levels.values())
      if (itemId === inventory_item_id) shop.levels.delete(id)
  }
}
