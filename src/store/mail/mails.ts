import { randomUUID } from 'node:crypto'
import { type Keys, seal, unseal } from '../../crypto/keys.ts'
import { type Database, type Db, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { resolveAlert } from '../alerts/alerts.ts'
import { addJob } from '../jobs/jobs.ts'
import { localTime } from '../lists/change-timestamp.ts'

/** What the receiver of a gift voucher is told. */
export interface VoucherMail {
  number: string
  pin: string
  /** With the currency's decimals. */
  amount: string
  currency: string
  /** `YYYY-MM-DD`. */
  expiryDate: string | null
  receiverName: string
  receiverEmail: string
  senderName: string
  message: string | null
  subject: string
  /** `YYYY-MM-DD`: not sent before this day begins in the service's time zone. */
  deliveryDate: string | null
  /** Whether the PIN takes the place of one that an earlier e-mail told. */
  renewed?: boolean
}

export type MailStatus = 'queued' | 'sent' | 'failed'

/** The job that sends a mail; its subject is the mail's id. */
export const sendEmailJob = 'send-email'

/** Where mails of a service come from. */
export const senderOf = ({ settings }: Service) => settings.emailSender ?? 'vouchers@localhost'

/** Queues the e-mail of a new voucher in the transaction that makes it: never one without the other (contract 7). */
export async function queueVoucherMail(tx: Db, keys: Keys, service: Service, mail: VoucherMail): Promise<void> {
  const id = randomUUID()
  const messageId = `<${id}@${senderOf(service).split('@').at(-1)}>`
  const sealed = seal(keys.sealed, placeOf(service, id), JSON.stringify(mail))
  const notBefore = mail.deliveryDate && beginningOf(mail.deliveryDate, service.settings.timeZone)
  await Promise.all([
    tx.run(sql`
      insert into email (service_id, email_id, voucher_number, message_id, encrypted_content, not_before)
      values (${service.id}, ${id}, ${mail.number}, ${messageId}, ${sealed}, greatest(now(), ${notBefore}::timestamptz))`),
    addJob(tx, service.id, sendEmailJob, { subject: id, dueAt: notBefore }),
  ])
}

const beginningOf = (date: string, timeZone: string) =>
  Temporal.PlainDate.from(date).toZonedDateTime(timeZone).toInstant().toString()

const placeOf = (service: Service, id: string) => `mail ${service.id} ${id}`

/** The e-mails of a voucher as they are told (`ReceiverEmail`), the newest first: a JSON array. `voucher`: its number. */
export const emailsOf = (service: Service, voucher: Sql) => sql`
  (select coalesce(json_agg(json_build_object(
            'id', email_id, 'status', m.status, 'queuedAt', ${localTime(sql`m.created_at`, service)}, 'dueAt', ${localTime(sql`j.due_at`, service)},
            'sentAt', ${localTime(sql`m.sent_at`, service)}, 'isContentStored', m.encrypted_content is not null,
            'attempts', m.attempts, 'lastError', m.last_error) order by m.created_at desc, email_id), '[]')
     from email m left join job j on j.service_id = m.service_id and j.name = ${sendEmailJob} and j.subject = m.email_id and m.status = 'queued'
    where m.service_id = ${service.id} and m.voucher_number = ${voucher})`

/** What has become of the newest e-mail of a voucher `v`. */
export const newestMail = sql`
  (select m.status from email m where m.service_id = v.service_id and m.voucher_number = v.number order by m.created_at desc limit 1)`

/** What the newest e-mail of a voucher says, and its identifier, as long as it was not sent; this transaction holds it. */
export async function takeUnsent(tx: Db, keys: Keys, service: Service, number: string) {
  const row = await tx.row<{ id: string; sealed: Buffer | null }>(sql`
    select email_id as id, encrypted_content as sealed from email where service_id = ${service.id} and voucher_number = ${number} order by created_at desc limit 1 for update`)
  return row?.sealed ? { id: row.id, mail: opened(keys, service, row.id, row.sealed) } : undefined
}

const opened = (keys: Keys, service: Service, id: string, sealed: Buffer) =>
  JSON.parse(unseal(keys.sealed, placeOf(service, id), sealed)) as VoucherMail

/** A mail that waits to be sent. */
export interface Waiting extends VoucherMail {
  /** In angle brackets; the same for every attempt, and so is the date. */
  messageId: string
  date: Date
}

/** What is to be sent; undefined where it was sent or given up. */
export async function readWaiting(db: Db, keys: Keys, service: Service, id: string): Promise<Waiting | undefined> {
  const row = await db.row<{ sealed: Buffer; messageId: string; date: Date }>(sql`
    select encrypted_content as sealed, message_id as "messageId", not_before as date from email
     where service_id = ${service.id} and email_id = ${id} and status = 'queued'`)
  if (!row) return
  const { sealed, ...rest } = row
  return { ...opened(keys, service, id, sealed), ...rest }
}

/** It has been handed over; what it said is forgotten, and alerts about it are settled. */
export const markSent = (db: Database, service: Service, id: string, attempts: number) =>
  db.transaction(async tx => {
    await tx.run(sql`
      update email set status = 'sent', sent_at = now(), encrypted_content = null, attempts = ${attempts}, last_error = null
       where service_id = ${service.id} and email_id = ${id}`)
    await resolveAlert(tx, service.id, { kind: 'email_failed', subject: id })
    await resolveAlert(tx, service.id, { kind: 'email_server_rejecting', subject: '' })
  })

/** An attempt came to nothing. With `failed` there is no other. Returns how many mails that is marked of: none where it does not wait any more. */
export const markFault = (
  db: Db,
  service: Service,
  id: string,
  { attempts, fault, failed }: { attempts: number; fault: string; failed: boolean },
) =>
  db.run(sql`
    update email set attempts = ${attempts}, last_error = ${fault}, status = ${failed ? 'failed' : 'queued'}
     where service_id = ${service.id} and email_id = ${id} and status = 'queued'`)

/** A mail as `tillbridge mail list` shows it. */
interface ListedMail {
  id: string
  voucher: string
  status: MailStatus
  attempts: number
  createdAt: Date
  sentAt: Date | null
  /** When it is tried next. */
  dueAt: Date | null
  lastFault: string | null
}

/** The newest mails of a service. */
export const listMails = (db: Db, service: Service, status: MailStatus | undefined, limit: number) =>
  db.rows<ListedMail>(sql`
    select m.email_id as id, voucher_number as voucher, status, m.attempts, created_at as "createdAt", sent_at as "sentAt", j.due_at as "dueAt", last_error as "lastFault"
      from email m left join job j on j.service_id = m.service_id and j.name = ${sendEmailJob} and j.subject = m.email_id
     where m.service_id = ${service.id} and (${status ?? null}::text is null or status = ${status ?? null})
     order by created_at desc, email_id limit ${limit}`)

/** Has mails tried again at once: one, or all that were given up. Returns how many; none where what they said is forgotten already. */
export const retryMails = (db: Database, service: Service, id: string | undefined): Promise<number> =>
  db.transaction(tx => retryWithin(tx, service, id))

/** The same, in a transaction that there is. One that waits for its day goes on waiting. */
export async function retryWithin(tx: Db, service: Service, id: string | undefined): Promise<number> {
  const rows = await tx.rows<{ id: string }>(sql`
    update email set status = 'queued' where service_id = ${service.id} and encrypted_content is not null
       and ${id === undefined ? sql`status = 'failed'` : sql`email_id = ${id} and not_before <= now()`}
    returning email_id as id`)
  for (const { id: each } of rows) await addJob(tx, service.id, sendEmailJob, { subject: each })
  return rows.length
}

/** The mails of vouchers, by their identifiers. */
export const mailsOf = async (tx: Db, service: Service, vouchers: readonly string[]): Promise<string[]> =>
  (
    await tx.rows<{ id: string }>(
      sql`select email_id as id from email where service_id = ${service.id} and voucher_number = any(${vouchers})`,
    )
  ).map(({ id }) => id)

/** Drops what the mails of vouchers say, whose receiver is erased; one that waits is given up. */
export const eraseMails = (tx: Db, service: Service, vouchers: readonly string[]) =>
  giveUp(tx, service, vouchers, sql`'The receiver was erased.'`)

/** The same of a voucher's mails that another one takes the place of. It is told beside why one did not leave, once. */
export const supersedeMails = (tx: Db, service: Service, voucher: string) =>
  giveUp(
    tx,
    service,
    [voucher],
    sql`case when encrypted_content is null then last_error else concat_ws(' ', last_error, 'Another one was sent instead.') end`,
  )

/** `why`: what is told of the mails from then on. */
async function giveUp(tx: Db, service: Service, vouchers: readonly string[], why: Sql): Promise<void> {
  const ids = await mailsOf(tx, service, vouchers)
  await tx.run(sql`
    update email set encrypted_content = null, status = 'failed', last_error = ${why}
     where service_id = ${service.id} and email_id = any(${ids}) and status <> 'sent'`)
  for (const subject of ids) await resolveAlert(tx, service.id, { kind: 'email_failed', subject })
  // A worker that is at it finds nothing to send, or has just sent it.
  await tx.run(sql`
    delete from job
     where service_id = ${service.id} and name = ${sendEmailJob} and subject = any(${ids}) and (leased_until is null or leased_until <= now())`)
}

/** Whether the job that sends a mail is not over. */
export const isBeingSent = async (db: Db, service: Service, id: string) =>
  Boolean(
    await db.row(
      sql`select true as sending from job where service_id = ${service.id} and name = ${sendEmailJob} and subject = ${id}`,
    ),
  )

/** What a mail is called, in angle brackets. */
export const messageIdOf = async (db: Db, service: Service, id: string) =>
  (
    await db.row<{ messageId: string }>(
      sql`select message_id as "messageId" from email where service_id = ${service.id} and email_id = ${id}`,
    )
  )?.messageId

/** Drops what mails said that were given up a month ago: the PIN in it is not kept for ever. Returns how many. */
export const purgeFailedEmails = (db: Db) =>
  db.run(
    sql`update email set encrypted_content = null where status = 'failed' and encrypted_content is not null and created_at < now() - interval '30 days'`,
  )
