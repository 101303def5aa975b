import { type Db, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { beginChange } from '../lists/change-timestamp.ts'
import { renderCustomers } from './customers.ts'

/**
 * Updates the subscriptions of all customers from their references after a change of the setting, if customers come from a back office:
 * there, the reference is the consent. Flags without a mapped reference stay, and so do customers with `privacy`.
 */
export async function updateSubscriptions(tx: Db, service: Service): Promise<void> {
  const { email, sms } = service.settings.subscriptionMapping
  const isSubscribed = (mapped: { type: string; yes: string } | undefined, flag: Sql) =>
    mapped ? sql`coalesce(reference_values->>${mapped.type} = ${mapped.yes}, false)` : flag
  const flags = sql`(${isSubscribed(email, sql`email_subscription`)}, ${isSubscribed(sms, sql`sms_subscription`)})`
  const change = await beginChange(tx, service, ['customer'])
  const changed = await tx.rows<{ id: string }>(sql`
    with changed_flags as (
      select id from customer
       where service_id = ${service.id} and not privacy and (email_subscription, sms_subscription) <> ${flags}
         and exists (select from sync_state where service_id = ${service.id} and sync = 'customers')
       order by id for no key update)
    update customer set (email_subscription, sms_subscription) = ${flags}
      from changed_flags where customer.service_id = ${service.id} and customer.id = changed_flags.id
    returning customer.id`)
  await renderCustomers(tx, service, change, sql`and c.id = any(${changed.map(({ id }) => id)})`)
}
