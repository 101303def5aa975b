import { type Db, sql } from '../../database/db.ts'
import type { Erasure } from '../../domain/customers/erasure.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { customerJson } from '../customers/customers.ts'
import { removeCustomers } from '../customers/removal.ts'
import { addJob } from '../jobs/jobs.ts'
import { localTime } from '../lists/change-timestamp.ts'
import { eraseCustomerMappings } from '../mappings/customers.ts'
import { eraseBuyer, eraseReceiver, isSentBy } from '../vouchers/persons.ts'

/** The job that erases the remaining data. Its subject is the customer ID. */
const eraseCustomerJob = 'erase-customer'

/** The fields that link vouchers to a customer. */
interface Person {
  record: string
  email: string | null
  name: string
  addressLine1: string | null
}

/**
 * Erases a customer: removes the customer from the list, so that no later write can name the customer, and queues a job for all other data
 * (`erase-batch.ts`). Repeating it has no effect. `requireMatch` is called with the record before anything is deleted, and can throw.
 * Returns undefined if the ID was never used.
 */
export async function erase(
  tx: Db,
  service: Service,
  id: string,
  requireMatch: (record: string) => void,
): Promise<Erasure | undefined> {
  const isCustomer = sql`service_id = ${service.id} and id = ${id}`
  // Waits for writes that have locked the customer. Later writes do not find the customer.
  const lockPerson = () =>
    tx.row<Person>(sql`
      select ${customerJson} as record, email, concat_ws(' ', firstname, surname) as name, address_line1 as "addressLine1" from customer where ${isCustomer} for update`)
  const customer = await lockPerson()
  const isFormer = await tx.row(sql`select true as former from former_customer where ${isCustomer} for update`)
  // A concurrent import may be restoring the customer. After waiting for it, the customer exists and is no longer a former customer.
  const person = customer ?? (isFormer ? undefined : await lockPerson())
  if (person) requireMatch(person.record)
  if (person || isFormer) {
    const recheckOthers = await eraseCustomerMappings(tx, service, id)
    await removeCustomers(tx, service, [id])
    await tx.run(sql`delete from former_customer where ${isCustomer}`)
    await recheckOthers()
    await tx.run(sql`insert into erasure (service_id, customer_id) values (${service.id}, ${id})`)
    await tx.run(sql`delete from consent_change where service_id = ${service.id} and customer_id = ${id}`)
    if (person?.email) await eraseReceiver(tx, service, person.email)
    if (person?.addressLine1) await eraseBuyer(tx, service, isSentBy(person.name, person.addressLine1))
    await addJob(tx, service.id, eraseCustomerJob, { subject: id })
  }
  return tx.row<Erasure>(sql`
    select customer_id as id, case when completed_at is null then 'erasing' else 'erased' end as status, ${localTime(sql`erased_at`, service)} as "erasedAt"
      from erasure where service_id = ${service.id} and customer_id = ${id}`)
}

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
