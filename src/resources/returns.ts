import { Type } from 'typebox'
import { Return, Returnable, ReturnInput, ReturnReason } from '../domain/orders/returns.ts'
import { notFound } from '../errors.ts'
import type { Api } from '../http/api.ts'
import { orderExists } from '../store/orders/orders.ts'
import { returnableRecord, returnPage, returnRecord } from '../store/orders/returns.ts'

const tag = 'Returns'
const ofOrder = { id: { description: 'The order.', example: '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91' } }

/** Contract 6. */
export function returns(api: Api) {
  api.post(
    '/orders/:id/returns',
    {
      tag,
      summary: 'Returns goods of an order.',
      description:
        'Each SKU has to be on the order, and over all its returns no more comes back than was shipped, also when several clients return at once. SKUs are compared letter by letter; lines with the same SKU are added up. What is refunded is the share of what was paid.',
      params: ofOrder,
      body: ReturnInput,
      answer: Return,
      etag: true,
      errors: [
        ...(['not_found', 'order_number_taken', 'quantity_exceeds_returnable', 'sku_not_on_order'] as const),
        'capability_unavailable',
      ],
    },
    async ({ backOffice, body, params, ...write }) => {
      const { id, record } = await backOffice.createReturn(write, params.id, body)
      return { record, subject: `/returns/${id}` }
    },
  )

  api.list(
    '/orders/:id/returns',
    {
      tag,
      summary: 'The returns of an order, the oldest first.',
      params: ofOrder,
      item: Return,
      errors: ['not_found'],
    },
    async ({ db, service, params }, asked) => {
      if (!(await orderExists(db, service, params.id))) throw notFound('order')
      return returnPage(db, service, { orderId: params.id }, asked)
    },
  )

  api.get(
    '/orders/:id/returnable',
    {
      tag,
      summary: 'What of an order can still be returned, by SKU.',
      description: 'What is not shipped, or cancelled, is not sold.',
      params: ofOrder,
      answer: Type.Array(Returnable),
      kind: 'order',
    },
    ({ db, service, params }) => returnableRecord(db, service, params.id),
  )

  api.get(
    '/returns/:id',
    {
      tag,
      summary: 'One return.',
      params: { id: { description: 'The return.', example: '019a7341-52c8-7e0f-8d64-91b7f3a2c5d0' } },
      answer: Return,
      kind: 'return',
      etag: true,
    },
    ({ db, service, params }) => returnRecord(db, service, params.id),
  )

  api.get(
    '/return-reasons',
    { tag, summary: 'Why something may be returned.', answer: Type.Array(ReturnReason) },
    async ({ service }) => ({ data: service.settings.returnReasons }),
  )
}
