// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, Paging } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { ListedProduct, Product } from '../shapes/products.ts'

/** Styles with their colours, sizes, prices and barcodes. */
export interface ProductsApi {
  /** List products. Each product has all its colours, and each colour all its sizes with price and barcode. */
  list(query?: Paging & {
    /** Only the product with this style code. */
    code?: string | undefined
    /** Only the product with this e-commerce SKU. */
    sku?: string | undefined
    /** Only records that changed later than this. Send the `asOf` of the previous list to receive all later changes. */
    updatedAfter?: string | Date | undefined
    /** True to include products that were removed after `updated_after`. Can't be combined with `code` or `sku`. */
    removed?: boolean | undefined
  }, options?: CallOptions): Paginator<ListedProduct>
  /** Get a product. The product with all its colours and sizes. */
  get(id: string, options?: CallOptions): Promise<Product>
}

export const products = (call: Calls): ProductsApi => ({
  list: (query, options) => call.list('/products', query, options),
  get: (id, options) => call.get(`/products/${segment(id)}`, {}, options),
})
