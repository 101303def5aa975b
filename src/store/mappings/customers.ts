import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { lockMappingCheck, recheckRecords } from './check-changed.ts'
import { fixRecord, isKept } from './fixes.ts'
import { issueRecord } from './issues.ts'
import { ofCustomer } from './sides.ts'

/** Condition on rows of `ecommerce_item`: items that belong to a customer, by mapping or by email address. */
const isThem = (service: Service, id: string) => sql`
  (ecommerce_id = any(array(
     select ${ofCustomer(sql`c`)} from customer c where service_id = ${service.id} and id = ${id}
     union select ${ofCustomer(sql`f`)} from former_customer f where service_id = ${service.id} and id = ${id}))
   or near_other = any(array(select address_form(nullif(email, '')) from customer where service_id = ${service.id} and id = ${id})))`

/** SQL for the platform items of a customer. */
export const ecommerceItemsOf = (service: Service, id: string) => sql`
  select ecommerce_id as "ecommerceId", other as email from ecommerce_item
   where service_id = ${service.id} and kind = 'customers' and ${isThem(service, id)} order by item_key`

/** SQL for the mapping issues (`MappingIssue`) and fixes (`MappingFix`) of a customer, as JSON arrays. */
export const mappingHistory = (service: Service, id: string) => ({
  issues: sql`
    (select coalesce(json_agg(${issueRecord('customers')}::json), '[]') from mapping_issue f
      where service_id = ${service.id} and kind = 'customers' and side = 'here' and id = ${id})`,
  fixes: sql`
    (select coalesce(json_agg(${fixRecord}::json order by changed_at, fix_id), '[]') from mapping_fix
      where service_id = ${service.id} and kind = 'customers' and record_id = ${id} and ${isKept})`,
})

/**
 * Deletes the platform items, issues and fixes of a customer who is erased. Returns a function that checks the records again whose
 * evidence named this customer: call it after the customer has left the list.
 */
export async function forgetCustomer(tx: Db, service: Service, id: string): Promise<() => Promise<void>> {
  await lockMappingCheck(tx, service, 'customers')
  const mine = sql`service_id = ${service.id} and kind = 'customers'`
  const gone = await tx.rows<{ ecommerceId: string }>(
    sql`delete from ecommerce_item where ${mine} and ${isThem(service, id)} returning ecommerce_id as "ecommerceId"`,
  )
  const there = gone.map(({ ecommerceId }) => ecommerceId)
  await tx.run(sql`
    delete from mapping_issue where ${mine} and (side = 'here' and id = ${id} or side = 'there' and id = any(${there}))`)
  await tx.run(sql`delete from recent_sale where ${mine} and name = ${id}`)
  await tx.run(sql`delete from mapping_fix where ${mine} and record_id = ${id}`)
  const others = await tx.rows<{ id: string }>(sql`
    select f.id from mapping_issue f
     where ${mine} and side = 'here' and state in ('nearMatch', 'duplicate')
       and exists (select from jsonb_array_elements(evidence) e where e->>'id' = ${id} or e->>'ecommerceId' = any(${there}))`)
  return async () => {
    if (others.length)
      await recheckRecords(
        tx,
        service,
        'customers',
        others.map(other => other.id),
      )
  }
}
