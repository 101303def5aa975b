import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { availableUnits } from './available-units.ts'

/** The stock of a store in figures. Units can have decimals. */
interface StoreSummary {
  /** Stock levels. */
  skus: number
  /** Stock levels with units that can be sold. */
  inStock: number
  /** Stock levels with 1 to 3 units that can be sold. */
  low: number
  onHand: number
  available: number
}

/** Sums up the stock of a store. Returns undefined if the store doesn't exist. */
export const readStoreSummary = (db: Db, service: Service, storeNumber: string) =>
  db.row<StoreSummary>(sql`
    select count(sku_id)::integer as skus,
           count(*) filter (where available > 0)::integer as "inStock",
           count(*) filter (where available > 0 and available <= 3)::integer as low,
           coalesce(sum(free_stock), 0)::float8 as "onHand",
           coalesce(sum(available), 0)::float8 as available
      from (select s.sku_id, s.free_stock, st.store_id,
                   ${availableUnits(service, sql`s`, sql`st`)} as available
              from store st
              left join stock s on s.service_id = st.service_id and s.store_id = st.store_id
             where st.service_id = ${service.id} and st.store_number = ${storeNumber}) level
     group by store_id`)
