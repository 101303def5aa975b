import { raw, type Sql, sql } from '../../database/db.ts'
import type { MappedKind } from '../../domain/mappings/mapping-check.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** The identifier of a customer in the legacy form, whichever form there is; as the index `customer_ecommerce_id` has it. */
export const ofCustomer = (c: Sql) =>
  sql`(coalesce(${c}.ecommerce_legacy_id, substring(${c}.ecommerce_admin_id from '[^/]*$')) collate "C")`

/** What the mapping check needs to know about one kind. */
interface Side {
  table: Sql
  key: Sql
  /**
   * The records `h` with these identifiers, each with what it goes by there (`mapped`), whether somebody has said so, whether it says two
   * things at once, identifiers that it might have there (`own`), near forms of what else it may be known by (`others`), who else is
   * mapped to the same, its units in stock, and what recent sales know it by. `stock`: JSON of units, by identifier, that were counted
   * before; a record that it does not have keeps what was counted last.
   */
  here: (service: Service, ids: readonly string[], stock: string) => Sql
  /** Whether some record here goes by the `ecommerce_id` of `e`. */
  isClaimed: Sql
  /** What it is called when one of `others` is the same there. */
  known: 'name' | 'barcode' | 'email'
  /** The name of the record of an issue `f`. */
  name: Sql
}

const given = (...texts: string[]) => raw(`array_remove(array[${texts.join(', ')}]::text[], null)`)

/** All that a store has: a long look at a large one. */
export const unitsIn = (s: Sql) => sql`
  select coalesce(sum(greatest(k.free_stock, 0)), 0)::bigint from stock k where k.service_id = ${s}.service_id and k.store_id = ${s}.store_id`

export const sides: Readonly<Record<MappedKind, Side>> = {
  stores: {
    table: sql`store`,
    key: sql`store_id`,
    here: (service, ids, stock) => sql`
      select s.store_id as id, s.ecommerce_location_id as mapped, s.ecommerce_location_id is not null as is_mapped, false as is_clash,
             ${given('s.ecommerce_location_id')} as own,
             ${given('near_form(s.name)', 'near_form(s.store_number)', 'near_form(s.code)')} as others,
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
    known: 'name',
    name: sql`(select concat_ws(' ', s.store_number, s.name) from store s where s.service_id = f.service_id and s.store_id = f.id)`,
  },
  skus: {
    table: sql`variant`,
    key: sql`sku_id`,
    here: (service, ids) => sql`
      select v.sku_id as id, v.sku as mapped, v.sku <> v.sku_id as is_mapped, false as is_clash,
             array[v.sku, v.sku_id]::text[] as own, ${given("near_form(nullif(v.barcode, ''))")} as others, '{}'::text[] as shared,
             (select coalesce(sum(greatest(k.free_stock, 0)), 0)::bigint from stock k where k.service_id = v.service_id and k.sku_id = v.sku_id) as in_stock,
             array(select distinct unnest(array[v.sku, v.sku_id])) as sold_as
        from variant v where v.service_id = ${service.id} and v.sku_id = any(${ids})`,
    isClaimed: sql`exists (select from variant v where v.service_id = e.service_id and v.sku = e.ecommerce_id)`,
    known: 'barcode',
    name: sql`
      (select concat_ws(' ', p.product_code, c.code, v.size_code)
         from variant v join colour c using (service_id, product_id, colour_id) join product p using (service_id, product_id)
        where v.service_id = f.service_id and v.sku_id = f.id)`,
  },
  customers: {
    table: sql`customer`,
    key: sql`id`,
    here: (service, ids) => sql`
      select c.id, ${ofCustomer(sql`c`)} as mapped, ${ofCustomer(sql`c`)} is not null as is_mapped,
             coalesce(c.ecommerce_legacy_id <> substring(c.ecommerce_admin_id from '[^/]*$'), false) as is_clash,
             ${given('c.ecommerce_legacy_id', 'c.ecommerce_admin_id')} as own, ${given("address_form(nullif(c.email, ''))")} as others,
             array(select o.id from customer o
                    where o.service_id = c.service_id and ${ofCustomer(sql`o`)} = ${ofCustomer(sql`c`)} and o.id <> c.id order by 1 limit 5) as shared,
             null::bigint as in_stock, array[c.id] as sold_as
        from customer c where c.service_id = ${service.id} and c.id = any(${ids})`,
    isClaimed: sql`exists (select from customer c where c.service_id = e.service_id and ${ofCustomer(sql`c`)} = e.ecommerce_id)`,
    known: 'email',
    name: sql`(select c.email from customer c where c.service_id = f.service_id and c.id = f.id)`,
  },
}

/** The records here that go by one of these identifiers there. */
export const mappedTo = (service: Service, kind: MappedKind, ecommerceIds: readonly string[]): Sql => {
  if (kind === 'stores')
    return sql`select store_id as id from store where service_id = ${service.id} and ecommerce_location_id = any(${ecommerceIds})`
  if (kind === 'skus')
    return sql`select sku_id as id from variant where service_id = ${service.id} and sku = any(${ecommerceIds})`
  return sql`select c.id from customer c where c.service_id = ${service.id} and ${ofCustomer(sql`c`)} = any(${ecommerceIds})`
}
