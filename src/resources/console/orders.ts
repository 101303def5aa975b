import { notFound } from '../../errors/api-error.ts'
import { get } from '../../http/routing/route-definitions.ts'
import { readCancellations } from '../../store/orders/cancellations.ts'
import { consoleRoute } from './console-data.ts'

export const consoleOrders = [
  get(
    '/console/orders/:id/cancellations',
    {
      ...consoleRoute,
      operationId: 'listOrderCancellations',
      tag: 'Orders',
      summary: 'List the cancellations of an order',
      params: { id: { description: 'The order: its ID or number.', example: 'W0000123' } },
    },
    async ({ db, service, params: { id } }) => {
      const records = await readCancellations(db, service, id)
      if (records === undefined) throw notFound('order')
      return { data: JSON.parse(records) }
    },
  ),
]
