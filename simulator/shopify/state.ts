import { fabrics, firstnames, garments, surnames } from '../generate/words.ts'
import { randomFor } from '../shop/random.ts'

/** The names of quantities that are on hand but neither available nor committed. */
export const heldNames = ['reserved', 'damaged', 'quality_control', 'safety_stock'] as const
export type HeldName = (typeof heldNames)[number]

export interface Location {
  id: number
  name: string
  isActive: boolean
  isFulfillmentService: boolean
  fulfillsOnlineOrders: boolean
  updatedAt: number
}

export interface Product {
  id: number
  handle: string
  title: string
  status: 'ACTIVE' | 'ARCHIVED' | 'DRAFT' | 'UNLISTED'
  isGiftCard: boolean
}

export interface Variant {
  id: number
  productId: number
  itemId: number
  sku: string | null
  barcode: string | null
  options: { name: string; value: string }[]
  /** True for a bundle, whose stock follows from its components. */
  requiresComponents: boolean
  tracked: boolean
  updatedAt: number
}

export interface Level extends Record<HeldName, number> {
  itemId: number
  locationId: number
  isActive: boolean
  available: number
  committed: number
  updatedAt: number
}

export interface Customer {
  id: number
  firstName: string | null
  lastName: string | null
  email: string | null
  phone: string | null
  marketingState: 'NOT_SUBSCRIBED' | 'SUBSCRIBED' | 'UNSUBSCRIBED'
  updatedAt: number
}

/** Units of an order that are committed at a location until they are fulfilled or cancelled. */
export interface OrderLine {
  id: number
  itemId: number
  locationId: number
  quantity: number
  remaining: number
}

export interface Order {
  id: number
  number: number
  createdAt: number
  updatedAt: number
  cancelledAt: number | null
  lines: OrderLine[]
}

export interface BulkOperation {
  id: number
  query: string
  status: 'CREATED' | 'COMPLETED' | 'FAILED' | 'CANCELED'
  createdAt: number
  completedAt: number | null
  errorCode: string | null
  /** The lines of the JSONL file. Written when the operation completes. */
  lines: string[]
  roots: number
}

export interface Subscription {
  id: number
  topic: string
  uri: string
  /** The fields of the payload that are sent. Empty: all. */
  includeFields: string[]
  createdAt: number
}

/** A change of the stock of a level, with its author. */
export interface StockAdjustment {
  at: number
  itemId: number
  locationId: number
  delta: number
  appName: string | null
  staffName: string | null
  documentUri: string | null
}

/** An attempt to deliver an event. */
export interface EventDelivery {
  topic: string
  uri: string
  /** Null: there was no response. */
  status: number | null
  headers: Readonly<Record<string, string>>
  body: string
}

export interface Shop {
  locations: Map<number, Location>
  products: Map<number, Product>
  variants: Map<number, Variant>
  /** Variants by the ID of their inventory item. */
  items: Map<number, Variant>
  /** By item, then by location. */
  levels: Map<number, Map<number, Level>>
  customers: Map<number, Customer>
  orders: Map<number, Order>
  bulkOperations: Map<number, BulkOperation>
  subscriptions: Map<number, Subscription>
  deliveries: EventDelivery[]
  adjustments: StockAdjustment[]
  /** The fingerprint of the request that used an idempotency key, and whether it failed. */
  keys: Map<string, { fingerprint: string; hasFailed: boolean }>
  nextId(): number
}

export interface Size {
  locations: number
  variants: number
  customers: number
}

export const computeOnHand = (level: Level): number =>
  level.available + level.committed + heldNames.reduce((sum, name) => sum + level[name], 0)

export function findLevel(shop: Shop, itemId: number, locationId: number): Level | undefined {
  return shop.levels.get(itemId)?.get(locationId)
}

export function addLevel(shop: Shop, itemId: number, locationId: number, now: number, available = 0): Level {
  const level: Level = {
    itemId,
    locationId,
    isActive: true,
    available,
    committed: 0,
    reserved: 0,
    damaged: 0,
    quality_control: 0,
    safety_stock: 0,
    updatedAt: now,
  }
  const levels = shop.levels.get(itemId) ?? new Map<number, Level>()
  shop.levels.set(itemId, levels.set(locationId, level))
  return level
}

/** Creates a shop with generated records. The same seed creates the same shop. */
export function createShop(seed: string, size: Size, now: number): Shop {
  const random = randomFor(seed, 'shopify')
  let last = 6_884_556_000
  const shop: Shop = {
    locations: new Map(),
    products: new Map(),
    variants: new Map(),
    items: new Map(),
    levels: new Map(),
    customers: new Map(),
    orders: new Map(),
    bulkOperations: new Map(),
    subscriptions: new Map(),
    deliveries: [],
    adjustments: [],
    keys: new Map(),
    nextId: () => ++last,
  }
  for (let i = 1; i <= size.locations; i++) {
    const id = shop.nextId()
    shop.locations.set(id, {
      id,
      name: `Store ${i}`,
      isActive: true,
      isFulfillmentService: false,
      fulfillsOnlineOrders: true,
      updatedAt: now,
    })
  }
  const sizes = ['S', 'M', 'L', 'XL']
  let product: Product | undefined
  for (let i = 0; i < size.variants; i++) {
    if (i % sizes.length === 0 || !product) {
      const id = shop.nextId()
      const title = `${random.pick(fabrics)} ${random.pick(garments)}`
      product = {
        id,
        handle: `${title.toLowerCase().replaceAll(' ', '-')}-${id}`,
        title,
        status: 'ACTIVE',
        isGiftCard: false,
      }
      shop.products.set(id, product)
    }
    const sizeName = sizes[i % sizes.length] as string
    const itemId = shop.nextId()
    const variant: Variant = {
      id: shop.nextId(),
      productId: product.id,
      itemId,
      sku: `SIM-${String(i + 1).padStart(6, '0')}`,
      barcode: String(9_300_000_000_000 + i),
      options: [{ name: 'Size', value: sizeName }],
      requiresComponents: false,
      tracked: true,
      updatedAt: now,
    }
    shop.variants.set(variant.id, variant)
    shop.items.set(itemId, variant)
    for (const locationId of shop.locations.keys()) addLevel(shop, itemId, locationId, now, random.integer(0, 20))
  }
  for (let i = 1; i <= size.customers; i++) {
    const id = shop.nextId()
    const [firstName, lastName] = [random.pick(firstnames), random.pick(surnames)]
    shop.customers.set(id, {
      id,
      firstName,
      lastName,
      email: `shopper${i}@shop.example`,
      phone: null,
      marketingState: 'NOT_SUBSCRIBED',
      updatedAt: now,
    })
  }
  return shop
}

export const countRecords = (shop: Shop) => ({
  locations: shop.locations.size,
  products: shop.products.size,
  variants: shop.variants.size,
  levels: [...shop.levels.values()].reduce((sum, levels) => sum + levels.size, 0),
  customers: shop.customers.size,
  orders: shop.orders.size,
})
