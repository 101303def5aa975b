import { Cancellation, CancellationInput, Order } from '../domain/orders/orders.ts'
import { Shipment, ShipmentInput } from '../domain/orders/shipments.ts'
import { isWebAddress } from '../domain/orders/tracking.ts'
import { type FieldError, notFound } from '../errors/api-error.ts'
import { throwIfAny } from '../errors/throw-if-any.ts'
import { EmptyBody } from '../http/body/body.ts'
import { get, list, post } from '../http/routing/route-definitions.ts'
import { findShipment, readShipmentPage } from '../store/orders/shipments.ts'
import { mapCommitPhase } from '../writes/write.ts'
import { findOrderId, orderParams, toResult } from './orders.ts'

const tag = 'Orders'

const fulfilmentErrors = ['not_found', 'invalid_transition', 'capability_unavailable'] as const

function checkTrackingUrl({ trackingUrl }: ShipmentInput): FieldError[] {
  if (typeof trackingUrl !== 'string' || isWebAddress(trackingUrl)) return []
  const detail = '`trackingUrl` must be a web address such as https://track.example.com/33ABC1234567.'
  return [{ pointer: '/trackingUrl', code: 'invalid_field', detail }]
}

/** Parcels of orders, with their tracking, and cancellations of units that are not shipped. */
export const shipments = [
  post(
    '/orders/:id/shipments',
    {
      operationId: 'createShipment',
      tag: 'Fulfilment',
      summary: 'Ship an order',
      description:
        'Ships the open units of all lines, or those in `lines`, as one shipment. In one transaction, they leave the stock (of `storeNumber`, if it is sent), and the sale and its rewards are recorded. A unit can be shipped once, even if several clients ship it at the same time. If the capability `fulfilment` is not available: 409 `capability_unavailable`.',
      params: orderParams,
      body: ShipmentInput,
      generated: ['id'],
      response: Shipment,
      etag: true,
      errors: fulfilmentErrors,
    },
    async ({ backOffice, body, params, ...write }) => {
      throwIfAny(checkTrackingUrl(body))
      return mapCommitPhase(await backOffice.createShipment(write, params.id, body), toResult('shipments'))
    },
  ),

  post(
    '/orders/:id/cancel',
    {
      operationId: 'cancelOrder',
      tag,
      status: 200,
      summary: 'Cancel an order',
      description:
        'Cancels the open units of all lines, or those in `lines`. They can be sold again. Vouchers are refunded before other payments. `refund.payments` is the amount that you must refund through the payment gateways. Freight and taxes are refunded with the last unit if nothing was shipped.',
      params: orderParams,
      body: CancellationInput,
      response: Cancellation,
      errors: fulfilmentErrors,
    },
    async ({ backOffice, body, params, ...write }) =>
      mapCommitPhase(await backOffice.createCancellation(write, params.id, body), toResult('orders')),
  ),

  ...(['ready', 'collected'] as const).map(status =>
    post(
      `/orders/:id/${status}`,
      {
        operationId: status === 'ready' ? 'markOrderReady' : 'markOrderCollected',
        tag: 'Fulfilment',
        status: 200,
        summary: `Mark an order as ${status}`,
        description:
          status === 'ready'
            ? 'Sets `readyAt` of an order with a `pickupStoreNumber`: the shopper can collect it.'
            : 'Sets `collectedAt` of a `ready` order, and ships its open units as `POST /orders/{id}/shipments` does.',
        params: orderParams,
        body: EmptyBody,
        response: Order,
        etag: true,
        errors: fulfilmentErrors,
      },
      async ({ backOffice, body: _, params, ...write }) => {
        const phase = status === 'ready' ? backOffice.markReady : backOffice.markCollected
        return mapCommitPhase(await phase(write, params.id), toResult('orders'))
      },
    ),
  ),

  list(
    '/orders/:id/shipments',
    {
      operationId: 'listOrderShipments',
      tag,
      summary: "List an order's shipments",
      description:
        'Each shipment has its carrier, tracking and content. An order that is shipped when it is placed (setting `fulfilment`) has no shipment.',
      params: orderParams,
      item: Shipment,
      errors: ['not_found', 'back_office_error'],
    },
    async (request, page) => {
      const { db, service } = request
      const orderId = await findOrderId(request)
      if (orderId === undefined) throw notFound('order')
      return readShipmentPage(db, service, { orderId }, page)
    },
  ),

  get(
    '/shipments/:id',
    {
      operationId: 'getShipment',
      tag,
      summary: 'Get a shipment',
      description: 'A shipment that the back office has merged into another is removed.',
      params: { id: { description: 'The shipment.', example: '019a7341-52c8-7e0f-8d64-91b7f3a2c5d1' } },
      response: Shipment,
      recordName: 'shipment',
      etag: true,
    },
    ({ db, service, params }) => findShipment(db, service, params.id),
  ),
]
