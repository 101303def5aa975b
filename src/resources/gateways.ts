import { get } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { gatewayNames } from '../store/tenancy/gateways.ts'

const PaymentGateway = Type.String({
  $id: 'PaymentGateway',
  description: 'The name of a payment gateway.',
  examples: ['paypal'],
})

/** Contract 8. */
export const paymentGateways = [
  get(
    '/payment-gateways',
    {
      operationId: 'listPaymentGateways',
      tag: 'Payment gateways',
      summary: 'List payment gateways',
      description: 'What a payment of an order may name as its `gateway`. Merchant identifiers stay inside.',
      answer: Type.Array(PaymentGateway, { examples: [['paypal', 'shopify', 'visa']] }),
    },
    async ({ db, service }) => ({ data: await gatewayNames(db, service) }),
  ),
]
