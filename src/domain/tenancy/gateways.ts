import { Type } from '../../schemas/schemas.ts'

const name = Type.String({
  description: 'The name of the gateway in orders and vouchers.',
  minLength: 1,
  maxLength: 50,
  examples: ['paypal'],
})

/** The maximum number of payment gateways of a service. */
export const maxGateways = 200

/** The setting `gateways`. */
export const gateways = Type.Array(name, {
  description: 'The payment gateways that orders and gift vouchers can use (`GET /payment-gateways`).',
  maxItems: maxGateways,
  uniqueItems: true,
  default: [],
  examples: [['paypal', 'shopify', 'visa']],
})

export const PaymentGatewayRow = Type.Object({ name })
