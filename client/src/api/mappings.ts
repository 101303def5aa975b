// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Walk } from '../calls/walk.ts'
import type { CustomerMapping, CustomerMappingChange, SkuMapping, SkuMappingChange, StoreMapping, StoreMappingChange } from '../shapes/mappings.ts'

/** What stores, SKUs and customers are in the e-commerce platform. */
export interface MappingsApi {
  /** The stores, with what each is in the e-commerce platform. Ordered by the identifier. */
  stores(query?: Paging & {
    /** Only those of which it is so: a `mapped` one has a location. */
    state?: 'mapped' | 'unmapped' | undefined
  }, options?: CallOptions): Walk<StoreMapping>
  /** What one store is in the e-commerce platform. Null where it is not mapped. */
  store(id: string, options?: CallOptions): Promise<StoreMapping>
  /** Says what one store is in the e-commerce platform. What the body does not mention stays; null takes it away. Inventory and stores show it as `ecommerceLocationId`. */
  mapStore(id: string, body: StoreMappingChange, options?: WriteOptions): Promise<StoreMapping>
  /** The SKUs, with what each is in the e-commerce platform. Ordered by the identifier. */
  skus(query?: Paging & {
    /** Only those of which it is so: a `mapped` one has a SKU there, other than its `skuId`. */
    state?: 'mapped' | 'unmapped' | undefined
  }, options?: CallOptions): Walk<SkuMapping>
  /** What one SKU is in the e-commerce platform. Null where it is not mapped. */
  sku(id: string, options?: CallOptions): Promise<SkuMapping>
  /** Says what one SKU is in the e-commerce platform. What the body does not mention stays; null takes it away. What is called `sku` elsewhere: products and inventory show it, orders take it. Sales and orders keep the one of their day. */
  mapSku(id: string, body: SkuMappingChange, options?: WriteOptions): Promise<SkuMapping>
  /** The customers, with what each is in the e-commerce platform. Ordered by the identifier. */
  customers(query?: Paging & {
    /** Only those of which it is so: a `mapped` one has an identifier there, in either form. */
    state?: 'mapped' | 'unmapped' | undefined
  }, options?: CallOptions): Walk<CustomerMapping>
  /** What one customer is in the e-commerce platform. Null where it is not mapped. */
  customer(id: string, options?: CallOptions): Promise<CustomerMapping>
  /** Says what one customer is in the e-commerce platform. What the body does not mention stays; null takes it away. Customers show them. The back office is not asked, nor told. */
  mapCustomer(id: string, body: CustomerMappingChange, options?: WriteOptions): Promise<CustomerMapping>
}

export const mappings = (call: Calls): MappingsApi => ({
  stores: (query, options) => call.list('/mappings/stores', query, options),
  store: (id, options) => call.get(`/mappings/stores/${segment(id)}`, {}, options),
  mapStore: (id, body, options) => call.put(`/mappings/stores/${segment(id)}`, body, options),
  skus: (query, options) => call.list('/mappings/skus', query, options),
  sku: (id, options) => call.get(`/mappings/skus/${segment(id)}`, {}, options),
  mapSku: (id, body, options) => call.put(`/mappings/skus/${segment(id)}`, body, options),
  customers: (query, options) => call.list('/mappings/customers', query, options),
  customer: (id, options) => call.get(`/mappings/customers/${segment(id)}`, {}, options),
  mapCustomer: (id, body, options) => call.put(`/mappings/customers/${segment(id)}`, body, options),
})
