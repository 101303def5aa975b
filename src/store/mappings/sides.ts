import { raw, type Sql, sql } from '../../database/db.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** The platform ID of a customer `c` in the legacy form, as in the index `customer_ecommerce_id`. */
export const customerEcommerceId = (c: Sql) =>
  sql`(coalesce(${c}.ecommerce_legacy_id, substring(${c}.ecommerce_admin_id from '[^/]*$')) collate "C")`

/** The SQL of the mapping check for one kind of record. */
interface Side {
  table: Sql
  key: Sql
  /**
   * Selects the records with these IDs: platform ID (`mapped`), whether it was set explicitly (`is_mapped`) and whether two IDs contradict
   * each other (`is_clash`). `own`: possible platform IDs. `others`: normalized values that can identify the record. `shared`: other records
   * with the same platform ID. `in_stock`: units in stock, taken from `stock` (JSON by ID), otherwise from the last check. `sold_as`: names
   * in sales.
   */
  here: (service: Service, ids: readonly string[], stock: string) => Sql
  /** True if a record is mapped to the `ecommerce_id` of an item `e`. */
  isClaimed: Sql
  /** The evidence if a value of `others` is equal. */
  secondEvidence: 'name' | 'barcode' | 'email'
  /** The name of the record of an issue `f`. */
  name: Sql
}

/** A `text[]` without null elements. */
const nonNull = (...texts: string[]) => raw(`array_remove(array[${texts.join(', ')}]::text[], null)`)

/** Counts the units of all SKUs in a store, which is slow for a large store. */
export const unitsIn = (s: Sql) => sql`
  select coalesce(sum(greatest(k.free_stock, 0)), 0)::bigint from stock k where k.service_id = ${s}.service_id and k.store_id = ${s}.store_id`

export const sides: Readonly<Record<MappedKind, Side>> = {
  stores: {
    table: sql`store`,
    key: sql`store_id`,
    here: (service, ids, stock) => sql`
      select s.store_id as id, s.ecommerce_location_id as mapped, s.ecommerce_location_id is not null as is_mapped, false as is_clash,
             ${nonNull('s.ecommerce_location_id')} as own,
             ${nonNull('near_form(s.name)', 'near_form(s.store_number)', 'near_form(s.code)')} as others,
             array(select o.store_id from store o
                    where o.service_id = s.service_id and o.ecommerce_location_id = s.ecommerce_location_id and o.store_id <> s.store_id
                    order by 1 limit 5) as shared,
             coalesce((${stock}::json->>s.store_id)::bigint,
                      (select f.units_in_stock from mapping_issue f
                        where f.service_id = s.service_id and f.kind = 'stores' and f.side = 'here' and f.id = s.store_id),
                      (${unitsIn(sql`s`)})) as in_stock,
             array[s.store_number] as sold_as
        from store s where s.service_id = ${service.id} and s.store_id = any(${ids})`,
    isClaimed: sql`exists (select from store s where s.service_id = e.service_id and s.ecommerce_location_id = e.ecommerce_id)`,
    secondEvidence: 'name',
    name: sql`(select concat_ws(' ', s.store_number, s.name) from store s where s.service_id = f.service_id and s.store_id = f.id)`,
  },
  skus: {
    table: sql`variant`,
    key: sql`sku_id`,
    here: (service, ids) => sql`
      select v.sku_id as id, v.sku as mapped, v.sku <> v.sku_id as is_mapped, false as is_clash,
             array[v.sku, v.sku_id]::text[] as own, ${nonNull("near_form(nullif(v.barcode, ''))")} as others, '{}'::text[] as shared,
             (select coalesce(sum(greatest(k.free_stock, 0)), 0)::bigint from stock k where k.service_id = v.service_id and k.sku_id = v.sku_id) as in_stock,
             array(select distinct unnest(array[v.sku, v.sku_id])) as sold_as
        from variant v where v.service_id = ${service.id} and v.sku_id = any(${ids})`,
    isClaimed: sql`exists (select from variant v where v.service_id = e.service_id and v.sku = e.ecommerce_id)`,
    secondEvidence: 'barcode',
    name: sql`
      (select concat_ws(' ', p.product_code, c.code, v.size_code)
         from variant v join colour c using (service_id, product_id, colour_id) join product p using (service_id, product_id)
        where v.service_id = f.service_id and v.sku_id = f.id)`,
  },
  customers: {
    table: sql`customer`,
    key: sql`id`,
    here: (service, ids) => sql`
      select c.id, ${customerEcommerceId(sql`c`)} as mapped, ${customerEcommerceId(sql`c`)} is not null as is_mapped,
             coalesce(c.ecommerce_legacy_id <> substring(c.ecommerce_admin_id from '[^/]*$'), false) as is_clash,
             ${nonNull('c.ecommerce_legacy_id', 'c.ecommerce_admin_id')} as own, ${nonNull("address_form(nullif(c.email, ''))")} as others,
             array(select o.id from customer o
                    where o.service_id = c.service_id and ${customerEcommerceId(sql`o`)} = ${customerEcommerceId(sql`c`)} and o.id <> c.id order by 1 limit 5) as shared,
             null::bigint as in_stock, array[c.id] as sold_as
        from customer c where c.service_id = ${service.id} and c.id = any(${ids})`,
    isClaimed: sql`exists (select from customer c where c.service_id = e.service_id and ${customerEcommerceId(sql`c`)} = e.ecommerce_id)`,
    secondEvidence: 'email',
    name: sql`(select c.email from customer c where c.service_id = f.service_id and c.id = f.id)`,
  },
}

/** Selects the records that are mapped to these platform IDs. */
export const mappedTo = (service: Service, kind: MappedKind, ecommerceIds: readonly string[]): Sql => {
  if (kind === 'stores')
    return sql`select store_id as id from store where service_id = ${service.id} and ecommerce_location_id = any(${ecommerceIds})`
  if (kind === 'skus')
    return sql`select sku_id as id from variant where service_id = ${service.id} and sku = any(${ecommerceIds})`
  return sql`select c.id from customer c where c.service_id = ${service.id} and ${customerEcommerceId(sql`c`)} = any(${ecommerceIds})`
}
