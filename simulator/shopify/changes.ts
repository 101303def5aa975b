import {
  addLevel,
  type Customer,
  findLevel,
  type HeldName,
  heldNames,
  type Level,
  type Location,
  type OrderLine,
  type Variant,
} from './state.ts'
import { type ShopifyWorld, toGid, toInstant } from './world.ts'

/** A change that the merchant or a shopper makes. Without an ID, a record is created. */
export type ShopifyChange =
  | ({ kind: 'location'; id?: number } & Partial<Omit<Location, 'id' | 'updatedAt'>>)
  | ({ kind: 'variant'; id?: number; productTitle?: string; isGiftCard?: boolean; updatedAt?: number } & Partial<
      Omit<Variant, 'id' | 'itemId' | 'updatedAt'>
    >)
  | ({ kind: 'customer'; id?: number } & Partial<Omit<Customer, 'id' | 'updatedAt'>>)
  | { kind: 'merge'; deletedId: number; successorId: number }
  | { kind: 'remove'; type: 'location' | 'variant' | 'customer' | 'order'; id: number }
  | { kind: 'count'; itemId: number; locationId: number; available: number; by?: { app?: string; staff?: string } }
  | { kind: 'hold'; itemId: number; locationId: number; name: HeldName; units: number }
  | { kind: 'sell'; lines: { itemId: number; locationId: number; quantity: number }[] }
  | { kind: 'fulfil' | 'cancel'; orderId: number; restock?: boolean }

/** Builds the payloads of events, with the fields that clients could use. */
const payloads = {
  location: ({ id, name, isActive, updatedAt }: Location) => ({
    id,
    name,
    active: isActive,
    updated_at: toInstant(updatedAt),
    admin_graphql_api_id: toGid('Location', id),
  }),
  product: ({ shop, now }: ShopifyWorld, id: number) => ({
    id,
    admin_graphql_api_id: toGid('Product', id),
    title: shop.products.get(id)?.title,
    updated_at: toInstant(now()),
    variants: [...shop.variants.values()]
      .filter(variant => variant.productId === id)
      .map(variant => ({ id: variant.id, sku: variant.sku, barcode: variant.barcode })),
  }),
  customer: ({ id, firstName, lastName, email, phone, updatedAt }: Customer) => ({
    id,
    email,
    first_name: firstName,
    last_name: lastName,
    phone,
    updated_at: toInstant(updatedAt),
    admin_graphql_api_id: toGid('Customer', id),
  }),
  level: ({ itemId, locationId, available, updatedAt }: Level) => ({
    inventory_item_id: itemId,
    location_id: locationId,
    available,
    updated_at: toInstant(updatedAt),
    admin_graphql_api_id: `${toGid('InventoryLevel', locationId)}?inventory_item_id=${itemId}`,
  }),
}

/** Sends the event of a level whose available quantity can have changed. */
export const notifyLevel = (world: ShopifyWorld, level: Level) =>
  world.notify('INVENTORY_LEVELS_UPDATE', payloads.level(level))

function requireRecord<T>(record: T | undefined, name: string): T {
  if (record === undefined) throw new TypeError(`${name} not found`)
  return record
}

function applyLocation(world: ShopifyWorld, { kind: _, id, ...fields }: ShopifyChange & { kind: 'location' }) {
  const { shop, now } = world
  const key = id ?? shop.nextId()
  const present = shop.locations.get(key) ?? {
    id: key,
    name: `Location ${key}`,
    isActive: true,
    isFulfillmentService: false,
    fulfillsOnlineOrders: true,
    updatedAt: now(),
  }
  const location = { ...present, ...fields, id: key, updatedAt: now() }
  shop.locations.set(key, location)
  const isSwitched = id !== undefined && present.isActive !== location.isActive
  const action = id === undefined ? 'CREATE' : !isSwitched ? 'UPDATE' : location.isActive ? 'ACTIVATE' : 'DEACTIVATE'
  world.notify(`LOCATIONS_${action}`, payloads.location(location))
  return key
}

