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
} as const satisfies Record<string, ShopifyOperation>

/** The queries of bulk operations. They have no page size. */
export const bulkQueries = {
  variants: `query BulkVariants { productVariants { edges { node { ${variant} } } } }`,
  customers: `query BulkCustomers { customers { edges { node { ${customer} } } } }`,
} as const
