import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { holdJudgement, judgeAnew } from './check-changed.ts'
import { fixRecord, isKept } from './fixes.ts'
import { findingRecord } from './issues.ts'
import { ofCustomer } from './sides.ts'

/** Who somebody is there, by what they are mapped to or by their e-mail address: rows of `ecommerce_item`. */
const isThem = (service: Service, id: string) => sql`
  (ecommerce_id = any(array(
     select ${ofCustomer(sql`c`)} from customer c where service_id = ${service.id} and id = ${id}
     union select ${ofCustomer(sql`f`)} from former_customer f where service_id = ${service.id} and id = ${id}))
   or near_other = any(array(select address_form(nullif(email, '')) from customer where service_id = ${service.id} and id = ${id})))`

/** What the platform has told of a customer. */
export const ecommerceItemsOf = (service: Service, id: string) => sql`
  select ecommerce_id as "ecommerceId", other as email from ecommerce_item
   where service_id = ${service.id} and kind = 'customers' and ${isThem(service, id)} order by item_key`

/** What the mapping doctor has found of a customer (`MappingFinding`), and what was mended of their mapping (`MappingFix`): JSON arrays. */
export const doctoredOf = (service: Service, id: string) => ({
  findings: sql`
    (select coalesce(json_agg(${findingRecord('customers')}::json), '[]') from mapping_finding f
      where service_id = ${service.id} and kind = 'customers' and side = 'here' and id = ${id})`,
  fixes: sql`
    (select coalesce(json_agg(${fixRecord}::json order by changed_at, fix_id), '[]') from mapping_fix
      where service_id = ${service.id} and kind = 'customers' and id = ${id} and ${isKept})`,
})

/**
 * Forgets what the platform says of a customer who is erased, and what was found and done about their mapping. Returns what is left to do
 * once they have left the list: others were told of them, and are judged anew.
 */
export async function forgetCustomer(tx: Db, service: Service, id: string): Promise<() => Promise<void>> {
  await holdJudgement(tx, service, 'customers')
  const mine = sql`service_id = ${service.id} and kind = 'customers'`
  const gone = await tx.rows<{ ecommerceId: string }>(
    sql`delete from ecommerce_item where ${mine} and ${isThem(service, id)} returning ecommerce_id as "ecommerceId"`,
  )
  const there = gone.map(({ ecommerceId }) => ecommerceId)
  await tx.run(sql`
    delete from mapping_finding where ${mine} and (side = 'here' and id = ${id} or side = 'there' and id = any(${there}))`)
  await tx.run(sql`delete from recent_sale where ${mine} and name = ${id}`)
  await tx.run(sql`delete from mapping_fix where ${mine} and id = ${id}`)
  const others = await tx.rows<{ id: string }>(sql`
    select f.id from mapping_finding f
     where ${mine} and side = 'here' and state in ('nearMiss', 'twice')
       and exists (select from jsonb_array_elements(evidence) e where e->>'id' = ${id} or e->>'ecommerceId' = any(${there}))`)
  return async () => {
    if (others.length)
      await judgeAnew(
        tx,
        service,
        'customers',
        others.map(other => other.id),
      )
  }
}
