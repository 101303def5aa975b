// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { EcommerceStatus, PlatformLevel, StockDrift, StockPushInput, StockReconciliation } from '../shapes/ecommerce.ts'

/** Syncs from the back office: schedule, lag and run history. */
export interface EcommerceApi {
  /** Get the stock push. Levels of stock on the platform by state, and the newest comparison. */
  get(options?: CallOptions): Promise<EcommerceStatus>
  /** List stock on the platform. By item and location. */
  levels(query?: Paging & {
    /** Only this state. */
    state?: 'due' | 'inFlight' | 'held' | 'inStep' | undefined
    /** Only levels held for this reason. */
    reason?: string | undefined
    /** Only this item. */
    itemId?: string | undefined
  }, options?: CallOptions): Paginator<PlatformLevel>
  /** Push stock now. `approve` confirms the first push after a dry run, or continues a stopped one. Review the differences before. */
  push(body: StockPushInput, options?: WriteOptions): Promise<EcommerceStatus>
  /** Compare the platform's stock. Starts when a worker is free. */
  reconcile(options?: WriteOptions): Promise<EcommerceStatus>
  /** List comparisons of stock. Those of 90 days, newest first. */
  reconciliations(query?: Paging, options?: CallOptions): Paginator<StockReconciliation>
  /** List stock that others changed. By item and location. */
  drift(id: string, query?: Paging, options?: CallOptions): Paginator<StockDrift>
}

export const ecommerce = (call: Calls): EcommerceApi => ({
  get: (options) => call.get('/ecommerce', {}, options),
  levels: (query, options) => call.list('/ecommerce/levels', query, options),
  push: (body, options) => call.post('/ecommerce/push', body, options),
  reconcile: (options) => call.post('/ecommerce/reconciliations', undefined, options),
  reconciliations: (query, options) => call.list('/ecommerce/reconciliations', query, options),
  drift: (id, query, options) => call.list(`/ecommerce/reconciliations/${segment(id)}/drift`, query, options),
})
