// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Walk } from '../calls/walk.ts'
import type { CustomerMapping, CustomerMappingChange, MappingFinding, MappingFix, MappingFixInput, MappingHealth, SkuMapping, SkuMappingChange, StoreMapping, StoreMappingChange } from '../shapes/mappings.ts'

/** Links between your stores, SKUs and customers and the e-commerce platform. */
export interface MappingsApi {
  /** List store mappings. Ordered by the identifier. */
  stores(query?: Paging & {
    /** Only those of which it is so: a `mapped` one has a location. */
    state?: 'mapped' | 'unmapped' | undefined
  }, options?: CallOptions): Walk<StoreMapping>
  /** Get a store mapping. Null where it is not mapped. */
  store(id: string, options?: CallOptions): Promise<StoreMapping>
  /** Map a store. What the body does not mention stays; null takes it away. Inventory and stores show it as `ecommerceLocationId`. */
  mapStore(id: string, body: StoreMappingChange, options?: WriteOptions): Promise<StoreMapping>
  /** List SKU mappings. Ordered by the identifier. */
  skus(query?: Paging & {
    /** Only those of which it is so: a `mapped` one has a SKU there, other than its `skuId`. */
    state?: 'mapped' | 'unmapped' | undefined
  }, options?: CallOptions): Walk<SkuMapping>
  /** Get a SKU mapping. Null where it is not mapped. */
  sku(id: string, options?: CallOptions): Promise<SkuMapping>
  /** Map a SKU. What the body does not mention stays; null takes it away. What is called `sku` elsewhere: products and inventory show it, orders take it. Sales and orders keep the one of their day. */
  mapSku(id: string, body: SkuMappingChange, options?: WriteOptions): Promise<SkuMapping>
  /** List customer mappings. Ordered by the identifier. */
  customers(query?: Paging & {
    /** Only those of which it is so: a `mapped` one has an identifier there, in either form. */
    state?: 'mapped' | 'unmapped' | undefined
  }, options?: CallOptions): Walk<CustomerMapping>
  /** Get a customer mapping. Null where it is not mapped. */
  customer(id: string, options?: CallOptions): Promise<CustomerMapping>
  /** Map a customer. What the body does not mention stays; null takes it away. Customers show them. The back office is not asked, nor told. */
  mapCustomer(id: string, body: CustomerMappingChange, options?: WriteOptions): Promise<CustomerMapping>
  /** Get mapping status. Judged when a file of the e-commerce platform has come (`ecommerce-locations`, `ecommerce-variants`, `ecommerce-customers`), every six hours from then on, and one that `PUT /mappings/…` or a fix changes at once. */
  check(options?: CallOptions): Promise<MappingHealth[]>
  /** Start a mapping check. As soon as a worker has time. `GET /mappings/doctor` tells when it is done. */
  runDoctor(options?: WriteOptions): Promise<MappingHealth[]>
  /** List store mapping issues. The worst first: what is not well before what is, then by what was sold of it in 90 days, then by what is in stock. `unclaimed` is what only the e-commerce platform has. */
  storeFindings(query?: Paging & {
    /** Only what is in this state. */
    state?: 'missing' | 'unclaimed' | 'twice' | 'orphan' | 'nearMiss' | 'matched' | 'unchecked' | undefined
  }, options?: CallOptions): Walk<MappingFinding>
  /** List SKU mapping issues. The worst first: what is not well before what is, then by what was sold of it in 90 days, then by what is in stock. `unclaimed` is what only the e-commerce platform has. */
  skuFindings(query?: Paging & {
    /** Only what is in this state. */
    state?: 'missing' | 'unclaimed' | 'twice' | 'orphan' | 'nearMiss' | 'matched' | 'unchecked' | undefined
  }, options?: CallOptions): Walk<MappingFinding>
  /** List customer mapping issues. The worst first: what is not well before what is, then by what was sold of it in 90 days, then by what is in stock. `unclaimed` is what only the e-commerce platform has. */
  customerFindings(query?: Paging & {
    /** Only what is in this state. */
    state?: 'missing' | 'unclaimed' | 'twice' | 'orphan' | 'nearMiss' | 'matched' | 'unchecked' | undefined
  }, options?: CallOptions): Walk<MappingFinding>
  /** List mapping fixes. Of the last 90 days. */
  fixes(query?: Paging, options?: CallOptions): Walk<MappingFix>
  /** Apply a mapping fix. As `PUT /mappings/…` does. Of a customer the legacy form is set; the admin form stays where it ends with the same, and is taken away elsewhere. With `from` only where it is mapped to that. In the answer to a trial null, unless the body says it: `fixId`. */
  fix(body: MappingFixInput, options?: WriteOptions): Promise<MappingFix>
  /** Undo a mapping fix. As long as nobody has changed it since. One that is undone stays so. */
  undoFix(id: string, options?: WriteOptions): Promise<MappingFix>
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
  check: (options) => call.get('/mappings/doctor', {}, options),
  runDoctor: (options) => call.post('/mappings/doctor/run', undefined, options),
  storeFindings: (query, options) => call.list('/mappings/doctor/stores', query, options),
  skuFindings: (query, options) => call.list('/mappings/doctor/skus', query, options),
  customerFindings: (query, options) => call.list('/mappings/doctor/customers', query, options),
  fixes: (query, options) => call.list('/mappings/doctor/fixes', query, options),
  fix: (body, options) => call.post('/mappings/doctor/fixes', body, options),
  undoFix: (id, options) => call.post(`/mappings/doctor/fixes/${segment(id)}/undo`, undefined, options),
})
