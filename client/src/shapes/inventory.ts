// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'

export interface StockLevel {
  /** The store ID and the SKU. */
  id: string
  /** The e-commerce SKU. */
  sku: string
  /** The back office's own ID of the SKU. */
  skuId: string
  /** The back office's ID of the store. */
  storeId: string
  /** The store's number. */
  storeNumber: string
  /** The name of the store. */
  storeName: string
  /** The mapped location of the store. */
  ecommerceLocationId: string | null
  /** The free stock in the back office, with up to three decimals for weighed or measured goods. It can be negative. */
  freeStock: number
  /** Units that are not sold online: the buffer of the SKU at the store, otherwise of the store, otherwise of the service, otherwise 0. */
  buffer: number
  /** Units that can be sold online: the free stock minus the buffer, `reserved` and `allocated`, at least 0. */
  sellable: number
  /** Units of reservations that have not expired. */
  reserved: number
  /** Units of orders that are not shipped and that `freeStock` still contains. */
  allocated: number
  /** When the record last changed. */
  updateTimeStamp: string
  explanation?: StockExplanation
}

/** Only with `explain=true`: the origin of the numbers. */
export interface StockExplanation {
  /** The level that sets `buffer`. */
  bufferFrom: Open<'sku' | 'store' | 'service'>
  /** `excluded`: the source still counts the units of unshipped orders in `freeStock`, so `allocated` is subtracted. `included`: it has taken them off. */
  unshipped: Open<'excluded' | 'included'>
  /** When `freeStock` and the buffer of the SKU last changed in their source, or were written. */
  sourceTimeStamp: string | null
}
