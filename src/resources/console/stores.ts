import { notFound } from '../../errors/api-error.ts'
import { get } from '../../http/routing/route-definitions.ts'
import { readStoreSummary } from '../../store/browse/browse.ts'
import { consoleRoute } from './console-data.ts'

export const consoleStores = [
  get(
    '/console/stores/:storeNumber',
    {
      ...consoleRoute,
      operationId: 'readStoreSummary',
      tag: 'Stores',
      summary: 'Sum up the stock of a store',
      params: { storeNumber: { description: "The store's number.", example: '123' } },
    },
    async ({ db, service, params: { storeNumber } }) => {
      const data = await readStoreSummary(db, service, storeNumber)
      if (!data) throw notFound('store')
      return { data }
    },
  ),
]
