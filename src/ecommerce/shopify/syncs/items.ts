import type { PlatformItem } from '../../../domain/ecommerce/items.ts'

/* Records of Shopify as platform items. Pure. */

export interface LocationNode {
  id: string
  legacyResourceId: string
  name: string
  isActive: boolean
  updatedAt: string
}

export interface VariantNode {
  id: string
  legacyResourceId: string
  sku: string | null
  barcode: string | null
  displayName: string
  updatedAt: string
  requiresComponents: boolean
  product: { id: string; status: string; isGiftCard: boolean }
  inventoryItem: { id: string; tracked: boolean }
}

export interface CustomerNode {
  id: string
  legacyResourceId: string
  updatedAt: string
  defaultEmailAddress: { emailAddress: string } | null
}

/** Removes surrounding whitespace. Returns null for an empty text. */
const toText = (value: string | null | undefined) => value?.trim() || null

export const toLocation = ({ id, legacyResourceId, name, isActive, updatedAt }: LocationNode): PlatformItem => ({
  kind: 'stores',
  itemKey: legacyResourceId,
  ecommerceId: legacyResourceId,
  name: toText(name),
  other: toText(name),
  platformId: id,
  isActive,
  updatedAt,
})

export const toVariant = ({
  id,
  legacyResourceId,
  sku,
  barcode,
  displayName,
  updatedAt,
  requiresComponents,
  product,
  inventoryItem,
}: VariantNode): PlatformItem => ({
  kind: 'skus',
  itemKey: legacyResourceId,
  // Whitespace counts in a SKU: it is an identifier.
  ecommerceId: toText(sku) === null ? null : sku,
  name: toText(displayName),
  other: toText(barcode),
  platformId: id,
  inventoryItemId: inventoryItem.id,
  productId: product.id,
  isTracked: inventoryItem.tracked,
  isBundle: requiresComponents,
  isGiftCard: product.isGiftCard,
  isActive: product.status === 'ACTIVE',
  updatedAt,
})

export const toCustomer = ({ id, legacyResourceId, updatedAt, defaultEmailAddress }: CustomerNode): PlatformItem => ({
  kind: 'customers',
  itemKey: legacyResourceId,
  ecommerceId: legacyResourceId,
  name: null,
  other: toText(defaultEmailAddress?.emailAddress),
  platformId: id,
  updatedAt,
})
