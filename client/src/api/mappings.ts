// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { CustomerMapping, CustomerMappingChange, MappingFix, MappingFixInput, MappingIssue, MappingStatus, SkuMapping, SkuMappingChange, StoreMapping, StoreMappingChange } from '../shapes/mappings.ts'

/** Links between your stores, SKUs and customers and the e-commerce platform. */
export interface MappingsApi {
  /** List store mappings. Ordered by ID. */
  stores(query?: Paging & {
    /** Only this state. `mapped`: the record has a location. */
    state?: 'mapped' | 'unmapped' | undefined
  }, options?: CallOptions): Paginator<StoreMapping>
  /** Get a store mapping. A field is null if it is not mapped. */
  store(id: string, options?: CallOptions): Promise<StoreMapping>
  /** Map a store. Keeps fields that the body doesn't mention; null unmaps. Inventory and stores return it as `ecommerceLocationId`. */
  mapStore(id: string, body: StoreMappingChange, options?: WriteOptions): Promise<StoreMapping>
  /** List SKU mappings. Ordered by ID. */
  skus(query?: Paging & {
    /** Only this state. `mapped`: the record has an e-commerce SKU other than its `skuId`. */
    state?: 'mapped' | 'unmapped' | undefined
  }, options?: CallOptions): Paginator<SkuMapping>
  /** Get a SKU mapping. A field is null if it is not mapped. */
  sku(id: string, options?: CallOptions): Promise<SkuMapping>
  /** Map a SKU. Keeps fields that the body doesn't mention; null unmaps. Products and inventory return the e-commerce SKU as `sku`, and orders accept it. Existing sales and orders keep the SKU they were made with. */
  mapSku(id: string, body: SkuMappingChange, options?: WriteOptions): Promise<SkuMapping>
  /** List customer mappings. Ordered by ID. */
  customers(query?: Paging & {
    /** Only this state. `mapped`: the record has an e-commerce identifier in either form. */
    state?: 'mapped' | 'unmapped' | undefined
  }, options?: CallOptions): Paginator<CustomerMapping>
  /** Get a customer mapping. A field is null if it is not mapped. */
  customer(id: string, options?: CallOptions): Promise<CustomerMapping>
  /** Map a customer. Keeps fields that the body doesn't mention; null unmaps. Customers return them. The back office is not involved. */
  mapCustomer(id: string, body: CustomerMappingChange, options?: WriteOptions): Promise<CustomerMapping>
  /** Get mapping status. For each kind: the number of records per state, when they were checked, and the progress of a running check. Tillbridge checks all mappings after an import of a platform file (`ecommerce-locations`, `ecommerce-variants`, `ecommerce-customers`) and every 6 hours after that. A mapping that a PUT or a fix changes is checked at once. */
  status(options?: CallOptions): Promise<MappingStatus[]>
  /** Start a mapping check. The check starts when a worker is free. `GET /mappings/check` returns its progress. */
  check(options?: WriteOptions): Promise<MappingStatus[]>
  /** List store mapping issues. Problems first, then by units sold in 90 days, then by units in stock. Matched records are included: filter with `state`. */
  storeIssues(query?: Paging & {
    /** Only this state. */
    state?: 'unmapped' | 'platformOnly' | 'duplicate' | 'orphaned' | 'nearMatch' | 'matched' | 'unverified' | undefined
  }, options?: CallOptions): Paginator<MappingIssue>
  /** List SKU mapping issues. Problems first, then by units sold in 90 days, then by units in stock. Matched records are included: filter with `state`. */
  skuIssues(query?: Paging & {
    /** Only this state. */
    state?: 'unmapped' | 'platformOnly' | 'duplicate' | 'orphaned' | 'nearMatch' | 'matched' | 'unverified' | undefined
  }, options?: CallOptions): Paginator<MappingIssue>
  /** List customer mapping issues. Problems first, then by units sold in 90 days, then by units in stock. Matched records are included: filter with `state`. */
  customerIssues(query?: Paging & {
    /** Only this state. */
    state?: 'unmapped' | 'platformOnly' | 'duplicate' | 'orphaned' | 'nearMatch' | 'matched' | 'unverified' | undefined
  }, options?: CallOptions): Paginator<MappingIssue>
  /** List mapping fixes. The fixes of the last 90 days, newest first. */
  fixes(query?: Paging, options?: CallOptions): Paginator<MappingFix>
  /** Apply a mapping fix. Maps a record like `PUT /mappings/…`, so that the change can be undone. For a customer, it sets the legacy form. The admin form is kept only if it ends with the same identifier. Null in a dry run unless sent: `id`. */
  fix(body: MappingFixInput, options?: WriteOptions): Promise<MappingFix>
  /** Undo a mapping fix. Restores the previous mapping, unless the mapping has changed since the fix. Undoing a fix twice changes nothing. */
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
  status: (options) => call.get('/mappings/check', {}, options),
  check: (options) => call.post('/mappings/check', undefined, options),
  storeIssues: (query, options) => call.list('/mappings/issues/stores', query, options),
  skuIssues: (query, options) => call.list('/mappings/issues/skus', query, options),
  customerIssues: (query, options) => call.list('/mappings/issues/customers', query, options),
  fixes: (query, options) => call.list('/mappings/fixes', query, options),
  fix: (body, options) => call.post('/mappings/fixes', body, options),
  undoFix: (id, options) => call.post(`/mappings/fixes/${segment(id)}/undo`, undefined, options),
})
