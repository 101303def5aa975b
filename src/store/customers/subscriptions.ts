import { type Db, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { beginChange } from '../lists/change-timestamp.ts'
import { renderCustomers } from './customers.ts'

/**
 * Reads the subscriptions of all customers anew from the references that stand for them now, where customers come from a back office:
 * there the reference is what they have agreed to. A flag that no reference stands for stays, and so does who wants no marketing.
 */
export async function readSubscriptions(tx: Db, service: Service): Promise<void> {
  const { email, sms } = service.settings.subscriptionMapping
  const now = (mapped: { type: string; yes: string } | undefined, flag: Sql) =>
    mapped ? sql`coalesce(reference_values->>${mapped.type} = ${mapped.yes}, false)` : flag
  const flags = sql`(${now(email, sql`email_subscription`)}, ${now(sms, sql`sms_subscription`)})`
  const change = await beginChange(tx, service, ['customer'])
  const changed = await tx.rows<{ id: string }>(sql`
    with held as (
      select id from customer
       where service_id = ${service.id} and not privacy and (email_subscription, sms_subscription) <> ${flags}
         and exists (select from sync_state where service_id = ${service.id} and sync = 'customers')
       order by id for no key update)
    update customer set (email_subscription, sms_subscription) = ${flags}
      from held where customer.service_id = ${service.id} and customer.id = held.id
    returning customer.id`)
  await renderCustomers(tx, service, change, sql`and c.id = any(${changed.map(({ id }) => id)})`)
}
