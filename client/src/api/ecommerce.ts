// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { EcommerceLevel, EcommerceReconciliation, EcommerceStatus } from '../shapes/ecommerce.ts'

/** Syncs from the back office: schedule, lag and run history. */
export interface EcommerceApi {
  /** Get the e-commerce connection. The connection to the platform and the state of its stock push. */
  get(options?: CallOptions): Promise<EcommerceStatus>
  /** List stock levels of the platform. Each level with its desired quantity and the reason if it is held. */
  levels(query?: Paging & {
    /** States, separated by commas. */
    state?: string | undefined
  }, options?: CallOptions): Paginator<EcommerceLevel>
  /** Compare the platform's stock. Starts when a worker is free. Differences are corrected, unless `stockPush` is `dryRun`. */
  reconcile(options?: WriteOptions): Promise<EcommerceReconciliation>
  /** List stock comparisons. Those of the last 90 days, newest first. */
  reconciliations(query?: Paging, options?: CallOptions): Paginator<EcommerceReconciliation>
}

export const ecommerce = (call: Calls): EcommerceApi => ({
  get: (options) => call.get('/ecommerce', {}, options),
  levels: (query, options) => call.list('/ecommerce/levels', query, options),
  reconcile: (options) => call.post('/ecommerce/reconciliations', undefined, options),
  reconciliations: (query, options) => call.list('/ecommerce/reconciliations', query, options),
})
