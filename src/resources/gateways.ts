import { get } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { listGatewayNames } from '../store/tenancy/gateways.ts'

const PaymentGateway = Type.String({
  $id: 'PaymentGateway',
  description: 'The name of a payment gateway.',
  examples: ['paypal'],
})

export const paymentGateways = [
  get(
    '/payment-gateways',
    {
      operationId: 'listPaymentGateways',
      tag: 'Payment gateways',
      summary: 'List payment gateways',
      description: 'The names that `gateway` of a payment or voucher accepts. Merchant identifiers are never returned.',
      response: Type.Array(PaymentGateway, { examples: [['paypal', 'shopify', 'visa']] }),
    },
    async ({ db, service }) => ({ data: await listGatewayNames(db, service) }),
  ),
]
