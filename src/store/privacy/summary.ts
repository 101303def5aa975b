import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** What there is of somebody, for whoever is about to have it erased. */
export interface Summary {
  /** Null for one who has left the list. */
  name: string | null
  orders: number
  /** Orders that have not been shipped yet: they lose the address that they are to go to. */
  waiting: number
  sales: number
}

/** Undefined: nobody has the identifier. */
export const summaryOf = (db: Db, service: Service, id: string) =>
  db.row<Summary>(sql`
    select nullif(concat_ws(' ', c.firstname, c.surname), '') as name,
           (select count(*)::integer from sales_order o where o.service_id = p.service_id and o.customer_id = p.id) as orders,
           (select count(*)::integer from sales_order o where o.service_id = p.service_id and o.customer_id = p.id
               and exists (select from order_line l where l.service_id = o.service_id and l.order_id = o.id and l.status = 'processing')) as waiting,
           (select count(*)::integer from retail_transaction t where t.service_id = p.service_id and t.customer_id = p.id) as sales
      from (select service_id, id from customer where service_id = ${service.id} and id = ${id}
            union all select service_id, id from former_customer where service_id = ${service.id} and id = ${id} limit 1) p
      left join customer c using (service_id, id)`)
