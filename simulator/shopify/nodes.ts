import { GraphQLError } from 'graphql'
import { connect, type PageArguments } from './connection.ts'
import {
  type BulkOperation,
  type Customer,
  computeOnHand,
  heldNames,
  type Level,
  type Location,
  type Order,
  type Product,
  type Subscription,
  type Variant,
} from './state.ts'
import { type RequestContext, type ShopifyWorld, toGid, toInstant } from './world.ts'

/* Converts the records of the shop to the shape of the schema. Methods are resolvers. */

export const toLocationNode = ({ shop }: ShopifyWorld, location: Location) => ({
  __typename: 'Location',
  id: toGid('Location', location.id),
  legacyResourceId: String(location.id),
  name: location.name,
  isActive: location.isActive,
  isFulfillmentService: location.isFulfillmentService,
  fulfillsOnlineOrders: location.fulfillsOnlineOrders,
  shipsInventory: location.fulfillsOnlineOrders,
  hasActiveInventory: () =>
    [...shop.levels.values()].some(levels => (levels.get(location.id)?.isActive ?? false) === true),
  updatedAt: toInstant(location.updatedAt),
  address: {
    address1: '1 High St',
    address2: null,
    city: 'Melbourne',
    provinceCode: 'VIC',
    zip: '3000',
    countryCode: 'AU',
  },
})

const buildDisplayName = ({ shop }: ShopifyWorld, variant: Variant) =>
  `${shop.products.get(variant.productId)?.title ?? ''} - ${variant.options.map(({ value }) => value).join(' / ')}`

export const toVariantNode = (world: ShopifyWorld, variant: Variant) => ({
  __typename: 'ProductVariant',
  id: toGid('ProductVariant', variant.id),
  legacyResourceId: String(variant.id),
  sku: variant.sku,
  barcode: variant.barcode,
  displayName: buildDisplayName(world, variant),
  updatedAt: toInstant(variant.updatedAt),
  requiresComponents: variant.requiresComponents,
  inventoryPolicy: 'DENY',
  selectedOptions: variant.options,
  product() {
    const product = world.shop.products.get(variant.productId)
    return product && { ...product, id: toGid('Product', product.id) }
  },
  inventoryItem: () => toItemNode(world, variant),
})

export const toItemNode = (world: ShopifyWorld, variant: Variant) => ({
  __typename: 'InventoryItem',
  id: toGid('InventoryItem', variant.itemId),
  sku: variant.sku,
  tracked: variant.tracked,
  updatedAt: toInstant(variant.updatedAt),
  inventoryLevels: (args: PageArguments & { includeInactive?: boolean }, { lists }: RequestContext) =>
    connect(
      {
        name: 'inventoryLevels',
        records: [...(world.shop.levels.get(variant.itemId)?.values() ?? [])].filter(
          level => level.isActive || args.includeInactive,
        ),
        getId: level => level.locationId,
        toNode: level => toLevelNode(world, level),
      },
      args,
      lists,
    ),
})

export const toProductNode = ({ id, title, status, isGiftCard }: Product) => ({
  __typename: 'Product',
  id: toGid('Product', id),
  title,
  status,
  isGiftCard,
})

const quantityNames = new Set<string>(['available', 'on_hand', 'committed', 'incoming', ...heldNames])

export const toLevelNode = (world: ShopifyWorld, level: Level) => ({
  __typename: 'InventoryLevel',
  id: `${toGid('InventoryLevel', level.locationId)}?inventory_item_id=${level.itemId}`,
  isActive: level.isActive,
  updatedAt: toInstant(level.updatedAt),
  location() {
    const location = world.shop.locations.get(level.locationId)
    return location && toLocationNode(world, location)
  },
  quantities: ({ names }: { names: string[] }) =>
    names.map(name => {
      if (!quantityNames.has(name))
        throw new GraphQLError(`Invalid quantity name: ${name}`, { extensions: { code: 'BAD_REQUEST' } })
      const quantity =
        name === 'on_hand' ? computeOnHand(level) : name === 'incoming' ? 0 : level[name as 'available' | 'committed']
      return { name, quantity, updatedAt: toInstant(level.updatedAt) }
    }),
})

const guide = 'See https://shopify.dev/docs/apps/launch/protected-customer-data for more details.'

function requireProtectedData({ settings }: ShopifyWorld, field: string): void {
  if (settings.protectedDataLevel < 2)
    throw new GraphQLError(`This app is not approved to use the ${field} field. ${guide}`, {
      extensions: { code: 'ACCESS_DENIED' },
    })
}

export function requireCustomers({ settings }: ShopifyWorld): void {
  if (settings.protectedDataLevel < 1)
    throw new GraphQLError(`This app is not approved to access the Customer object. ${guide}`, {
      extensions: { code: 'ACCESS_DENIED' },
    })
}

