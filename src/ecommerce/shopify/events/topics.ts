import type { EventTarget } from '../../port/events.ts'

/** An event that Shopify sends to us. */
interface Topic {
  target: EventTarget
  /** The scope without which Shopify rejects the subscription. */
  scope: string
  /** The type of the record, as in its global ID. */
  type: 'Product' | 'Location' | 'Customer' | 'InventoryItem'
  /** The fields that Shopify sends, so that no personal data leaves it. */
  fields: readonly string[]
}

const recordFields = ['id', 'admin_graphql_api_id']
const product: Topic = { target: 'ecommerce-variants', scope: 'read_products', type: 'Product', fields: recordFields }
const location: Topic = {
  target: 'ecommerce-locations',
  scope: 'read_locations',
  type: 'Location',
  fields: recordFields,
}
const customer: Topic = {
  target: 'ecommerce-customers',
  scope: 'read_customers',
  type: 'Customer',
  fields: recordFields,
}
const level: Topic = {
  target: 'stock',
  scope: 'read_inventory',
  type: 'InventoryItem',
  fields: ['inventory_item_id', 'location_id', 'available'],
}

/** The topics by their name in the API. */
export const topics = {
  PRODUCTS_CREATE: product,
  PRODUCTS_UPDATE: product,
  PRODUCTS_DELETE: product,
  LOCATIONS_CREATE: location,
  LOCATIONS_UPDATE: location,
  LOCATIONS_ACTIVATE: location,
  LOCATIONS_DEACTIVATE: location,
  LOCATIONS_DELETE: location,
  CUSTOMERS_CREATE: customer,
  CUSTOMERS_UPDATE: customer,
  CUSTOMERS_DELETE: customer,
  CUSTOMERS_MERGE: {
    ...customer,
    scope: 'read_customer_merge',
    fields: ['admin_graphql_api_customer_kept_id', 'admin_graphql_api_customer_deleted_id', 'status'],
  },
  INVENTORY_LEVELS_UPDATE: level,
  INVENTORY_LEVELS_CONNECT: level,
  INVENTORY_LEVELS_DISCONNECT: level,
} as const satisfies Record<string, Topic>

export type TopicName = keyof typeof topics

/** Returns the topic of a header such as `inventory_levels/update`. */
export function findTopic(header: string): TopicName | undefined {
  const name = header.toUpperCase().replace('/', '_')
  return Object.hasOwn(topics, name) ? (name as TopicName) : undefined
}
