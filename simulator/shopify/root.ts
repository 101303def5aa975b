import { GraphQLError, type GraphQLResolveInfo } from 'graphql'
import { connect, type PageArguments } from './connection.ts'
import {
  isBulkRunning,
  requireCustomers,
  toBulkNode,
  toCustomerNode,
  toItemNode,
  toLevelNode,
  toLocationNode,
  toOrderNode,
  toProductNode,
  toSubscriptionNode,
  toVariantNode,
} from './nodes.ts'
import {
  activate,
  maxArrayLength,
  runOnce,
  type SetQuantitiesInput,
  setQuantities,
  type UserError,
} from './set-quantities.ts'
import { findLevel } from './state.ts'
import { queryStockHistory } from './stock-history.ts'
import { fromGid, type RequestContext, type ShopifyWorld, toGid } from './world.ts'

/* The fields of QueryRoot and Mutation. A field without an entry raises an error of the simulator. */

type Resolver<Arguments> = (args: Arguments, context: RequestContext, info: GraphQLResolveInfo) => unknown

const maxBulkOperations = 5

/** Returns the key of `@idempotent` on the field of a mutation. */
function findIdempotencyKey(info: GraphQLResolveInfo): string | undefined {
  for (const node of info.fieldNodes)
    for (const directive of node.directives ?? [])
      if (directive.name.value === 'idempotent') {
        const value = directive.arguments?.find(argument => argument.name.value === 'key')?.value
        if (value?.kind === 'Variable') return String(info.variableValues.coerced[value.name.value])
        if (value?.kind === 'StringValue') return value.value
      }
  return
}

const noErrors: UserError[] = []

/** Returns the response to a rejected change of a subscription. */
const rejectSubscription = (field: string[], message: string) => ({
  webhookSubscription: null,
  userErrors: [{ field, message }],
})

/** The scope that each group of topics needs. */
const topicScopes: readonly [RegExp, string][] = [
  [/^CUSTOMERS_MERGE$/, 'read_customer_merge'],
  [/^CUSTOMERS_/, 'read_customers'],
  [/^INVENTORY_/, 'read_inventory'],
  [/^LOCATIONS_/, 'read_locations'],
  [/^(ORDERS|FULFILLMENTS)_/, 'read_orders'],
  [/^PRODUCTS_/, 'read_products'],
]

/** Returns the scope that a topic needs and the app lacks. */
function findMissingScope({ settings: { scopes } }: ShopifyWorld, topic: string): string | undefined {
  const scope = topicScopes.find(([pattern]) => pattern.test(topic))?.[1]
  if (scope === undefined || scopes.includes(scope) || scopes.includes(scope.replace('read_', 'write_'))) return
  return scope
}

