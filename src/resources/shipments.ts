import { Shipment } from '../domain/orders/shipments.ts'
import { notFound } from '../errors/api-error.ts'
import { get, list } from '../http/routing/route-definitions.ts'
import { findShipment, shipmentPage } from '../store/orders/shipments.ts'
import { orderParams } from './orders.ts'

const tag = 'Orders'

/** Parcels of orders, with their tracking. */
export const shipments = [
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
    async ({ backOffice, db, keys, service, params }, page) => {
      const orderId = await backOffice.findOrder({ db, keys, service }, { idOrNumber: params.id })
      if (orderId === undefined) throw notFound('order')
      return shipmentPage(db, service, { orderId }, page)
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
