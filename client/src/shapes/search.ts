// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'

export interface SearchResult {
  /** The type of the record. `sale`: a retail transaction. `voucher` is found by admins only. */
  type: Open<'customer' | 'order' | 'sale' | 'return' | 'product' | 'sku' | 'voucher'>
  /** The ID of the record: of a SKU the SKU, of a voucher its number. */
  id: string
  /** The name or number of the record. */
  title: string
  /** More about the record. */
  detail: string
  /** The field that contains the search text. */
  matchedField: Open<'name' | 'email' | 'phone' | 'number' | 'orderNumber' | 'sku' | 'barcode' | 'id'>
  /** The content of that field. */
  matchedText: string
}
