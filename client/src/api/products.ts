// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { ListedProduct, Product } from '../shapes/products.ts'

/** Styles with their colours, sizes, prices and barcodes. */
export interface ProductsApi {
  /** List products. A product holds all its colours, and each colour all its sizes with price and barcode. */
  list(query?: Paging & {
    /** Only the product with this style code. */
    code?: string | undefined
    /** Only the product that this e-commerce SKU belongs to. */
    sku?: string | undefined
    /** Only records that changed later than this. Send the `asOf` of the previous list to receive all later changes. */
    updatedAfter?: string | Date | undefined
    /** Whether products that have left since `updated_after` are told too; with neither `code` nor `sku`. */
    removed?: boolean | undefined
  }, options?: CallOptions): Paginator<ListedProduct>
  /** Get a product. With all its colours and sizes. */
  get(id: string, options?: CallOptions): Promise<Product>
}

export const products = (call: Calls): ProductsApi => ({
  list: (query, options) => call.list('/products', query, options),
  get: (id, options) => call.get(`/products/${segment(id)}`, {}, options),
})
