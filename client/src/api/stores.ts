// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { Store, StoreChange } from '../shapes/stores.ts'

/** Retail locations and the platform locations they map to. */
export interface StoresApi {
  /** List stores. All locations with stock to sell, in one response (at most 10,000). With `limit`, in pages. For shops only, send `kind=store`. */
  list(query?: Paging & {
    /** Only the stores mapped to this location of the e-commerce platform. */
    ecommerceLocationId?: string | undefined
    /** Only locations of this kind. */
    kind?: 'store' | 'warehouse' | 'web' | undefined
  }, options?: CallOptions): Paginator<Store>
  /** Get a store. By its store number, which is a string: `008` is not `8`. */
  get(storeNumber: string, options?: CallOptions): Promise<Store>
  /** Update a store. Changes the store's inventory buffer. Null removes it, so that the service's buffer applies. The store's stock changes with it. */
  update(storeNumber: string, body: StoreChange, options?: WriteOptions): Promise<Store>
}

export const stores = (call: Calls): StoresApi => ({
  list: (query, options) => call.list('/stores', query, options),
  get: (storeNumber, options) => call.get(`/stores/${segment(storeNumber)}`, {}, options),
  update: (storeNumber, body, options) => call.put(`/stores/${segment(storeNumber)}`, body, options),
})
