import { Order, OrderInput } from '../domain/orders/orders.ts'
import { type FieldError, notFound } from '../errors/api-error.ts'
import { Filter } from '../http/pagination/lists.ts'
import { get, list, post } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { customerRecord } from '../store/customers/customers.ts'
import { orderPage, orderRecord } from '../store/orders/orders.ts'
import { after } from '../writes/write.ts'
import { ofCustomer } from './customers.ts'

const tag = 'Orders'

/** The parameter of the paths below an order. */
export const ofOrder = {
  id: { description: 'The order: its identifier, or its number.', example: '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91' },
}

const numberNeeded: FieldError = {
  parameter: 'order_number',
  code: 'invalid_parameter',
  detail: '`order_number` is required.',
}

/** Contract 6. */
export const orders = [
  post(
    '/orders',
    {
      operationId: 'placeOrder',
      tag,
      summary: 'Place an order',
      description:
        'Prices are worked out again, and the payments have to be exactly what is due. Vouchers are drawn, stock leaves its store, and, unless orders are shipped by hand, the sale is in the retail history: all of it, or nothing. Orders are not refused for lack of stock.',
      body: OrderInput,
      made: ['id', 'orderNumber'],
      answer: Order,
      etag: true,
      errors: [
        ...(['order_number_taken', 'unknown_sku', 'unknown_gateway', 'payment_total_mismatch'] as const),
        ...(['validation_id_incorrect', 'voucher_locked', 'voucher_unusable'] as const),
        ...(['insufficient_voucher_balance', 'voucher_must_be_used_in_full'] as const),
        ...(['voucher_not_accepted', 'voucher_not_configured'] as const),
      ],
    },
    async ({ backOffice, body, ...write }) =>
      after(await backOffice.placeOrder(write, body), ({ id, record }) => ({ record, subject: `/orders/${id}` })),
  ),

  get(
    '/orders/:id',
    {
      operationId: 'getOrder',
      tag,
      summary: 'Get an order',
      description: 'By its identifier or its number, with the status of each line.',
      params: ofOrder,
      answer: Order,
      kind: 'order',
      etag: true,
      errors: ['back_office_error'],
    },
    async ({ backOffice, db, keys, service, params }) => {
      const id = await backOffice.findOrder({ db, keys, service }, { idOrNumber: params.id })
      return id === undefined ? undefined : orderRecord(db, service, id)
    },
  ),

  list(
    '/orders',
    {
      operationId: 'findOrders',
      tag,
      summary: 'Find an order by number',
      description: 'A list of one order, or of none.',
      query: Type.Required(Type.Object({ order_number: Filter('Exactly this number.', 'W0000123', 30) })),
      item: Order,
      errors: ['back_office_error'],
      judge: (_, given) => (given.has('order_number') ? [] : [numberNeeded]),
    },
    async ({ backOffice, db, keys, service, query }, asked) => {
      const id = await backOffice.findOrder({ db, keys, service }, { number: query.order_number })
      // There is no order without an identifier.
      return orderPage(db, service, { id: id ?? '' }, asked)
    },
  ),

  list(
    '/customers/:id/orders',
    {
      operationId: 'listCustomerOrders',
      tag,
      summary: "List a customer's orders",
      description:
        'Each with its lines and its payments. A back office that keeps orders of its own is asked for them, for the first page. Where it does not answer within a few seconds, the list is what is known here: a warning says so.',
      params: ofCustomer,
      item: Order,
      errors: ['not_found'],
    },
    async ({ backOffice, db, keys, service, params }, asked) => {
      if (!(await customerRecord(db, service, params.id))) throw notFound('customer')
      const isFirst = asked.after === undefined
      const { warning, syncedAt } = (isFirst && (await backOffice.bringOrders({ db, keys, service }, params.id))) || {}
      const page = await orderPage(db, service, { customerId: params.id }, asked)
      return { page, syncedAt, ...(warning && { warnings: [warning] }) }
    },
  ),
]
