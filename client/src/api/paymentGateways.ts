// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls } from '../calls/calls.ts'
import type { PaymentGateway } from '../shapes/paymentGateways.ts'

/** The ways to pay that the back office knows. */
export interface PaymentGatewaysApi {
  /** The names of the payment gateways. What a payment of an order may name as its `gateway`. Merchant identifiers stay inside. */
  list(options?: CallOptions): Promise<PaymentGateway[]>
}

export const paymentGateways = (call: Calls): PaymentGatewaysApi => ({
  list: (options) => call.get('/payment-gateways', {}, options),
})
