// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls } from '../calls/calls.ts'
import type { PaymentGateway } from '../shapes/paymentGateways.ts'

/** Payment gateways you can use in orders and vouchers. */
export interface PaymentGatewaysApi {
  /** List payment gateways. What a payment of an order may name as its `gateway`. Merchant identifiers stay inside. */
  list(options?: CallOptions): Promise<PaymentGateway[]>
}

export const paymentGateways = (call: Calls): PaymentGatewaysApi => ({
  list: (options) => call.get('/payment-gateways', {}, options),
})
