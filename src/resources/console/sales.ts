import { get } from '../../http/routing/route-definitions.ts'
import { sumOrdersByInterval, sumSalesByInterval } from '../../store/stats/sales-intervals.ts'
import { consoleRoute, rangeQuery } from './console-data.ts'

/** The charts of sales and orders. */
export const consoleSales = [
  get(
    '/console/sales/intervals',
    {
      ...consoleRoute,
      operationId: 'sumSalesByInterval',
      tag: 'Stats',
      summary: 'Sum up sales and orders by time',
      query: rangeQuery,
    },
    async ({ db, service, query: { range = '24h' } }) => ({
      data: {
        currency: service.settings.currency,
        sales: await sumSalesByInterval(db, service, range),
        orders: await sumOrdersByInterval(db, service, range),
      },
    }),
  ),
]
