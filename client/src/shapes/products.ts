// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'
import type { Reference } from './customers.ts'

/** A product, or with `removed=true` also a removed product. */
export type ListedProduct = Product | RemovedProduct

export interface Product {
  /** The back office's ID of the product. */
  id: string
  /** The style code. */
  productCode: string
  /** The name of the style. */
  name: string
  /** The description, as plain text or HTML. */
  description: string | null
  /** The range of sizes. */
  sizeRange: string | null
  /** ISO 4217. */
  currency: string
  /** References by the name of their type, in camelCase. */
  references: Record<string, Reference>
  colours: ProductColour[]
  /** When the record last changed. */
  updateTimeStamp: string
}

export interface ProductColour {
  /** The back office's ID of the colour, unique in its product. */
  id: string
  /** The code of the colour. */
  code: string | null
  /** The name of the colour. */
  name: string | null
  /** The ID of the product in the e-commerce platform that sells this colour. */
  ecommerceProductId: string | null
  /** The markdown status of the colour. */
  markdownStatus: Open<'none' | 'markdown' | 'clearance'>
  sizes: ProductSize[]
}

export interface ProductSize {
  /** The back office's own ID of the SKU (colour and size). */
  skuId: string
  /** The size. */
  sizeCode: string
  /** The position of the size in its colour. */
  sequence: number | null
  /** The price before any markdown. */
  originalPrice: string
  /** The current price. */
  price: string
  /** The barcode. */
  barcode: string | null
  /** True if orders can exceed the units that can be sold, even if `oversell` is `refuse`. */
  allowBackorder: boolean
  /** The day from which a preordered SKU is delivered. */
  preorderDate: string | null
  /** The e-commerce SKU (colour and size). It is the `sku` of all other operations. */
  ecommerceSku: string
  /** Coming prices, earliest first. Always empty if the capability `priceChanges` is not available. */
  priceChanges: PriceChange[]
}

export interface PriceChange {
  /** The first day of the price. */
  from: string
  /** The current price. */
  price: string
}

export interface RemovedProduct {
  /** The ID of the removed product. */
  id: string
  /** The product was removed. */
  removed: true
  /** When the product was removed. */
  updateTimeStamp: string
}
