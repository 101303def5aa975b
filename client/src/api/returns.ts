// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { OrderReturn, ReturnReason } from '../shapes/returns.ts'

/** Return items from an order and track refunds. */
export interface ReturnsApi {
  /** Get a return. The status is `requested`, `received`, `refunded` or `cancelled`. If the capability `returnStatus` is not available (`GET /capabilities`), the status stays `requested`. */
  get(id: string, options?: CallOptions): Promise<OrderReturn>
  /** List return reasons. The reasons in the setting `returnReasons` that the back office accepts. */
  reasons(options?: CallOptions): Promise<ReturnReason[]>
}

export const returns = (call: Calls): ReturnsApi => ({
  get: (id, options) => call.get(`/returns/${segment(id)}`, {}, options),
  reasons: (options) => call.get('/return-reasons', {}, options),
})
