// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls } from '../calls/calls.ts'
import type { SearchResult } from '../shapes/search.ts'

/** Find any record by number, name, email address or phone number. */
export interface SearchApi {
  /** Search all records. Finds customers by words of their name or email address, or by the end of a phone number. Finds orders, receipts, returns, products and SKUs by the beginning of their number. Finds products by words of their name, SKUs by barcode, and vouchers by number. At most 20 results of each type. Reads stored records, so it works while the back office is down. */
  find(query: {
    /** The search text. Words are prefixes; all of them must occur. Case and accents are ignored. */
    q: string
  }, options?: CallOptions): Promise<SearchResult[]>
}

export const search = (call: Calls): SearchApi => ({
  find: (query, options) => call.get('/search', query, options),
})
