import { Type } from 'typebox'
import type { Api } from '../http/api.ts'
import { gatewayNames } from '../store/running/gateways.ts'

/** Contract 8. */
export function paymentGateways(api: Api) {
  api.get(
    '/payment-gateways',
    {
      tag: 'Payment gateways',
      summary: 'The names of the payment gateways.',
      answer: Type.Array(Type.String({ examples: ['paypal'] }), { examples: [['paypal', 'shopify', 'visa']] }),
    },
    async ({ db, service }) => ({ data: await gatewayNames(db, service) }),
  )
}
