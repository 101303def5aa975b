// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { OrderReturn, RefundedReturn, ReturnReason, ReturnReceipt } from '../shapes/returns.ts'

/** Return items from an order and track refunds. */
export interface ReturnsApi {
  /** Get a return. The status is `requested`, `received`, `refunded` or `cancelled`. If the capability `returnStatus` is not available (`GET /capabilities`), the status stays `requested`. */
  get(id: string, options?: CallOptions): Promise<OrderReturn>
  /** Receive a return. Puts the units that have arrived back into stock, unless `restock` is false. The return is `received` when all have arrived. `restock` replaces the value of the return. Without the capability `fulfilment`: 409 `capability_unavailable`. */
  receive(id: string, body: ReturnReceipt, options?: WriteOptions): Promise<OrderReturn>
  /** Refund a return. Marks a `received` return as `refunded`. Vouchers are refunded before other payments. `refund.payments` is the amount that you must refund through the payment gateways. */
  refund(id: string, options?: WriteOptions): Promise<RefundedReturn>
  /** List return reasons. The reasons in the setting `returnReasons` that the back office accepts. */
  reasons(options?: CallOptions): Promise<ReturnReason[]>
}

export const returns = (call: Calls): ReturnsApi => ({
  get: (id, options) => call.get(`/returns/${segment(id)}`, {}, options),
  receive: (id, body, options) => call.post(`/returns/${segment(id)}/receive`, body, options),
  refund: (id, options) => call.post(`/returns/${segment(id)}/refund`, undefined, options),
  reasons: (options) => call.get('/return-reasons', {}, options),
})
