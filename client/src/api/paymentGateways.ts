// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls } from '../calls/calls.ts'
import type { PaymentGateway } from '../shapes/paymentGateways.ts'

/** Payment gateways you can use in orders and vouchers. */
export interface PaymentGatewaysApi {
  /** List payment gateways. The names that `gateway` of a payment or voucher accepts. Merchant identifiers are never returned. */
  list(options?: CallOptions): Promise<PaymentGateway[]>
}

export const paymentGateways = (call: Calls): PaymentGatewaysApi => ({
  list: (options) => call.get('/payment-gateways', {}, options),
})
