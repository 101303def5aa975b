import { sql } from '../../../src/database/db.ts'
import { checkMappings } from '../../../src/store/mappings/check-all.ts'
import type { TestApi } from '../service.ts'

/** Stores platform items for the demo shop's SKUs, most of them as mapped, and checks the mappings. */
export async function createPlatformItems({ db, service }: TestApi) {
  await db.run(sql`
    insert into ecommerce_item (service_id, kind, item_key, ecommerce_id, name, other, seen_at)
    select v.service_id, 'skus', v.sku_id, case when n % 190 = 3 then lower(v.sku) when n % 310 = 5 then replace(v.sku, '-', ' -') when n % 230 = 7 then v.sku || '-OLD' else v.sku end,
           initcap(replace(p.product_code, '-', ' ')) || ': ' || coalesce(c.code, '') || ' / ' || v.size_code, v.barcode, now() - interval '40 minutes'
      from (select *, row_number() over (order by sku_id) as n from variant where service_id = ${service.id}) v
      join product p using (service_id, product_id) join colour c using (service_id, product_id, colour_id)`)
  await db.run(sql`
    insert into mapping_check (service_id, kind, listed_at, listed)
    select ${service.id}, 'skus', now() - interval '40 minutes', count(*) from ecommerce_item where service_id = ${service.id} and kind = 'skus'`)
  await checkMappings(db, service)
}
