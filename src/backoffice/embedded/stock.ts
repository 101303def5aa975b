import { ApiError } from '../../errors/api-error.ts'
import type { StockReads } from '../port/stock.ts'

export const noLiveStockReason =
  'The embedded back office keeps the stock in Tillbridge, so it is always current. Leave out `live`.'

export const stockReads: StockReads = {
  refreshStock: async () => {
    throw new ApiError('capability_unavailable', noLiveStockReason)
  },
}
