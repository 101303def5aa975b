import { type Db, type Sql, sql } from '../../database/db.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { MappingState } from '../../domain/mappings/mappings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { List } from '../lists/change-timestamp.ts'
import { type PageRequest, readPage } from '../lists/page.ts'

/** Records that can be mapped to items of the e-commerce platform. */
interface MappedRecords {
  table: Sql
  /** The list whose change timestamps include changes of the mapping. */
  timestampSource: List
  key: Sql
  record: Sql
  /** Condition of each state, equal to the condition of the table's partial index. */
  states: Readonly<Record<MappingState, Sql>>
  /** Locks the record with this key. */
  lock: (service: Service, id: string) => Sql
}

const stores: MappedRecords = {
  table: sql`store`,
  timestampSource: 'store',
  key: sql`store_id`,
  record: sql`
    (select row_to_json(r)::text from (select store.store_id as "storeId", store.store_number as "storeNumber", store.name,
       store.ecommerce_location_id as "ecommerceLocationId") r)`,
  states: { mapped: sql`ecommerce_location_id is not null`, unmapped: sql`ecommerce_location_id is null` },
  lock: (service, id) => sql`select from store where service_id = ${service.id} and store_id = ${id} for no key update`,
}

const skus: MappedRecords = {
  table: sql`variant`,
  timestampSource: 'product',
  key: sql`sku_id`,
  record: sql`
    (select row_to_json(r)::text from (select variant.sku_id as "skuId", p.product_id as "productId", p.product_code as "productCode",
       c.code as "colourCode", variant.size_code as "sizeCode", nullif(variant.sku, variant.sku_id) as "ecommerceSku",
       c.ecommerce_product_id as "ecommerceProductId"
       from product p join colour c using (service_id, product_id)
      where p.service_id = variant.service_id and p.product_id = variant.product_id and c.colour_id = variant.colour_id) r)`,
  states: { mapped: sql`sku <> sku_id`, unmapped: sql`sku = sku_id` },
  // Locks the product, because every write of a SKU begins with this lock.
  lock: (service, id) => sql`
    select from product
     where service_id = ${service.id}
       and product_id = (select product_id from variant where service_id = ${service.id} and sku_id = ${id}) for no key update`,
}

const customers: MappedRecords = {
  table: sql`customer`,
  timestampSource: 'customer',
  key: sql`id`,
  record: sql`
    (select row_to_json(r)::text from (select customer.id as "customerId", customer.email,
       customer.ecommerce_admin_id as "ecommerceAdminId", customer.ecommerce_legacy_id as "ecommerceLegacyId") r)`,
  states: {
    mapped: sql`(ecommerce_admin_id is not null or ecommerce_legacy_id is not null)`,
    unmapped: sql`(ecommerce_admin_id is null and ecommerce_legacy_id is null)`,
  },
  lock: (service, id) => sql`select from customer where service_id = ${service.id} and id = ${id} for no key update`,
}

const mappedRecords: Readonly<Record<MappedKind, MappedRecords>> = { stores, skus, customers }

/** The condition of each state by kind. */
export const mappedStates = {
  stores: stores.states,
  skus: skus.states,
  customers: customers.states,
} satisfies Record<MappedKind, MappedRecords['states']>

/** Returns a page of mappings by the back office's IDs, optionally of one state. */
export function readMappingPage(
  db: Db,
  service: Service,
  kind: MappedKind,
  state: MappingState | undefined,
  request: PageRequest,
) {
  const { table, timestampSource, key, record, states } = mappedRecords[kind]
  const where = state ? sql`and ${states[state]}` : sql``
  return readPage(db, service, { table, timestampSource, key, record, live: true, where }, request)
}

/** Returns one mapping as JSON. */
export function findMapping(db: Db, service: Service, kind: MappedKind, id: string) {
  const { table, key, record } = mappedRecords[kind]
  return db.row<{ record: string }>(
    sql`select ${record} as record from ${table} where service_id = ${service.id} and ${key} = ${id}`,
  )
}

/** Locks a record until the transaction ends, and returns its mapping. */
export async function lockMapping(tx: Db, service: Service, kind: MappedKind, id: string) {
  await tx.run(mappedRecords[kind].lock(service, id))
  return findMapping(tx, service, kind, id)
}
