import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** The data of a customer, shown before an erasure. */
export interface Summary {
  /** Null for a former customer. */
  name: string | null
  orders: number
  /** Unshipped orders, which lose their delivery address. */
  waiting: number
  sales: number
}

/** Returns undefined if the ID was never used. */
export const findErasureSummary = (db: Db, service: Service, id: string) =>
  db.row<Summary>(sql`
    select nullif(concat_ws(' ', c.firstname, c.surname), '') as name,
           (select count(*)::integer from sales_order o where o.service_id = p.service_id and o.customer_id = p.id) as orders,
           (select count(*)::integer from sales_order o where o.service_id = p.service_id and o.customer_id = p.id
               and exists (select from order_line l where l.service_id = o.service_id and l.order_id = o.id and l.status = 'processing')) as waiting,
           (select count(*)::integer from retail_transaction t where t.service_id = p.service_id and t.customer_id = p.id) as sales
      from (select service_id, id from customer where service_id = ${service.id} and id = ${id}
            union all select service_id, id from former_customer where service_id = ${service.id} and id = ${id} limit 1) p
      left join customer c using (service_id, id)`)
