// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { EcommerceLevel, EcommerceStatus, StockReconciliation } from '../shapes/ecommerce.ts'

/** Syncs from the back office: schedule, lag and run history. */
export interface EcommerceApi {
  /** Get the stock push. The stock push to the platform. */
  get(options?: CallOptions): Promise<EcommerceStatus>
  /** List stock of the platform. Each with its desired quantity. */
  levels(query?: Paging & {
    /** States, separated by commas. */
    state?: string | undefined
  }, options?: CallOptions): Paginator<EcommerceLevel>
  /** Compare the platform's stock. Starts when a worker is free. */
  reconcile(options?: WriteOptions): Promise<StockReconciliation>
  /** List stock comparisons. Newest first, for 90 days. */
  reconciliations(query?: Paging, options?: CallOptions): Paginator<StockReconciliation>
}

export const ecommerce = (call: Calls): EcommerceApi => ({
  get: (options) => call.get('/ecommerce', {}, options),
  levels: (query, options) => call.list('/ecommerce/levels', query, options),
  reconcile: (options) => call.post('/ecommerce/reconciliations', undefined, options),
  reconciliations: (query, options) => call.list('/ecommerce/reconciliations', query, options),
})
