// Made of the operations of the API by `npm run docs`.

export interface StockLevel {
  /** Store and SKU. */
  id: string
  /** The e-commerce SKU. */
  sku: string
  /** The back office's own identifier of the SKU. */
  skuId: string
  /** The back office's identifier of the store. */
  storeId: string
  /** The store's number. */
  storeNumber: string
  /** The name of the store. */
  storeName: string
  /** The location the store is mapped to. */
  ecommerceLocationId: string | null
  /** The back office's figure; it may be negative. */
  freeStock: number
  /** Units held back: the figure for the SKU at the store, else the store, else the service, else 0. */
  buffer: number
  /** What may be sold: the free stock less the buffer, never below 0. */
  sellable: number
  /** When the record last changed. */
  updateTimeStamp: string
}
