import { Order, OrderInput } from '../domain/orders/orders.ts'
import { notFound } from '../errors.ts'
import type { Api } from '../http/api.ts'
import { customerRecord } from '../store/customers/customers.ts'
import { orderPage, orderRecord } from '../store/orders/orders.ts'

const tag = 'Orders'

/** Contract 6. */
export function orders(api: Api) {
  api.post(
    '/orders',
    {
      tag,
      summary: 'Places an order.',
      description:
        'Prices are worked out again, and the payments have to be exactly what is due. Vouchers are drawn, stock leaves its store, and, unless orders are shipped by hand, the sale is in the retail history: all of it, or nothing. Orders are not refused for lack of stock.',
      body: OrderInput,
      answer: Order,
      etag: true,
      errors: [
        ...(['order_number_taken', 'unknown_sku', 'unknown_gateway', 'payment_total_mismatch'] as const),
        ...(['validation_id_incorrect', 'voucher_locked', 'voucher_unusable'] as const),
        ...(['insufficient_voucher_balance', 'voucher_must_be_used_in_full'] as const),
        ...(['voucher_not_accepted', 'voucher_not_configured'] as const),
      ],
    },
    async ({ backOffice, body, ...write }) => {
      const { id, record } = await backOffice.placeOrder(write, body)
      return { record, subject: `/orders/${id}` }
    },
  )

  api.get(
    '/orders/:id',
    {
      tag,
      summary: 'One order.',
      params: { id: { description: 'The order.', example: '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91' } },
      answer: Order,
      kind: 'order',
      etag: true,
    },
    ({ db, service, params }) => orderRecord(db, service, params.id),
  )

  api.list(
    '/customers/:id/orders',
    {
      tag,
      summary: 'The orders of one customer, the newest first.',
      params: { id: { description: 'The customer.', example: '65432' } },
      item: Order,
      errors: ['not_found'],
    },
    async ({ db, service, params }, asked) => {
      if (!(await customerRecord(db, service, params.id))) throw notFound('customer')
      return orderPage(db, service, { customerId: params.id }, asked)
    },
  )
}
