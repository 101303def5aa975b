/** A request with its predicted cost in points (contributing/shopify-simulator.md). */
export interface ShopifyOperation {
  name: string
  document: string
  cost: number
}

const define = (name: string, cost: number, document: string): ShopifyOperation => ({ name, cost, document })

const variant =
  'id legacyResourceId sku barcode displayName updatedAt requiresComponents product { id status isGiftCard } inventoryItem { id tracked }'
/** Only the email address: the mapping check needs no other personal data. */
const customer = 'id legacyResourceId updatedAt defaultEmailAddress { emailAddress }'
const page = 'pageInfo { hasNextPage endCursor }'
const level =
  'id isActive location { id } quantities(names: ["on_hand", "committed", "reserved", "damaged", "quality_control", "safety_stock"]) { name quantity }'

export const operations = {
  shop: define(
    'Shop',
    2,
    'query Shop { shop { id name myshopifyDomain currencyCode ianaTimezone taxesIncluded plan { publicDisplayName } } }',
  ),
  access: define(
    'Access',
    3,
    'query Access { currentAppInstallation { accessScopes { handle } } publicApiVersions { handle supported } }',
  ),
  protectedData: define(
    'ProtectedData',
    4,
    `query ProtectedData { customers(first: 1) { nodes { id defaultEmailAddress { emailAddress } } ${page} } }`,
  ),
  locations: define(
    'Locations',
    13,
    `query Locations($after: String) { locations(first: 250, after: $after, includeInactive: true, includeLegacy: true, sortKey: ID) { nodes { id legacyResourceId name isActive updatedAt } ${page} } }`,
  ),
  variants: define(
    'Variants',
    35,
    `query Variants($after: String, $query: String) { productVariants(first: 250, after: $after, query: $query, sortKey: ID) { nodes { ${variant} } ${page} } }`,
  ),
  customers: define(
    'Customers',
    24,
    `query Customers($after: String, $query: String) { customers(first: 250, after: $after, query: $query, sortKey: ID) { nodes { ${customer} } ${page} } }`,
  ),
  startBulk: define(
    'BulkQuery',
    10,
    'mutation BulkQuery($query: String!) { bulkOperationRunQuery(query: $query, groupObjects: false) { bulkOperation { id status } userErrors { field message code } } }',
  ),
  bulk: define('Bulk', 1, 'query Bulk($id: ID!) { bulkOperation(id: $id) { id status errorCode objectCount url } }'),
  cancelBulk: define(
    'BulkCancel',
    10,
    'mutation BulkCancel($id: ID!) { bulkOperationCancel(id: $id) { bulkOperation { id status } userErrors { field message } } }',
  ),
  /** The cost of one item, and of one order: they count for each ID. */
  levels: define(
    'Levels',
    24,
    `query Levels($ids: [ID!]!) { nodes(ids: $ids) { ... on InventoryItem { id inventoryLevels(first: 50) { nodes { ${level} } pageInfo { hasNextPage } } } } }`,
  ),
  commitments: define(
    'Commitments',
    51,
    'query Commitments($ids: [ID!]!) { nodes(ids: $ids) { ... on Order { id fulfillmentOrders(first: 10) { nodes { id status assignedLocation { location { id } } lineItems(first: 50) { nodes { id remainingQuantity inventoryItemId } pageInfo { hasNextPage } } } pageInfo { hasNextPage } } } } }',
  ),
  stockChanges: define(
    'StockChanges',
    2,
    'query StockChanges($query: String!) { shopifyqlQuery(query: $query) { tableData { rows } parseErrors } }',
  ),
  /** The cost of one ID. */
  existing: define('Existing', 1, 'query Existing($ids: [ID!]!) { nodes(ids: $ids) { id } }'),
  subscriptions: define(
    'Subscriptions',
    11,
    `query Subscriptions($after: String) { webhookSubscriptions(first: 100, after: $after) { nodes { id topic uri } ${page} } }`,
  ),
  subscribe: define(
    'Subscribe',
    10,
    'mutation Subscribe($topic: WebhookSubscriptionTopic!, $hook: WebhookSubscriptionInput!) { webhookSubscriptionCreate(topic: $topic, webhookSubscription: $hook) { webhookSubscription { id } userErrors { field message } } }',
  ),
  unsubscribe: define(
    'Unsubscribe',
    10,
    'mutation Unsubscribe($id: ID!) { webhookSubscriptionDelete(id: $id) { deletedWebhookSubscriptionId userErrors { field message } } }',
  ),
  setQuantities: define(
    'SetQuantities',
    10,
    'mutation SetQuantities($input: InventorySetQuantitiesInput!, $key: String!) { inventorySetQuantities(input: $input) @idempotent(key: $key) { inventoryAdjustmentGroup { id } userErrors { field message code } } }',
  ),
  activate: define(
    'Activate',
    10,
    'mutation Activate($item: ID!, $location: ID!, $onHand: Int, $key: String!) { inventoryActivate(inventoryItemId: $item, locationId: $location, onHand: $onHand) @idempotent(key: $key) { inventoryLevel { id isActive } userErrors { field message } } }',
  ),
} as const satisfies Record<string, ShopifyOperation>

/** The queries of bulk operations. They have no page size. */
export const bulkQueries = {
  levels: `query BulkLevels { inventoryItems { edges { node { id inventoryLevels { edges { node { ${level} } } } } } } }`,
  variants: `query BulkVariants { productVariants { edges { node { ${variant} } } } }`,
  customers: `query BulkCustomers { customers { edges { node { ${customer} } } } }`,
} as const
