import type { PlatformItem } from '../../domain/ecommerce/items.ts'

/* Records of Medusa as platform items. Pure. */

interface MedusaRecord {
  id: string
  updated_at: string
}

export interface MedusaLocation extends MedusaRecord {
  name: string
}

export interface MedusaCustomer extends MedusaRecord {
  email: string | null
}

export interface MedusaVariant extends MedusaRecord {
  title: string | null
  sku: string | null
  barcode: string | null
  manage_inventory: boolean
  inventory_items: readonly { inventory_item_id: string; required_quantity: number }[]
  product: MedusaProduct
}

export interface MedusaProduct extends MedusaRecord {
  title: string
  status: string
  is_giftcard: boolean
}

/** Removes surrounding whitespace. Returns null for an empty text. */
const toText = (value: string | null) => value?.trim() || null

export const toLocation = ({ id, name, updated_at }: MedusaLocation): PlatformItem => ({
  kind: 'stores',
  itemKey: id,
  ecommerceId: id,
  name: toText(name),
  other: toText(name),
  platformId: id,
  isActive: true,
  updatedAt: updated_at,
})

export function toVariant({
  id,
  title,
  sku,
  barcode,
  updated_at,
  manage_inventory,
  inventory_items,
  product,
}: MedusaVariant): PlatformItem {
  const [item] = inventory_items
  return {
    kind: 'skus',
    itemKey: id,
    // Whitespace counts in a SKU: it is an identifier.
    ecommerceId: toText(sku) === null ? null : sku,
    name: toText([product.title, title].filter(Boolean).join(' - ')),
    other: toText(barcode),
    platformId: id,
    ...(item && { inventoryItemId: item.inventory_item_id }),
    productId: product.id,
    isTracked: manage_inventory,
    // The stock of a kit follows from its items.
    isBundle: inventory_items.length > 1 || (item !== undefined && item.required_quantity !== 1),
    isGiftCard: product.is_giftcard,
    isActive: product.status === 'published',
    // The product has a part of these fields.
    updatedAt: updated_at > product.updated_at ? updated_at : product.updated_at,
  }
}

export const toCustomer = ({ id, email, updated_at }: MedusaCustomer): PlatformItem => ({
  kind: 'customers',
  itemKey: id,
  ecommerceId: id,
  name: null,
  other: toText(email),
  platformId: id,
  updatedAt: updated_at,
})
