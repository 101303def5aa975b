import type { WrittenRecord } from '../backoffice/port/orders.ts'
import { FreightOption } from '../domain/orders/freight-options.ts'
import { Order, OrderInput } from '../domain/orders/orders.ts'
import { OrderQuote, OrderQuoteInput } from '../domain/orders/quotes.ts'
import { notFound } from '../errors/api-error.ts'
import { Filter } from '../http/pagination/lists.ts'
import type { ReadContext } from '../http/routing/operation.ts'
import { calculation, get, list, post } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { findCustomer } from '../store/customers/customers.ts'
import { linkPlatformOrder } from '../store/ecommerce/commitments.ts'
import { findOrderRecord, readOrderPage } from '../store/orders/orders.ts'
import { customerParams } from './customers.ts'

const tag = 'Orders'

/** The parameter of the paths below an order. */
export const orderParams = {
  id: { description: 'The ID or number of the order.', example: '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91' },
}

/** Returns the result of a write to an order, a return or a shipment: the record, and its path for the audit log. */
export const toResult =
  (collection: 'orders' | 'returns' | 'shipments') =>
  ({ id, record }: WrittenRecord) => ({ record, subject: `/${collection}/${id}` })

/** Returns the ID of the order in the path, which can be its number. Returns undefined if it doesn't exist. */
export const findOrderId = ({
  backOffice,
  db,
  keys,
  service,
  params,
}: Pick<ReadContext<unknown, typeof orderParams>, 'backOffice' | 'db' | 'keys' | 'service' | 'params'>) =>
  backOffice.findOrder({ db, keys, service }, { idOrNumber: params.id })

/** Orders of the web shop. */
export const orders = [
  post(
    '/orders',
    {
      operationId: 'placeOrder',
      tag,
      summary: 'Place an order',
      description:
        'Tillbridge computes all prices. The payments must total exactly the amount due. In one transaction, it redeems the vouchers, reduces the stock and, unless `fulfilment` is `manual`, records the sale. With `oversell` set to `refuse`, an order beyond the units that can be sold is rejected. With `allow`, it is accepted. `reservationId` uses up a reservation in the same transaction. With `quoteId`, the order has the prices, discounts and freight of the quote, which is valid for 30 minutes.',
      body: OrderInput,
      generated: ['id', 'orderNumber'],
      response: Order,
      etag: true,
      errors: [
        ...(['order_number_taken', 'unknown_sku', 'unknown_gateway', 'payment_total_mismatch'] as const),
        ...(['validation_id_incorrect', 'voucher_locked', 'voucher_unusable'] as const),
        ...(['insufficient_voucher_balance', 'voucher_must_be_used_in_full'] as const),
        ...(['voucher_not_accepted', 'voucher_not_configured', 'insufficient_stock', 'reservation_expired'] as const),
        ...(['quote_expired', 'coupon_unusable', 'coupon_locked', 'capability_unavailable'] as const),
      ],
    },
    async ({ backOffice, body, ...write }) => {
      const { service } = write
      const { ecommerceOrderId } = body
      const commit = await backOffice.placeOrder(write, body)
      return async tx => {
        const { id, record } = await commit(tx)
        if (ecommerceOrderId) await linkPlatformOrder(tx, service, id, ecommerceOrderId)
        return { record, subject: `/orders/${id}` }
      }
    },
  ),

  post(
    '/orders/quote',
    {
      operationId: 'quoteOrder',
      tag: 'Checkout',
      ...calculation,
      summary: 'Quote an order',
      description:
        "Prices a cart: current prices, your discounts, and the back office's promotions, loyalty discounts and freight options. Nothing is stored or reserved. `POST /orders` with the `quoteId` places the order at these prices.",
      body: OrderQuoteInput,
      response: OrderQuote,
      errors: ['unknown_sku', 'capability_unavailable'],
    },
    async ({ backOffice, body, ...write }) => {
      const data = await backOffice.quoteOrder(write, body)
      return async () => ({ data, subject: '/orders/quote' })
    },
  ),

  get(
    '/freight-options',
    {
      operationId: 'listFreightOptions',
      tag: 'Checkout',
      summary: 'List freight options',
      description:
        'The freight options of the back office. `POST /orders/quote` returns their prices for a cart. Empty if the capability `freightOptions` is not available.',
      response: Type.Array(FreightOption),
      errors: ['back_office_error', 'back_office_unavailable'],
    },
    async ({ backOffice }) => ({ data: await backOffice.listFreightOptions() }),
  ),

  get(
    '/orders/:id',
    {
      operationId: 'getOrder',
      tag,
      summary: 'Get an order',
      description: 'By ID or number. Each line has its status.',
      params: orderParams,
      response: Order,
      recordName: 'order',
      etag: true,
      errors: ['back_office_error'],
    },
    async request => {
      const id = await findOrderId(request)
      return id === undefined ? undefined : findOrderRecord(request.db, request.service, id)
    },
  ),

  list(
    '/orders',
    {
      operationId: 'findOrders',
      tag,
      summary: 'Find an order by number',
      description: 'A list with one order, or an empty list.',
      query: Type.Required(Type.Object({ order_number: Filter('The exact order number.', 'W0000123', 30) })),
      item: Order,
      errors: ['back_office_error'],
    },
    async ({ backOffice, db, keys, service, query }, page) => {
      const id = await backOffice.findOrder({ db, keys, service }, { number: query.order_number })
      // No order has an empty ID.
      return readOrderPage(db, service, { id: id ?? '' }, page)
    },
  ),

  list(
    '/customers/:id/orders',
    {
      operationId: 'listCustomerOrders',
      tag,
      summary: "List a customer's orders",
      description:
        'Newest first. For the first page, Tillbridge requests the orders from a back office that has its own. If the back office does not respond within a few seconds, the list contains the orders stored in Tillbridge, with a warning.',
      params: customerParams,
      item: Order,
      errors: ['not_found'],
    },
    async ({ backOffice, db, keys, service, params }, pageRequest) => {
      if (!(await findCustomer(db, service, params.id))) throw notFound('customer')
      const isFirst = pageRequest.after === undefined
      const { warning, syncedAt } =
        (isFirst && (await backOffice.refreshOrders({ db, keys, service }, params.id))) || {}
      const page = await readOrderPage(db, service, { customerId: params.id }, pageRequest)
      return { page, syncedAt, ...(warning && { warnings: [warning] }) }
    },
  ),
]