function applyVariant(world: ShopifyWorld, change: ShopifyChange & { kind: 'variant' }) {
  const { shop, now } = world
  const { kind: _, id, productTitle, isGiftCard, updatedAt, ...fields } = change
  const key = id ?? shop.nextId()
  let present = shop.variants.get(key)
  let isNewProduct = false
  if (!present) {
    const productId = fields.productId ?? shop.nextId()
    isNewProduct = !shop.products.has(productId)
    if (isNewProduct) {
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
  world.notify(`PRODUCTS_${isNewProduct ? 'CREATE' : 'UPDATE'}`, payloads.product(world, variant.productId))
  return key
}

function applyCustomer(world: ShopifyWorld, { kind: _, id, ...fields }: ShopifyChange & { kind: 'customer' }) {
  const { shop, now } = world
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
  const customer = { ...present, ...fields, id: key, updatedAt: now() }
  shop.customers.set(key, customer)
  world.notify(`CUSTOMERS_${id === undefined ? 'CREATE' : 'UPDATE'}`, payloads.customer(customer))
  return key
}

function applyMerge(world: ShopifyWorld, { deletedId, successorId }: ShopifyChange & { kind: 'merge' }) {
  const { shop, now } = world
  const successor = requireRecord(shop.customers.get(successorId), `customer ${successorId}`)
  if (!shop.customers.delete(deletedId)) throw new TypeError(`customer ${deletedId} not found`)
  shop.customers.set(successorId, { ...successor, updatedAt: now() })
  world.notify('CUSTOMERS_MERGE', {
    admin_graphql_api_customer_kept_id: toGid('Customer', successorId),
    admin_graphql_api_customer_deleted_id: toGid('Customer', deletedId),
    admin_graphql_api_job_id: null,
    status: 'completed',
    errors: [],
  })
  return successorId
}

function applyRemoval(world: ShopifyWorld, type: 'location' | 'variant' | 'customer' | 'order', id: number) {
  const { shop } = world
  const variant = type === 'variant' ? shop.variants.get(id) : undefined
  if (variant) {
    shop.items.delete(variant.itemId)
    shop.levels.delete(variant.itemId)
  }
  const lists = { location: shop.locations, variant: shop.variants, customer: shop.customers, order: shop.orders }
  if (!lists[type].delete(id)) throw new TypeError(`${type} ${id} not found`)
  if (type === 'location') world.notify('LOCATIONS_DELETE', { id })
  if (type === 'customer')
    world.notify('CUSTOMERS_DELETE', { id, tax_exemptions: [], admin_graphql_api_id: toGid('Customer', id) })
  if (variant) notifyRemovedVariant(world, variant)
  return id
}

/** Sends the event of a removed variant. The product is deleted with its last variant. */
function notifyRemovedVariant(world: ShopifyWorld, { productId }: Variant) {
  const { shop } = world
  if ([...shop.variants.values()].some(other => other.productId === productId))
    return world.notify('PRODUCTS_UPDATE', payloads.product(world, productId))
  shop.products.delete(productId)
  world.notify('PRODUCTS_DELETE', { id: productId })
}

function getOrAddLevel({ shop, now }: ShopifyWorld, itemId: number, locationId: number) {
  return findLevel(shop, itemId, locationId) ?? addLevel(shop, itemId, locationId, now())
}

/** Applies a shopper's order: available falls, committed rises, and on-hand stays until the order is fulfilled. */
function applySale(world: ShopifyWorld, lines: { itemId: number; locationId: number; quantity: number }[]) {
  const { shop, now } = world
  const id = shop.nextId()
  const rows: OrderLine[] = lines.map(line => {
    const level = getOrAddLevel(world, line.itemId, line.locationId)
    level.available -= line.quantity
    level.committed += line.quantity
    level.updatedAt = now()
    notifyLevel(world, level)
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
    const level = getOrAddLevel(world, line.itemId, line.locationId)
    level.committed -= line.remaining
    if (!isFulfilled) level.available += line.remaining
    level.updatedAt = world.now()
    if (isFulfilled) line.remaining = 0
    else notifyLevel(world, level)
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
  if (change.kind === 'merge') return applyMerge(world, change)
  if (change.kind === 'remove') return applyRemoval(world, change.type, change.id)
  if (change.kind === 'sell') return applySale(world, change.lines)
  if (change.kind === 'fulfil' || change.kind === 'cancel')
    return endOrder(world, change.orderId, change.kind === 'fulfil')
  if (change.kind !== 'count' && change.kind !== 'hold') throw new TypeError('kind is unknown')
  const level = getOrAddLevel(world, change.itemId, change.locationId)
  if (change.kind === 'count') {
    const { by, available, itemId, locationId } = change
    const names = { appName: by?.app ?? null, staffName: by?.staff ?? null, documentUri: null }
    world.shop.adjustments.push({ at: world.now(), itemId, locationId, delta: available - level.available, ...names })
    level.available = available
  } else {
    if (!heldNames.includes(change.name)) throw new TypeError(`name must be one of ${heldNames.join(', ')}`)
    level.available -= change.units
    level[change.name] += change.units
  }
  level.updatedAt = world.now()
  notifyLevel(world, level)
  return change.itemId
}
