import { Type } from '../../schemas/schemas.ts'

/** What orders and vouchers choose a payment gateway by. */
const name = Type.String({
  description: 'The name by which orders and vouchers choose the gateway.',
  minLength: 1,
  maxLength: 50,
  examples: ['paypal'],
})

/** So many a service may have, however they come. */
export const mostGateways = 200

/** The setting: all that there are. */
export const gateways = Type.Array(name, {
  description: 'The payment gateways that may be named in orders and gift vouchers (`GET /payment-gateways`).',
  maxItems: mostGateways,
  uniqueItems: true,
  default: [],
  examples: [['paypal', 'shopify', 'visa']],
})

export const PaymentGatewayRow = Type.Object({ name })
