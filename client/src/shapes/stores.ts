// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'
import type { Address } from './orders.ts'

export interface StoreChange {
  /** Units of each SKU that are not sold online from this store. Null: the service's buffer applies. A buffer of a SKU at the store overrides it. */
  inventoryBuffer: number | null
}

export interface Store {
  /** The back office's ID of the store. */
  storeId: string
  /** The retailer's number of the store. A string, so leading zeros are kept. A location without a number has its `storeId` here. */
  storeNumber: string
  /** `store`: a shop. `warehouse`: a location without a shop. `web`: a web store, which groups the stock of other locations. */
  kind: Open<'store' | 'warehouse' | 'web'>
  /** A short code. */
  code: string | null
  /** The name of the store. */
  name: string
  /** The email address of the store. */
  email: string | null
  address: Address
  /** The mapped location in the e-commerce platform. Several stores can share one. Null if the store is not mapped. */
  ecommerceLocationId: string | null
  /** Units of each SKU that are not sold online from this store. */
  inventoryBuffer: number | null
}
