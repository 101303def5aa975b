import { type Db, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { addJob } from '../jobs/jobs.ts'
import { eraseMails, mailsOf } from '../mail/mails.ts'

/** The job that takes away the file of a mail; its subject is the mail's id. */
const eraseEmailFileJob = 'erase-email-file'

/** Takes everybody out of the vouchers that somebody was sent, and of their mails: one that waits is not sent. */
export async function eraseReceiver(tx: Db, service: Service, email: string): Promise<void> {
  const sales = await tx.rows<{ number: string }>(sql`
    update voucher_sale set sender_name = null, receiver_name = null, receiver_email = null, mobile = null, billing_address = null
     where service_id = ${service.id} and lower(normalize(receiver_email, NFC)) = lower(normalize(${email}, NFC)) returning number`)
  const numbers = sales.map(({ number }) => number)
  await eraseMails(tx, service, numbers)
  await eraseFiles(tx, service, numbers)
}

/** From now on a voucher goes to another address. What was sent to the one before is not found by it any more: its files go now. */
export async function redirect(tx: Db, service: Service, number: string, receiverEmail: string): Promise<void> {
  await tx.run(
    sql`update voucher_sale set receiver_email = ${receiverEmail} where service_id = ${service.id} and number = ${number}`,
  )
  await eraseFiles(tx, service, [number])
}

async function eraseFiles(tx: Db, service: Service, vouchers: readonly string[]) {
  for (const subject of await mailsOf(tx, service, vouchers)) await addJob(tx, service.id, eraseEmailFileJob, { subject })
}

/** A condition: vouchers that were sold with these orders. */
export const boughtWith = (orderNumbers: readonly string[]) => sql`order_number = any(${orderNumbers})`
/** A condition: vouchers that somebody of this name and address has sent. */
export const boughtBy = (name: string, addressLine1: string) => sql`
  lower(sender_name) = lower(${name}) and lower(billing_address->>'addressLine1') = lower(${addressLine1})`

/** Takes whoever has bought vouchers out of them. A gift that waits for its day is another's: it is sent, and then forgotten. */
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
