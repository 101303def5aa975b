// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'

export interface StoreMappingChange {
  /** The location in the e-commerce platform. Several stores can share one. */
  ecommerceLocationId?: string | null | undefined
}

export interface SkuMappingChange {
  /** The SKU in the e-commerce platform. Null: not mapped, so the `skuId` is used. */
  ecommerceSku?: string | null | undefined
  /** The product in the e-commerce platform. All sizes of a colour share it. */
  ecommerceProductId?: string | null | undefined
}

export interface CustomerMappingChange {
  /** The customer's ID in the e-commerce platform, admin form. */
  ecommerceAdminId?: string | null | undefined
  /** The customer's ID in the e-commerce platform, legacy form. */
  ecommerceLegacyId?: string | null | undefined
}

export interface MappingFixInput {
  /** The kind of mapping. */
  kind: 'stores' | 'skus' | 'customers'
  /** The back office's ID of the store, SKU or customer. */
  id: string
  /** The current mapping, as `ecommerceId` of the issue (null: unmapped). If the record is mapped differently, the fix is rejected. Without it, any current mapping is replaced. */
  from?: string | null | undefined
  /** The platform item to map the record to. Null unmaps it. */
  to: string | null
}

export interface StoreMapping {
  /** The back office's ID of the store. */
  storeId: string
  /** The retailer's number of the store. A string, so leading zeros are kept. A location without a number has its `storeId` here. */
  storeNumber: string
  /** The name of the store. */
  name: string
  /** The location in the e-commerce platform. Several stores can share one. */
  ecommerceLocationId: string | null
}

export interface SkuMapping {
  /** The back office's own ID of the SKU (colour and size). */
  skuId: string
  /** The product. */
  productId: string
  /** The style code. */
  productCode: string
  /** The code of the colour. */
  colourCode: string | null
  /** The size. */
  sizeCode: string
  /** The SKU in the e-commerce platform. Null: not mapped, so the `skuId` is used. */
  ecommerceSku: string | null
  /** The product in the e-commerce platform. All sizes of a colour share it. */
  ecommerceProductId: string | null
}

export interface CustomerMapping {
  /** The back office's ID of the customer. */
  customerId: string
  /** The email address. Unique in the service, ignoring case. */
  email: string | null
  /** The customer identifier in its admin form. */
  ecommerceAdminId: string | null
  /** The customer identifier in its legacy form. */
  ecommerceLegacyId: string | null
}

export interface MappingStatus {
  /** The kind of mapping. */
  kind: Open<'stores' | 'skus' | 'customers'>
  /** When the last complete check ended. Null if none has. */
  checkedAt: string | null
  /** When a platform file was last imported. Null if none was. */
  listedAt: string | null
  /** The number of platform items in that file. */
  listed: number
  /** True if a check is running or due. */
  isRunning: boolean
  progress: MappingCheckProgress | null
  states: MappingIssueCounts
}

/** The progress of a running check. Null if none is running. */
export interface MappingCheckProgress {
  /** Records and platform items checked so far. */
  done: number
  /** Records and platform items to check. */
  total: number
}

export interface MappingIssueCounts {
  /** Mapped to exactly one platform item. */
  matched: number
  /** Not mapped, and no platform item is similar. */
  unmapped: number
  /** Platform items that no record is mapped to. */
  platformOnly: number
  /** Two records share a platform item, the platform has it twice, or a customer's two identifiers name different items. */
  duplicate: number
  /** Mapped to a platform item that no longer exists. */
  orphaned: number
  /** Not mapped to an existing item, but a similar item exists that no record is mapped to. */
  nearMatch: number
  /** Mapped, but no platform file has been imported. */
  unverified: number
}

export interface MappingIssue {
  /** The back office's ID of the store, SKU or customer. */
  id: string | null
  /** The name of the record. */
  name: string | null
  /** The state of the mapping. */
  state: Open<'unmapped' | 'platformOnly' | 'duplicate' | 'orphaned' | 'nearMatch' | 'matched' | 'unverified'>
  /** The platform item that the record is mapped to. If the state is `platformOnly`: the platform item itself. */
  ecommerceId: string | null
  /** Customers only: the mapped identifier in its admin form, if any. */
  ecommerceAdminId: string | null
  /** The platform item that probably matches. */
  suggestion: string | null
  /** The platform name of the suggestion, otherwise of the mapped item. */
  ecommerceName: string | null
  /** The reasons for the state, best first. */
  evidence: MappingEvidence[]
  /** Units in stock: of a SKU in all stores, of a store for all SKUs. Null if the record has no stock. */
  unitsInStock: number | null
  /** Units sold in the last 90 days, minus returns. */
  unitsSold: number | null
}

export interface MappingEvidence {
  /** The identifiers are the `same`, or differ in `case`, `whitespace`, `leadingZeros` or `form`; or the `barcode`, `name` or `email` is the same. `shared`: another record (`id`) is mapped to this item. `double`: the platform has the item twice. `clash`: the two identifiers of a customer name different items. */
  reason: Open<'barcode' | 'same' | 'case' | 'whitespace' | 'leadingZeros' | 'form' | 'name' | 'email' | 'shared' | 'double' | 'clash'>
  /** The platform item. */
  ecommerceId: string | null
  /** The other record. */
  id: string | null
}

export interface MappingFix {
  /** The ID of the fix. */
  id: string
  /** The kind of mapping. */
  kind: Open<'stores' | 'skus' | 'customers'>
  /** The back office's ID of the store, SKU or customer. */
  recordId: string
  /** The mapping before the fix. */
  before: Record<string, string | null>
  /** The mapping after the fix. */
  after: Record<string, string | null>
  /** The account that made the fix. */
  username: string
  /** The request that made the fix. */
  requestId: string
  /** When the fix was made. */
  fixedAt: string
  /** When the fix was undone. Null if it was not. */
  undoneAt: string | null
}