export const toCustomerNode = (world: ShopifyWorld, customer: Customer) => ({
  __typename: 'Customer',
  id: toGid('Customer', customer.id),
  legacyResourceId: String(customer.id),
  firstName() {
    requireProtectedData(world, 'firstName')
    return customer.firstName
  },
  lastName() {
    requireProtectedData(world, 'lastName')
    return customer.lastName
  },
  state: 'ENABLED',
  updatedAt: toInstant(customer.updatedAt),
  defaultEmailAddress() {
    requireProtectedData(world, 'email')
    return customer.email === null
      ? null
      : {
          emailAddress: customer.email,
          marketingState: customer.marketingState,
          marketingOptInLevel: null,
          marketingUpdatedAt: null,
        }
  },
  defaultPhoneNumber() {
    requireProtectedData(world, 'phone')
    return customer.phone === null ? null : { phoneNumber: customer.phone }
  },
})

const isOpen = (order: Order) => order.cancelledAt === null

/** Converts an order. It has only the fields that stock needs; others raise an error of the simulator. */
export const toOrderNode = (world: ShopifyWorld, order: Order) => ({
  __typename: 'Order',
  id: toGid('Order', order.id),
  legacyResourceId: String(order.id),
  name: `#${order.number}`,
  number: order.number,
  test: false,
  createdAt: toInstant(order.createdAt),
  updatedAt: toInstant(order.updatedAt),
  cancelledAt: order.cancelledAt === null ? null : toInstant(order.cancelledAt),
  fulfillmentOrders(args: PageArguments, { lists }: RequestContext) {
    const locations = [...new Set(order.lines.map(line => line.locationId))]
    return connect(
      {
        name: 'fulfillmentOrders',
        records: locations.map((locationId, at) => ({ id: order.id * 100 + at, locationId })),
        getId: ({ id }) => id,
        toNode: ({ id, locationId }) => toFulfillmentOrderNode(world, order, id, locationId),
      },
      args,
      lists,
    )
  },
})

const toFulfillmentOrderNode = (world: ShopifyWorld, order: Order, id: number, locationId: number) => {
  const lines = order.lines.filter(line => line.locationId === locationId)
  return {
    id: toGid('FulfillmentOrder', id),
    status: !isOpen(order) ? 'CANCELLED' : lines.some(line => line.remaining > 0) ? 'OPEN' : 'CLOSED',
    assignedLocation: {
      location() {
        const location = world.shop.locations.get(locationId)
        return location ? toLocationNode(world, location) : null
      },
    },
    lineItems: (args: PageArguments, { lists }: RequestContext) =>
      connect(
        {
          name: 'lineItems',
          records: lines,
          getId: line => line.id,
          toNode: line => ({
            id: toGid('FulfillmentOrderLineItem', line.id),
            totalQuantity: line.quantity,
            remainingQuantity: isOpen(order) ? line.remaining : 0,
            inventoryItemId: toGid('InventoryItem', line.itemId),
          }),
        },
        args,
        lists,
      ),
  }
}

/** True until the operation's time is over. It ends automatically, whether a client polls it or not. */
export const isBulkRunning = ({ now, settings }: ShopifyWorld, { status, createdAt }: BulkOperation) =>
  status === 'CREATED' && now() < createdAt + settings.bulkSeconds * 1_000

/** Completes an operation whose time is over. Reads the rows only then, because the real result isn't a snapshot of the start either. */
function completeBulkOperation(world: ShopifyWorld, operation: BulkOperation, { runBulk, faults }: RequestContext) {
  if (operation.status !== 'CREATED' || isBulkRunning(world, operation)) return
  operation.completedAt = world.now()
  const result = faults.has('bulk-failed') ? { error: 'INTERNAL_SERVER_ERROR' } : runBulk(operation.query)
  if ('error' in result) Object.assign(operation, { status: 'FAILED', errorCode: result.error })
  else Object.assign(operation, { status: 'COMPLETED', lines: result.lines, roots: result.roots })
}

export function toBulkNode(world: ShopifyWorld, operation: BulkOperation, context: RequestContext) {
  completeBulkOperation(world, operation, context)
  const isCompleted = operation.status === 'COMPLETED'
  const size = operation.lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
  return {
    __typename: 'BulkOperation',
    id: toGid('BulkOperation', operation.id),
    status: operation.status,
    errorCode: operation.errorCode,
    objectCount: String(operation.lines.length),
    rootObjectCount: String(operation.roots),
    fileSize: isCompleted ? String(size) : '0',
    url: isCompleted && operation.lines.length ? `${world.origin}/bulk/${operation.id}.jsonl` : null,
    partialDataUrl: null,
    createdAt: toInstant(operation.createdAt),
    completedAt: operation.completedAt === null ? null : toInstant(operation.completedAt),
  }
}

export const toSubscriptionNode = ({ settings }: ShopifyWorld, subscription: Subscription) => ({
  id: toGid('WebhookSubscription', subscription.id),
  topic: subscription.topic,
  uri: subscription.uri,
  format: 'JSON',
  includeFields: subscription.includeFields,
  filter: null,
  apiVersion: { handle: settings.versions[0], supported: true },
})
