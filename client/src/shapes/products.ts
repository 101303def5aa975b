// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'
import type { Reference } from './customers.ts'

/** A product; with `removed=true` also one that has left. */
export type ListedProduct = Product | RemovedProduct

export interface Product {
  /** The back office's identifier of the product. */
  id: string
  /** The style code. */
  productCode: string
  /** The name of the style. */
  name: string
  /** A description; plain text or HTML, as the back office has it. */
  description: string | null
  /** The sizes made, in words. */
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
  /** The back office's identifier of the colour of this product. */
  id: string
  /** The code of the colour. */
  code: string | null
  /** The name of the colour. */
  name: string | null
  /** The product in the e-commerce platform that this colour is sold as. */
  ecommerceProductId: string | null
  /** Whether the colour is marked down. */
  markdownStatus: Open<'none' | 'markdown' | 'clearance'>
  sizes: ProductSize[]
}

export interface ProductSize {
  /** The back office's own identifier of the colour/size. */
  skuId: string
  /** The size. */
  sizeCode: string
  /** Where the size stands among its sisters. */
  sequence: number | null
  /** The price before any markdown. */
  originalPrice: string
  /** The price now. */
  price: string
  /** The barcode. */
  barcode: string | null
  /** The e-commerce SKU of the colour/size: what `sku` means throughout this API. */
  ecommerceSku: string
}

export interface RemovedProduct {
  /** The product that has left. */
  id: string
  /** It has left. */
  removed: true
  /** When it left. */
  updateTimeStamp: string
}
