import {
  addLevel,
  type Customer,
  findLevel,
  type HeldName,
  heldNames,
  type Location,
  type OrderLine,
  type Variant,
} from './state.ts'
import { type ShopifyWorld, toInstant } from './world.ts'

/** A change that the merchant or a shopper makes. Without an ID, a record is created. */
export type ShopifyChange =
  | ({ kind: 'location'; id?: number } & Partial<Omit<Location, 'id' | 'updatedAt'>>)
  | ({ kind: 'variant'; id?: number; productTitle?: string; isGiftCard?: boolean; updatedAt?: number } & Partial<
      Omit<Variant, 'id' | 'itemId' | 'updatedAt'>
    >)
  | ({ kind: 'customer'; id?: number } & Partial<Omit<Customer, 'id' | 'updatedAt'>>)
  | { kind: 'remove'; type: 'location' | 'variant' | 'customer' | 'order'; id: number }
  | { kind: 'count'; itemId: number; locationId: number; available: number }
  | { kind: 'hold'; itemId: number; locationId: number; name: HeldName; units: number }
  | { kind: 'sell'; lines: { itemId: number; locationId: number; quantity: number }[] }
  | { kind: 'fulfil' | 'cancel'; orderId: number; restock?: boolean }

function requireRecord<T>(record: T | undefined, name: string): T {
  if (record === undefined) throw new TypeError(`${name} not found`)
  return record
}

function applyLocation({ shop, now }: ShopifyWorld, { kind: _, id, ...fields }: ShopifyChange & { kind: 'location' }) {
  const key = id ?? shop.nextId()
  const present = shop.locations.get(key) ?? {
    id: key,
    name: `Location ${key}`,
    isActive: true,
    isFulfillmentService: false,
    fulfillsOnlineOrders: true,
    updatedAt: now(),
  }
  shop.locations.set(key, { ...present, ...fields, id: key, updatedAt: now() })
  return key
}

function applyVariant({ shop, now }: ShopifyWorld, change: ShopifyChange & { kind: 'variant' }) {
  const { kind: _, id, productTitle, isGiftCard, updatedAt, ...fields } = change
  const key = id ?? shop.nextId()
  let present = shop.variants.get(key)
  if (!present) {
    const productId = fields.productId ?? shop.nextId()
    if (!shop.products.has(productId)) {
      const title = productTitle ?? `Product ${productId}`
      const handle = title.toLowerCase().replaceAll(/\W+/g, '-')
      shop.products.set(productId, { id: productId, handle, title, status: 'ACTIVE', isGiftCard: isGiftCard ?? false })
    }
    present = {
      id: key,
      productId,
      itemId: shop.nextId(),
      sku: null,
      barcode: null,
      options: [{ name: 'Title', value: 'Default Title' }],
      requiresComponents: false,
      tracked: true,
      updatedAt: now(),
    }
  }
  const variant: Variant = { ...present, ...fields, id: key, updatedAt: updatedAt ?? now() }
  shop.variants.set(key, variant)
  shop.items.set(variant.itemId, variant)
  return key
}

function applyCustomer({ shop, now }: ShopifyWorld, { kind: _, id, ...fields }: ShopifyChange & { kind: 'customer' }) {
  const key = id ?? shop.nextId()
  const present = shop.customers.get(key) ?? {
    id: key,
    firstName: null,
    lastName: null,
    email: null,
    phone: null,
    marketingState: 'NOT_SUBSCRIBED' as const,
    updatedAt: now(),
  }
  shop.customers.set(key, { ...present, ...fields, id: key, updatedAt: now() })
  return key
}

function remove({ shop }: ShopifyWorld, type: 'location' | 'variant' | 'customer' | 'order', id: number) {
  const variant = type === 'variant' ? shop.variants.get(id) : undefined
  if (variant) {
    shop.items.delete(variant.itemId)
    shop.levels.delete(variant.itemId)
  }
  const lists = { location: shop.locations, variant: shop.variants, customer: shop.customers, order: shop.orders }
  if (!lists[type].delete(id)) throw new TypeError(`${type} ${id} not found`)
  return id
}

function levelAt({ shop, now }: ShopifyWorld, itemId: number, locationId: number) {
  return findLevel(shop, itemId, locationId) ?? addLevel(shop, itemId, locationId, now())
}

/** A shopper's order: available falls and committed rises. On-hand stays until it is fulfilled. */
function sell(world: ShopifyWorld, lines: { itemId: number; locationId: number; quantity: number }[]) {
  const { shop, now } = world
  const id = shop.nextId()
  const rows: OrderLine[] = lines.map(line => {
    const level = levelAt(world, line.itemId, line.locationId)
    level.available -= line.quantity
    level.committed += line.quantity
    level.updatedAt = now()
    return { ...line, id: shop.nextId(), remaining: line.quantity }
  })
  shop.orders.set(id, {
    id,
    number: 1_000 + shop.orders.size + 1,
    createdAt: now(),
    updatedAt: now(),
    cancelledAt: null,
    lines: rows,
  })
  world.notify('ORDERS_CREATE', { id, admin_graphql_api_id: `gid://shopify/Order/${id}`, created_at: toInstant(now()) })
  return id
}

/** Ends the commitments of an order: fulfilled units leave on-hand, cancelled ones become available again. */
function endOrder(world: ShopifyWorld, orderId: number, isFulfilled: boolean) {
  const order = requireRecord(world.shop.orders.get(orderId), `order ${orderId}`)
  for (const line of order.lines) {
    const level = levelAt(world, line.itemId, line.locationId)
    level.committed -= line.remaining
    if (!isFulfilled) level.available += line.remaining
    level.updatedAt = world.now()
    if (isFulfilled) line.remaining = 0
  }
  order.updatedAt = world.now()
  if (!isFulfilled) {
    order.cancelledAt = world.now()
    for (const line of order.lines) line.remaining = 0
  }
  world.notify(isFulfilled ? 'FULFILLMENTS_CREATE' : 'ORDERS_CANCELLED', {
    id: orderId,
    admin_graphql_api_id: `gid://shopify/Order/${orderId}`,
  })
  return orderId
}

/** Applies a change and returns the ID of the changed record. Throws a TypeError if it is invalid. */
export function applyShopifyChange(world: ShopifyWorld, change: ShopifyChange): number {
  if (change.kind === 'location') return applyLocation(world, change)
  if (change.kind === 'variant') return applyVariant(world, change)
  if (change.kind === 'customer') return applyCustomer(world, change)
  if (change.kind === 'remove') return remove(world, change.type, change.id)
  if (change.kind === 'sell') return sell(world, change.lines)
  if (change.kind === 'fulfil' || change.kind === 'cancel')
    return endOrder(world, change.orderId, change.kind === 'fulfil')
  if (change.kind !== 'count' && change.kind !== 'hold') throw new TypeError('kind is unknown')
  const level = levelAt(world, change.itemId, change.locationId)
  if (change.kind === 'count') level.available = change.available
  else {
    if (!heldNames.includes(change.name)) throw new TypeError(`name must be one of ${heldNames.join(', ')}`)
    level.available -= change.units
    level[change.name] += change.units
  }
  level.updatedAt = world.now()
  return change.itemId
}
