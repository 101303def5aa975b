import { type Db, sql } from '../../db.ts'
import type { Service } from '../../settings.ts'
import { holdJudgement } from './judgement.ts'
import { ofCustomer } from './sides.ts'

/** Who somebody is there, by what they are mapped to or by their e-mail address: rows of `ecommerce_item`. */
const isThem = (service: Service, id: string) => sql`
  (ecommerce_id = any(array(
     select ${ofCustomer(sql`c`)} from customer c where service_id = ${service.id} and id = ${id}
     union select ${ofCustomer(sql`f`)} from former_customer f where service_id = ${service.id} and id = ${id}))
   or near_other = any(array(select near_form(nullif(email, '')) from customer where service_id = ${service.id} and id = ${id})))`

/** What the platform has told of a customer. */
export const ecommerceItemsOf = (service: Service, id: string) => sql`
  select ecommerce_id as "ecommerceId", other as email from ecommerce_item
   where service_id = ${service.id} and kind = 'customers' and ${isThem(service, id)} order by item_key`

/** Forgets what the platform says of customers who are erased, and what was found and done about their mappings. */
export async function forgetCustomer(tx: Db, service: Service, id: string): Promise<void> {
  await holdJudgement(tx, service, 'customers')
  const mine = sql`service_id = ${service.id} and kind = 'customers'`
  const gone = await tx.rows<{ ecommerceId: string }>(
    sql`delete from ecommerce_item where ${mine} and ${isThem(service, id)} returning ecommerce_id as "ecommerceId"`,
  )
  const there = gone.map(({ ecommerceId }) => ecommerceId)
  await tx.run(sql`
    delete from mapping_finding
     where ${mine} and (side = 'here' and id = ${id} or side = 'there' and id = any(${there}) or suggestion = any(${there}))`)
  await tx.run(sql`delete from recent_sale where ${mine} and name = ${id}`)
  await tx.run(sql`delete from mapping_fix where ${mine} and id = ${id}`)
}
