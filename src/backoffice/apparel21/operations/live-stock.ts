import { refreshStock } from '../../../store/inventory/fresh-stock.ts'
import type { StockReads } from '../../port/stock.ts'
import type { Upstream } from '../queries/upstream.ts'
import { fetchStockOfSkus } from '../syncs/stock.ts'

/** Reads the stock of a cart. Concurrent carts share the calls about a SKU, but never one that began before their own. */
export const createStockReads = ({ client, freshReadThrough }: Upstream): StockReads => ({
  async refreshStock({ db, service }, skuIds) {
    const { signal } = new AbortController()
    const errors = await Promise.all(
      skuIds.map(skuId =>
        freshReadThrough(`${service.id} stock ${skuId}`, async () => {
          await refreshStock(db, service, [skuId], requested => fetchStockOfSkus(client, requested, signal))
          return undefined
        }),
      ),
    )
    const error = errors.find(result => result !== undefined)
    if (error) throw error
  },
})
