import { type Db, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { addJob } from '../jobs/jobs.ts'
import { eraseEmails, listEmailIds } from '../mail/emails.ts'

/** The job that deletes the file of an email. Its subject is the email's ID. */
const eraseEmailFileJob = 'erase-email-file'

/** Removes all persons from the vouchers sent to an email address, and from their emails. Waiting emails are not sent. */
export async function eraseReceiver(tx: Db, service: Service, email: string): Promise<void> {
  const sales = await tx.rows<{ number: string }>(sql`
    update voucher_sale set sender_name = null, receiver_name = null, receiver_email = null, mobile = null, billing_address = null
     where service_id = ${service.id} and lower(normalize(receiver_email, NFC)) = lower(normalize(${email}, NFC)) returning number`)
  const numbers = sales.map(({ number }) => number)
  await eraseEmails(tx, service, numbers)
  await eraseFiles(tx, service, numbers)
}

/** Sends a voucher to another address. Deletes the files of earlier emails, because the old address no longer leads to them. */
export async function changeReceiverEmail(
  tx: Db,
  service: Service,
  number: string,
  receiverEmail: string,
): Promise<void> {
  await tx.run(
    sql`update voucher_sale set receiver_email = ${receiverEmail} where service_id = ${service.id} and number = ${number}`,
  )
  await eraseFiles(tx, service, [number])
}

async function eraseFiles(tx: Db, service: Service, vouchers: readonly string[]) {
  for (const subject of await listEmailIds(tx, service, vouchers))
    await addJob(tx, service.id, eraseEmailFileJob, { subject })
}

/** Condition: vouchers that were sold with these orders. */
export const isSoldWithOrders = (orderNumbers: readonly string[]) => sql`order_number = any(${orderNumbers})`
/** Condition: vouchers from a sender with this name and address. */
export const isSentBy = (name: string, addressLine1: string) => sql`
  lower(sender_name) = lower(${name}) and lower(billing_address->>'addressLine1') = lower(${addressLine1})`

/**
 * Removes the sender from vouchers. A gift that waits for its delivery date belongs to the recipient: its email is still sent, and then
 * deleted.
 */
export async function eraseBuyer(tx: Db, service: Service, where: Sql): Promise<void> {
  const sales = await tx.rows<{ number: string }>(sql`
    update voucher_sale set sender_name = null, billing_address = null
     where service_id = ${service.id} and sender_name is not null and ${where} returning number`)
  await eraseFiles(
    tx,
    service,
    sales.map(({ number }) => number),
  )
}
