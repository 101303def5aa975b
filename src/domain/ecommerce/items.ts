import type { MappedKind } from '../mappings/mapping-check.ts'
import type { PlatformSyncName } from './connection-settings.ts'

/** An item that a sync has read from the platform: a location, variant or customer. */
export interface PlatformItem {
  kind: MappedKind
  /** The platform's number of the item. */
  itemKey: string
  /** The value of a mapping. Null: the item has none, for example a variant without a SKU. */
  ecommerceId: string | null
  name: string | null
  /** A second identifying value: the name of a location, the barcode of a variant, the email of a customer. */
  other: string | null
  platformId: string
  inventoryItemId?: string
  productId?: string
  isTracked?: boolean
  isBundle?: boolean
  isGiftCard?: boolean
  isActive?: boolean
  updatedAt: string
}

/** The kind of items that each sync of a platform reads. */
export const kindBySync = {
  'ecommerce-locations': 'stores',
  'ecommerce-variants': 'skus',
  'ecommerce-customers': 'customers',
} as const satisfies Record<PlatformSyncName, MappedKind>

/** The list of which a full sync sees every record, by kind. */
export const platformLists = {
  stores: 'ecommerce-stores',
  skus: 'ecommerce-skus',
  customers: 'ecommerce-customers',
} as const satisfies Record<MappedKind, string>

/** Returns the number at the end of a global ID: `4711` of `gid://shopify/Customer/4711`. A number stays as it is. */
export const getItemKey = (globalId: string) => globalId.replace(/^.*\//, '')
