// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { OrderReturn, ReturnReason } from '../shapes/returns.ts'

/** Return items from an order and track refunds. */
export interface ReturnsApi {
  /** Get a return. Its status says how far it has come: requested, received, refunded or cancelled. Where `GET /capabilities` says that `returnStatus` is not available it stays `requested`. */
  get(id: string, options?: CallOptions): Promise<OrderReturn>
  /** List return reasons. The service's reasons (setting `returnReasons`), as far as its back office takes them. */
  reasons(options?: CallOptions): Promise<ReturnReason[]>
}

export const returns = (call: Calls): ReturnsApi => ({
  get: (id, options) => call.get(`/returns/${segment(id)}`, {}, options),
  reasons: (options) => call.get('/return-reasons', {}, options),
})
