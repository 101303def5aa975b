/** A request with its predicted cost in points (contributing/shopify-simulator.md). */
export interface ShopifyOperation {
  name: string
  document: string
  cost: number
}

const define = (name: string, cost: number, document: string): ShopifyOperation => ({ name, cost, document })

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
} as const satisfies Record<string, ShopifyOperation>
