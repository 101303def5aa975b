import { type Db, type Sql, sql } from '../../database/db.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { MappingState } from '../../domain/mappings/mappings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { List } from '../lists/change-timestamp.ts'
import { type PageRequest, readPage } from '../lists/page.ts'

/** Records that the e-commerce platform knows by identifiers of its own. */
interface Mapped {
  table: Sql
  /** The list whose stamps tell of changes. */
  stamps: List
  key: Sql
  record: Sql
  /** Which rows are in which state: the conditions that the tables' indexes of that name have. */
  states: Readonly<Record<MappingState, Sql>>
  /** Holds the record with this key until the transaction ends, whoever changes what it shows. */
  hold: (service: Service, id: string) => Sql
}

const stores: Mapped = {
  table: sql`store`,
  stamps: 'store',
  key: sql`store_id`,
  record: sql`
    (select row_to_json(r)::text from (select store.store_id as "storeId", store.store_number as "storeNumber", store.name,
       store.ecommerce_location_id as "ecommerceLocationId") r)`,
  states: { mapped: sql`ecommerce_location_id is not null`, unmapped: sql`ecommerce_location_id is null` },
  hold: (service, id) => sql`select from store where service_id = ${service.id} and store_id = ${id} for no key update`,
}

const skus: Mapped = {
  table: sql`variant`,
  stamps: 'product',
  key: sql`sku_id`,
  record: sql`
    (select row_to_json(r)::text from (select variant.sku_id as "skuId", p.product_id as "productId", p.product_code as "productCode",
       c.code as "colourCode", variant.size_code as "sizeCode", nullif(variant.sku, variant.sku_id) as "ecommerceSku",
       c.ecommerce_product_id as "ecommerceProductId"
       from product p join colour c using (service_id, product_id)
      where p.service_id = variant.service_id and p.product_id = variant.product_id and c.colour_id = variant.colour_id) r)`,
  states: { mapped: sql`sku <> sku_id`, unmapped: sql`sku = sku_id` },
  // The product, because whoever writes a SKU begins there.
  hold: (service, id) => sql`
    select from product
     where service_id = ${service.id}
       and product_id = (select product_id from variant where service_id = ${service.id} and sku_id = ${id}) for no key update`,
}

const customers: Mapped = {
  table: sql`customer`,
  stamps: 'customer',
  key: sql`id`,
  record: sql`
    (select row_to_json(r)::text from (select customer.id as "customerId", customer.email,
       customer.ecommerce_admin_id as "ecommerceAdminId", customer.ecommerce_legacy_id as "ecommerceLegacyId") r)`,
  states: {
    mapped: sql`(ecommerce_admin_id is not null or ecommerce_legacy_id is not null)`,
    unmapped: sql`(ecommerce_admin_id is null and ecommerce_legacy_id is null)`,
  },
  hold: (service, id) => sql`select from customer where service_id = ${service.id} and id = ${id} for no key update`,
}

const mapped: Readonly<Record<MappedKind, Mapped>> = { stores, skus, customers }

/** What is mapped to what, by the back office's identifiers; all of it, or what is in one state. */
export function mappingPage(
  db: Db,
  service: Service,
  kind: MappedKind,
  state: MappingState | undefined,
  asked: PageRequest,
) {
  const { table, stamps, key, record, states } = mapped[kind]
  const where = state ? sql`and ${states[state]}` : sql``
  return readPage(db, service, { table, timestampSource: stamps, key, record, live: true, where }, asked)
}

/** One record and what it is mapped to, as JSON text. */
export function mappingRecord(db: Db, service: Service, kind: MappedKind, id: string) {
  const { table, key, record } = mapped[kind]
  return db.row<{ record: string }>(
    sql`select ${record} as record from ${table} where service_id = ${service.id} and ${key} = ${id}`,
  )
}

/** The same, held until the transaction ends. */
export async function lockMapping(tx: Db, service: Service, kind: MappedKind, id: string) {
  await tx.run(mapped[kind].hold(service, id))
  return mappingRecord(tx, service, kind, id)
}
