/* The records of a simulated Medusa, as the Admin API returns them. */

export interface Dated {
  id: string
  created_at: string
  updated_at: string
}

export interface LocationRecord extends Dated {
  name: string
}

export interface CustomerRecord extends Dated {
  email: string
  has_account: boolean
}

export interface ProductRecord extends Dated {
  title: string
  status: 'draft' | 'proposed' | 'published' | 'rejected'
  is_giftcard: boolean
}

export interface VariantRecord extends Dated {
  product_id: string
  title: string
  sku: string | null
  barcode: string | null
  manage_inventory: boolean
  inventory_items: { inventory_item_id: string; required_quantity: number }[]
}

export interface LevelRecord extends Dated {
  inventory_item_id: string
  location_id: string
  stocked_quantity: number
  reserved_quantity: number
}

export interface ItemRecord extends Dated {
  sku: string | null
}

export interface OrderRecord extends Dated {
  items: { id: string }[]
}

export interface ReservationRecord extends Dated {
  line_item_id: string | null
  inventory_item_id: string
  location_id: string
  quantity: number
}

export interface MedusaShop {
  locations: Map<string, LocationRecord>
  customers: Map<string, CustomerRecord>
  products: Map<string, ProductRecord>
  variants: Map<string, VariantRecord>
  items: Map<string, ItemRecord>
  levels: Map<string, LevelRecord>
  orders: Map<string, OrderRecord>
  reservations: Map<string, ReservationRecord>
}

export const createMedusaShop = (): MedusaShop => ({
  locations: new Map(),
  customers: new Map(),
  products: new Map(),
  variants: new Map(),
  items: new Map(),
  levels: new Map(),
  orders: new Map(),
  reservations: new Map(),
})

/** Finds the level of an item at a location. */
export const findMedusaLevel = (shop: MedusaShop, itemId: string, locationId: string): LevelRecord | undefined =>
  shop.levels.values().find(level => level.inventory_item_id === itemId && level.location_id === locationId)
