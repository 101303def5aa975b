import { Exchange, ExchangeInput } from '../domain/orders/exchanges.ts'
import {
  RefundedReturn,
  Return,
  Returnable,
  ReturnInput,
  ReturnReason,
  ReturnReceipt,
} from '../domain/orders/returns.ts'
import { notFound } from '../errors/api-error.ts'
import { EmptyBody } from '../http/body/body.ts'
import { get, list, post } from '../http/routing/route-definitions.ts'
import { type Static, Type } from '../schemas/schemas.ts'
import { linkPlatformOrder } from '../store/ecommerce/commitments.ts'
import { findReturn, findReturnable, readReturnPage } from '../store/orders/returns.ts'
import { mapCommitPhase } from '../writes/write.ts'
import { findOrderId, orderParams, toResult } from './orders.ts'

const tag = 'Returns'

const returnParams = { id: { description: 'The return.', example: '019a7341-52c8-7e0f-8d64-91b7f3a2c5d0' } }
const transitionErrors = ['not_found', 'invalid_transition', 'capability_unavailable'] as const

export const returns = [
  post(
    '/orders/:id/returns',
    {
      operationId: 'createReturn',
      tag,
      summary: 'Create a return',
      description:
        'Each SKU must be on the order. All returns of an order together can return at most the shipped quantity, even if several clients create returns at the same time. SKUs are case-sensitive. Lines with the same SKU are added up. The refund is the share of the amount paid. Only `sku` is required: `quantity` defaults to all remaining units, `reasonCode` to the setting `defaultReturnReason`.',
      params: orderParams,
      body: ReturnInput,
      generated: ['id', 'returnNumber', 'returnAuthorisationNumber'],
      response: Return,
      etag: true,
      errors: [
        ...(['not_found', 'order_number_taken', 'quantity_exceeds_returnable', 'sku_not_on_order'] as const),
        'capability_unavailable',
      ],
    },
    async ({ backOffice, body, params, ...write }) =>
      mapCommitPhase(await backOffice.createReturn(write, params.id, body), toResult('returns')),
  ),

  post(
    '/orders/:id/exchanges',
    {
      operationId: 'exchangeOrder',
      tag,
      summary: 'Exchange items of an order',
      description:
        'Creates a return and a new order in one transaction. The refund of the return pays for the order first, as a payment with the gateway `exchange`; `payments` must total the rest. If the return is worth more, `refund` is left. If the capability `exchanges` is not available: 409 `capability_unavailable`.',
      params: orderParams,
      body: ExchangeInput,
      response: Exchange,
      errors: [
        ...(['not_found', 'quantity_exceeds_returnable', 'sku_not_on_order', 'payment_total_mismatch'] as const),
        ...(['unknown_sku', 'insufficient_stock', 'capability_unavailable'] as const),
      ],
    },
    async ({ backOffice, body, params, ...write }) => {
      const { service } = write
      const { ecommerceOrderId } = body.order
      const commit = await backOffice.createExchange(write, params.id, body)
      return async tx => {
        const { id, record } = await commit(tx)
        const { order } = JSON.parse(record) as Static<typeof Exchange>
        if (ecommerceOrderId) await linkPlatformOrder(tx, service, order.id, ecommerceOrderId)
        return { record, subject: `/orders/${id}` }
      }
    },
  ),

  list(
    '/orders/:id/returns',
    {
      operationId: 'listOrderReturns',
      tag,
      summary: "List an order's returns",
      description: 'Oldest first. Each return has its status and lines.',
      params: orderParams,
      item: Return,
      errors: ['not_found', 'back_office_error'],
    },
    async (request, page) => {
      const { db, service } = request
      const orderId = await findOrderId(request)
      if (orderId === undefined) throw notFound('order')
      return readReturnPage(db, service, { orderId }, page)
    },
  ),

  get(
    '/orders/:id/returnable',
    {
      operationId: 'listReturnableGoods',
      tag,
      summary: 'List returnable items',
      description:
        'The returnable quantity of each SKU. Lines that are not shipped, or cancelled, do not count as sold.',
      params: orderParams,
      response: Type.Array(Returnable),
      recordName: 'order',
      errors: ['back_office_error'],
    },
    async request => {
      const id = await findOrderId(request)
      return id === undefined ? undefined : findReturnable(request.db, request.service, id)
    },
  ),

  get(
    '/returns/:id',
    {
      operationId: 'getReturn',
      tag,
      summary: 'Get a return',
      description:
        'The status is `requested`, `received`, `refunded` or `cancelled`. If the capability `returnStatus` is not available (`GET /capabilities`), the status stays `requested`.',
      params: returnParams,
      response: Return,
      recordName: 'return',
      etag: true,
    },
    ({ db, service, params }) => findReturn(db, service, params.id),
  ),

  post(
    '/returns/:id/receive',
    {
      operationId: 'receiveReturn',
      tag: 'Fulfilment',
      status: 200,
      summary: 'Receive a return',
      description:
        'Puts the units that have arrived back into stock, unless `restock` is false. The return is `received` when all have arrived. `restock` replaces the value of the return. Without the capability `fulfilment`: 409 `capability_unavailable`.',
      params: returnParams,
      body: ReturnReceipt,
      response: Return,
      etag: true,
      errors: transitionErrors,
    },
    async ({ backOffice, body, params, ...write }) =>
      mapCommitPhase(await backOffice.receiveReturn(write, params.id, body), toResult('returns')),
  ),

  post(
    '/returns/:id/refund',
    {
      operationId: 'refundReturn',
      tag,
      status: 200,
      summary: 'Refund a return',
      description:
        'Marks a `received` return as `refunded`. Vouchers are refunded before other payments. `refund.payments` is the amount that you must refund through the payment gateways.',
      params: returnParams,
      body: EmptyBody,
      response: RefundedReturn,
      errors: transitionErrors,
    },
    async ({ backOffice, body: _, params, ...write }) =>
      mapCommitPhase(await backOffice.refundReturn(write, params.id), toResult('returns')),
  ),

  get(
    '/return-reasons',
    {
      operationId: 'listReturnReasons',
      tag,
      summary: 'List return reasons',
      description: 'The reasons in the setting `returnReasons` that the back office accepts.',
      response: Type.Array(ReturnReason),
      errors: ['back_office_error', 'back_office_unavailable'],
    },
    async ({ backOffice, service }) => ({ data: await backOffice.returnReasons(service) }),
  ),
]