const queries = {
  shop: (_: object, { world: { settings } }: RequestContext) => ({
    id: toGid('Shop', 1),
    name: settings.shopName,
    myshopifyDomain: `${settings.shopName}.myshopify.com`,
    currencyCode: settings.currency,
    ianaTimezone: settings.timeZone,
    taxesIncluded: settings.taxesIncluded,
    plan: { publicDisplayName: settings.plan, shopifyPlus: settings.plan === 'Plus', partnerDevelopment: false },
    resourceLimits: { locationLimit: 200, maxProductVariants: 2_048 },
  }),
  currentAppInstallation: (_: object, { world: { settings } }: RequestContext) => ({
    accessScopes: settings.scopes.map(handle => ({ handle })),
    app: { id: toGid('App', 1), apiKey: settings.clientId },
  }),
  publicApiVersions: (_: object, { world: { settings } }: RequestContext) =>
    settings.versions.map(handle => ({ handle, supported: true })),
  locations: ((args, { world, lists }) =>
    connect(
      {
        name: 'locations',
        records: [...world.shop.locations.values()].filter(location => location.isActive || args.includeInactive),
        getId: location => location.id,
        toNode: location => toLocationNode(world, location),
      },
      args,
      lists,
    )) satisfies Resolver<PageArguments & { includeInactive?: boolean }>,
  productVariants: ((args, { world, lists }) =>
    connect(
      {
        name: 'productVariants',
        records: [...world.shop.variants.values()],
        getId: variant => variant.id,
        getSearchValues: ({ id, sku, barcode, updatedAt }) => ({ id, sku, barcode, updated_at: updatedAt }),
        toNode: variant => toVariantNode(world, variant),
      },
      args,
      lists,
    )) satisfies Resolver<PageArguments>,
  inventoryItems: ((args, { world, lists }) =>
    connect(
      {
        name: 'inventoryItems',
        records: [...world.shop.variants.values()],
        getId: variant => variant.itemId,
        getSearchValues: ({ itemId, sku, updatedAt }) => ({ id: itemId, sku, updated_at: updatedAt }),
        toNode: variant => toItemNode(world, variant),
      },
      args,
      lists,
    )) satisfies Resolver<PageArguments>,
  customers: ((args, { world, lists }) => {
    requireCustomers(world)
    return connect(
      {
        name: 'customers',
        records: [...world.shop.customers.values()],
        getId: customer => customer.id,
        getSearchValues: ({ id, email, phone, updatedAt }) => ({ id, email, phone, updated_at: updatedAt }),
        toNode: customer => toCustomerNode(world, customer),
      },
      args,
      lists,
    )
  }) satisfies Resolver<PageArguments>,
  orders: ((args, { world, lists }) =>
    connect(
      {
        name: 'orders',
        records: [...world.shop.orders.values()],
        getId: order => order.id,
        getSortValue: order => order.updatedAt,
        getSearchValues: ({ id, updatedAt, createdAt }) => ({ id, updated_at: updatedAt, created_at: createdAt }),
        toNode: order => toOrderNode(world, order),
      },
      args,
      lists,
    )) satisfies Resolver<PageArguments>,
  order: (({ id }, { world }) => {
    const order = world.shop.orders.get(fromGid('Order', id))
    return order ? toOrderNode(world, order) : null
  }) satisfies Resolver<{ id: string }>,
  nodes: (({ ids }, { world }) => {
    if (ids.length > maxArrayLength)
      throw new GraphQLError(
        `The input array size of ${ids.length} is greater than the maximum allowed of ${maxArrayLength}.`,
        { extensions: { code: 'MAX_INPUT_SIZE_EXCEEDED' } },
      )
    return ids.map(id => {
      const variant = world.shop.items.get(fromGid('InventoryItem', id))
      const order = world.shop.orders.get(fromGid('Order', id))
      const location = world.shop.locations.get(fromGid('Location', id))
      const productVariant = world.shop.variants.get(fromGid('ProductVariant', id))
      if (variant) return toItemNode(world, variant)
      if (order) return toOrderNode(world, order)
      if (location) return toLocationNode(world, location)
      if (productVariant) return toVariantNode(world, productVariant)
      const product = world.shop.products.get(fromGid('Product', id))
      if (product) return toProductNode(product)
      const customer = world.shop.customers.get(fromGid('Customer', id))
      return customer ? toCustomerNode(world, customer) : null
    })
  }) satisfies Resolver<{ ids: string[] }>,
  shopifyqlQuery: (({ query }, { world }) => queryStockHistory(world, query)) satisfies Resolver<{ query: string }>,
  bulkOperation: (({ id }, context) => {
    const operation = context.world.shop.bulkOperations.get(fromGid('BulkOperation', id))
    return operation ? toBulkNode(context.world, operation, context) : null
  }) satisfies Resolver<{ id: string }>,
  webhookSubscriptions: ((args, { world, lists }) =>
    connect(
      {
        name: 'webhookSubscriptions',
        records: [...world.shop.subscriptions.values()],
        getId: subscription => subscription.id,
        toNode: subscription => toSubscriptionNode(world, subscription),
      },
      args,
      lists,
    )) satisfies Resolver<PageArguments>,
}

