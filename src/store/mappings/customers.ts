import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { lockMappingCheck, recheckRecords } from './check-changed.ts'
import { fixRecord, isKept } from './fixes.ts'
import { issueRecord } from './issues.ts'
import { customerEcommerceId } from './sides.ts'

/** SQL for the platform IDs that a customer is or was mapped to. */
const mappedIds = (service: Service, id: string) => sql`
  array(select ${customerEcommerceId(sql`c`)} from customer c where service_id = ${service.id} and id = ${id}
        union select ${customerEcommerceId(sql`f`)} from former_customer f where service_id = ${service.id} and id = ${id})`

/** Condition on rows of `ecommerce_item`: items that belong to a customer, by mapping or by email address. */
const belongsToCustomer = (service: Service, id: string) => sql`
  (ecommerce_id = any(${mappedIds(service, id)})
   or near_other = any(array(select address_form(nullif(email, '')) from customer where service_id = ${service.id} and id = ${id})))`

/** SQL for the platform items of a customer. */
export const selectEcommerceItems = (service: Service, id: string) => sql`
  select ecommerce_id as "ecommerceId", other as email from ecommerce_item
   where service_id = ${service.id} and kind = 'customers' and ${belongsToCustomer(service, id)} order by item_key`

/** SQL for the mapping issues (`MappingIssue`) and fixes (`MappingFix`) of a customer, as JSON arrays. */
export const selectMappingHistory = (service: Service, id: string) => ({
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
export async function eraseCustomerMappings(tx: Db, service: Service, id: string): Promise<() => Promise<void>> {
  await lockMappingCheck(tx, service, 'customers')
  const ofCustomers = sql`service_id = ${service.id} and kind = 'customers'`
  const deletedItems = await tx.rows<{ ecommerceId: string }>(
    sql`delete from ecommerce_item where ${ofCustomers} and ${belongsToCustomer(service, id)} returning ecommerce_id as "ecommerceId"`,
  )
  const ecommerceIds = deletedItems.map(({ ecommerceId }) => ecommerceId)
  const isOfCustomer = sql`= any(${ecommerceIds} || ${mappedIds(service, id)})`
  await tx.run(sql`delete from ecommerce_tombstone where ${ofCustomers} and ecommerce_id ${isOfCustomer}`)
  await tx.run(sql`
    delete from ecommerce_event
     where service_id = ${service.id} and target = 'ecommerce-customers'
       and (substring(subject_id from '[^/]*$') ${isOfCustomer} or substring(successor_id from '[^/]*$') ${isOfCustomer})`)
  await tx.run(sql`
    delete from mapping_issue where ${ofCustomers} and (side = 'here' and id = ${id} or side = 'there' and id = any(${ecommerceIds}))`)
  await tx.run(sql`delete from recent_sale where ${ofCustomers} and name = ${id}`)
  await tx.run(sql`delete from mapping_fix where ${ofCustomers} and record_id = ${id}`)
  const affected = await tx.rows<{ id: string }>(sql`
    select f.id from mapping_issue f
     where ${ofCustomers} and side = 'here' and state in ('nearMatch', 'duplicate')
       and exists (select from jsonb_array_elements(evidence) e where e->>'id' = ${id} or e->>'ecommerceId' = any(${ecommerceIds}))`)
  return async () => {
    if (affected.length)
      await recheckRecords(
        tx,
        service,
        'customers',
        affected.map(({ id: otherId }) => otherId),
      )
  }
}
