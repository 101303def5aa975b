// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, WriteOptions } from '../calls/calls.ts'
import type { EcommerceStatus } from '../shapes/ecommerce.ts'

/** Syncs from the back office: schedule, lag and run history. */
export interface EcommerceApi {
  /** Get the stock push. Levels of stock on the platform by state, and the newest comparison. */
  get(options?: CallOptions): Promise<EcommerceStatus>
  /** Compare the platform's stock. Starts when a worker is free. */
  reconcile(options?: WriteOptions): Promise<EcommerceStatus>
}

export const ecommerce = (call: Calls): EcommerceApi => ({
  get: (options) => call.get('/ecommerce', {}, options),
  reconcile: (options) => call.post('/ecommerce/reconciliations', undefined, options),
})