const mutations = {
  inventorySetQuantities: (({ input }, context, info) =>
    setQuantities(context, input, findIdempotencyKey(info))) satisfies Resolver<{
    input: SetQuantitiesInput
  }>,
  inventoryActivate: ((args, context, info) => {
    const { world } = context
    const [itemId, locationId] = [fromGid('InventoryItem', args.inventoryItemId), fromGid('Location', args.locationId)]
    return runOnce(
      context,
      findIdempotencyKey(info),
      args,
      () => {
        const level = activate(world, { itemId, locationId, onHand: args.onHand })
        return level
          ? { inventoryLevel: toLevelNode(world, level), userErrors: noErrors }
          : {
              inventoryLevel: null,
              userErrors: [
                { field: ['inventoryItemId'], message: 'The inventory item or location could not be found.' },
              ],
            }
      },
      error => ({ inventoryLevel: null, userErrors: [error] }),
      () => {
        const level = findLevel(world.shop, itemId, locationId)
        return { inventoryLevel: level ? toLevelNode(world, level) : null, userErrors: noErrors }
      },
    )
  }) satisfies Resolver<{ inventoryItemId: string; locationId: string; onHand?: number | null }>,
  inventoryBulkToggleActivation: ((args, { world }) => {
    const itemId = fromGid('InventoryItem', args.inventoryItemId)
    const errors: UserError[] = []
    const levels = args.inventoryItemUpdates.flatMap(({ locationId, activate: isActive }, at) => {
      const id = fromGid('Location', locationId)
      if (isActive) {
        const level = activate(world, { itemId, locationId: id, onHand: undefined })
        if (level) return [toLevelNode(world, level)]
      } else {
        const level = findLevel(world.shop, itemId, id)
        if (level) level.isActive = false
        if (level) return []
      }
      errors.push({
        field: ['inventoryItemUpdates', String(at), 'locationId'],
        message: 'The location or item could not be found.',
        code: 'LOCATION_NOT_FOUND',
      })
      return []
    })
    return { inventoryLevels: errors.length ? null : levels, userErrors: errors }
  }) satisfies Resolver<{
    inventoryItemId: string
    inventoryItemUpdates: { locationId: string; activate: boolean }[]
  }>,
  bulkOperationRunQuery: (({ query }, context) => {
    const { world } = context
    const open = [...world.shop.bulkOperations.values()].filter(operation => isBulkRunning(world, operation))
    if (open.length >= maxBulkOperations)
      return {
        bulkOperation: null,
        userErrors: [
          {
            field: null,
            message: 'A bulk query operation for this app and shop is already in progress.',
            code: 'OPERATION_IN_PROGRESS',
          },
        ],
      }
    const problem = context.checkBulk(query)
    if (problem !== undefined)
      return { bulkOperation: null, userErrors: [{ field: ['query'], message: problem, code: 'INVALID' }] }
    const id = world.shop.nextId()
    world.shop.bulkOperations.set(id, {
      id,
      query,
      status: 'CREATED',
      createdAt: world.now(),
      completedAt: null,
      errorCode: null,
      lines: [],
      roots: 0,
    })
    return { bulkOperation: { id: toGid('BulkOperation', id), status: 'CREATED' }, userErrors: [] }
  }) satisfies Resolver<{ query: string }>,
  bulkOperationCancel: (({ id }, context) => {
    const operation = context.world.shop.bulkOperations.get(fromGid('BulkOperation', id))
    if (operation?.status === 'CREATED') operation.status = 'CANCELED'
    return { bulkOperation: operation ? toBulkNode(context.world, operation, context) : null, userErrors: [] }
  }) satisfies Resolver<{ id: string }>,
  webhookSubscriptionCreate: (({ topic, webhookSubscription: { uri, includeFields } }, { world }) => {
    const address = uri ?? ''
    const denied = findMissingScope(world, topic)
    if (denied !== undefined)
      return rejectSubscription(
        ['topic'],
        `You do not have permission to create or update webhooks with ${topic} topic. Required: ${denied}`,
      )
    if (!/^https?:\/\//.test(address)) return rejectSubscription(['webhookSubscription', 'uri'], 'Address is invalid')
    const isTaken = [...world.shop.subscriptions.values()].some(
      existing => existing.topic === topic && existing.uri === address,
    )
    if (isTaken)
      return rejectSubscription(['webhookSubscription', 'uri'], 'Address for this topic has already been taken')
    const subscription = {
      id: world.shop.nextId(),
      topic,
      uri: address,
      includeFields: includeFields ?? [],
      createdAt: world.now(),
    }
    world.shop.subscriptions.set(subscription.id, subscription)
    return { webhookSubscription: toSubscriptionNode(world, subscription), userErrors: [] }
  }) satisfies Resolver<{ topic: string; webhookSubscription: { uri?: string; includeFields?: string[] | null } }>,
  webhookSubscriptionUpdate: (({ id, webhookSubscription: { uri } }, { world }) => {
    const subscription = world.shop.subscriptions.get(fromGid('WebhookSubscription', id))
    if (!subscription) return rejectSubscription(['id'], 'Webhook subscription does not exist')
    if (uri) subscription.uri = uri
    return { webhookSubscription: toSubscriptionNode(world, subscription), userErrors: [] }
  }) satisfies Resolver<{ id: string; webhookSubscription: { uri?: string } }>,
  webhookSubscriptionDelete: (({ id }, { world }) => {
    const isDeleted = world.shop.subscriptions.delete(fromGid('WebhookSubscription', id))
    return isDeleted
      ? { deletedWebhookSubscriptionId: id, userErrors: [] }
      : {
          deletedWebhookSubscriptionId: null,
          userErrors: [{ field: ['id'], message: 'Webhook subscription does not exist' }],
        }
  }) satisfies Resolver<{ id: string }>,
}

export const rootFields: Readonly<Record<string, unknown>> = { ...queries, ...mutations }
