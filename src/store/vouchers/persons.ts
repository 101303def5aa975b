import { type Db, type Sql, sql } from '../../db.ts'
import type { Service } from '../../settings.ts'
import { addJob } from '../running/jobs.ts'
import { eraseMails, mailsOf } from '../running/mails.ts'

/** The job that takes away the file of a mail; its subject is the mail's id. */
export const eraseMailJob = 'erase-mail'

/** Takes everybody out of the vouchers that somebody was sent, and of their mails: one that waits is not sent. */
export async function eraseReceiver(tx: Db, service: Service, email: string): Promise<void> {
  const sales = await tx.rows<{ number: string }>(sql`
    update voucher_sale set sender_name = null, receiver_name = null, receiver_email = null, mobile = null, billing_address = null
     where service_id = ${service.id} and lower(normalize(receiver_email, NFC)) = lower(normalize(${email}, NFC)) returning number`)
  const mails = await eraseMails(
    tx,
    service,
    sales.map(({ number }) => number),
  )
  for (const subject of mails) await addJob(tx, service.id, eraseMailJob, { subject })
}

/** The vouchers that were sold with some orders, and those that somebody at an address has sent. */
export const boughtWith = (orderNumbers: readonly string[]) => sql`order_number = any(${orderNumbers})`
export const boughtBy = (name: string, addressLine1: string) => sql`
  lower(sender_name) = lower(${name}) and lower(billing_address->>'addressLine1') = lower(${addressLine1})`

/** Takes whoever has bought vouchers out of them. A gift that waits for its day is another's: it is sent, and then forgotten. */
export async function eraseBuyer(tx: Db, service: Service, where: Sql): Promise<void> {
  const sales = await tx.rows<{ number: string }>(sql`
    update voucher_sale set sender_name = null, billing_address = null
     where service_id = ${service.id} and sender_name is not null and ${where} returning number`)
  const mails = await mailsOf(
    tx,
    service,
    sales.map(({ number }) => number),
  )
  for (const subject of mails) await addJob(tx, service.id, eraseMailJob, { subject })
}
