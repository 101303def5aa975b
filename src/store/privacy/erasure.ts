import { type Db, sql } from '../../database/db.ts'
import type { Erasure } from '../../domain/customers/erasure.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { customerJson } from '../customers/customers.ts'
import { leave } from '../customers/removal.ts'
import { addJob } from '../jobs/jobs.ts'
import { localTime } from '../lists/change-timestamp.ts'
import { forgetCustomer } from '../mappings/customers.ts'
import { boughtBy, eraseBuyer, eraseReceiver } from '../vouchers/persons.ts'

/** The job that empties the places that are left; its subject is the customer's identifier. */
const eraseCustomerJob = 'erase-customer'

/** What tells that a voucher is somebody's. */
interface Person {
  record: string
  email: string | null
  name: string
  addressLine1: string | null
}

/**
 * Erases a customer: takes them out of the list, so that no further write is of them, and has a job empty what else names them (`portions.ts`).
 * Once is enough. `requireMatch` judges their record, before anything of it is gone. Undefined where nobody has, or had, the identifier.
 */
export async function erase(
  tx: Db,
  service: Service,
  id: string,
  requireMatch: (record: string) => void,
): Promise<Erasure | undefined> {
  const mine = sql`service_id = ${service.id} and id = ${id}`
  // Waits for writes that hold the customer, and has the later ones find nobody.
  const held = () =>
    tx.row<Person>(sql`
      select ${customerJson} as record, email, concat_ws(' ', firstname, surname) as name, address_line1 as "addressLine1" from customer where ${mine} for update`)
  const listed = await held()
  const isFormer = await tx.row(sql`select true as former from former_customer where ${mine} for update`)
  // Whoever is just being put in again is a customer once that is waited for, and a former one no more.
  const person = listed ?? (isFormer ? undefined : await held())
  if (person) requireMatch(person.record)
  if (person || isFormer) {
    const recheckOthers = await forgetCustomer(tx, service, id)
    await leave(tx, service, [id])
    await tx.run(sql`delete from former_customer where ${mine}`)
    await recheckOthers()
    await tx.run(sql`insert into erasure (service_id, customer_id) values (${service.id}, ${id})`)
    await tx.run(sql`delete from consent_change where service_id = ${service.id} and customer_id = ${id}`)
    if (person?.email) await eraseReceiver(tx, service, person.email)
    if (person?.addressLine1) await eraseBuyer(tx, service, boughtBy(person.name, person.addressLine1))
    await addJob(tx, service.id, eraseCustomerJob, { subject: id })
  }
  return tx.row<Erasure>(sql`
    select customer_id as id, case when completed_at is null then 'erasing' else 'erased' end as status, ${localTime(sql`erased_at`, service)} as "erasedAt"
      from erasure where service_id = ${service.id} and customer_id = ${id}`)
}
