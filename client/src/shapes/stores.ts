// Made of the operations of the API by `npm run docs`.
import type { Address } from './customers.ts'

export interface Store {
  /** The back office's identifier of the store. */
  storeId: string
  /** The number the retailer knows the store by; a string, zeros in front are kept. */
  storeNumber: string
  /** A short code. */
  code: string | null
  /** The name shoppers know. */
  name: string
  /** E-mail address of the store. */
  email: string | null
  address: Address
  /** The location in the e-commerce platform; several stores may share one. Null where none is mapped. */
  ecommerceLocationId: string | null
  /** Units of each SKU held back from sale in this store. */
  inventoryBuffer: number | null
}
