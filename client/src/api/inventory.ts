// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, Paging } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { StockLevel } from '../shapes/inventory.ts'

/** Stock levels by store and SKU, and how much you can sell online. */
export interface InventoryApi {
  /** List stock levels. Stock levels with the inventory buffer that applies. An unknown `sku` returns 404. */
  list(query?: Paging & {
    /** Only this e-commerce SKU. */
    sku?: string | undefined
    /** Only this store. */
    storeNumber?: string | undefined
    /** Only records that changed later than this. Send the `asOf` of the previous list to receive all later changes. */
    updatedAfter?: string | Date | undefined
    /** True: each level has an `explanation` of its numbers. */
    explain?: boolean | undefined
  }, options?: CallOptions): Paginator<StockLevel>
  /** Get a stock level. By the `id` of the list: the store ID and the SKU. */
  get(id: string, query?: {
    /** True: each level has an `explanation` of its numbers. */
    explain?: boolean | undefined
  }, options?: CallOptions): Promise<StockLevel>
}

export const inventory = (call: Calls): InventoryApi => ({
  list: (query, options) => call.list('/inventory', query, options),
  get: (id, query, options) => call.get(`/inventory/${segment(id)}`, query, options),
})
