import { randomUUID } from 'node:crypto'
import { type Keys, seal, unseal } from '../../crypto/keys.ts'
import { type Database, type Db, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { resolveAlert } from '../alerts/alerts.ts'
import { addJob } from '../jobs/jobs.ts'
import { localTime } from '../lists/change-timestamp.ts'

/** Content of the email to the receiver of a gift voucher. */
export interface VoucherEmail {
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
  /** `YYYY-MM-DD`. The email is not sent before this day starts in the service's time zone. */
  deliveryDate: string | null
  /** True if the PIN replaces the PIN of an earlier email. */
  renewed?: boolean
}

export type EmailStatus = 'queued' | 'sent' | 'failed'

/** The job that sends an email. Its subject is the email's ID. */
export const sendEmailJob = 'send-email'

/** Returns the sender's address of a service's emails. */
export const getSender = ({ settings }: Service) => settings.emailSender ?? 'vouchers@localhost'

/** Queues the email of a new voucher in the transaction that creates the voucher, so that both are committed or neither. */
export async function queueVoucherEmail(tx: Db, keys: Keys, service: Service, mail: VoucherEmail): Promise<void> {
  const id = randomUUID()
  const messageId = `<${id}@${getSender(service).split('@').at(-1)}>`
  const sealed = seal(keys, getEmailContext(service, id), JSON.stringify(mail))
  const notBefore = mail.deliveryDate && toStartOfDay(mail.deliveryDate, service.settings.timeZone)
  await Promise.all([
    tx.run(sql`
      insert into email (service_id, email_id, voucher_number, message_id, encrypted_content, not_before)
      values (${service.id}, ${id}, ${mail.number}, ${messageId}, ${sealed}, greatest(now(), ${notBefore}::timestamptz))`),
    addJob(tx, service.id, sendEmailJob, { subject: id, dueAt: notBefore }),
  ])
}

const toStartOfDay = (date: string, timeZone: string) =>
  Temporal.PlainDate.from(date).toZonedDateTime(timeZone).toInstant().toString()

/** The context that the encrypted content of an email is bound to. */
export const getEmailContext = (service: Pick<Service, 'id'>, id: string) => `mail ${service.id} ${id}`

/** SQL for the emails of a voucher as a JSON array of `ReceiverEmail`, the newest first. `voucher`: SQL for the voucher number. */
export const selectVoucherEmails = (service: Service, voucher: Sql) => sql`
  (select coalesce(json_agg(json_build_object(
            'id', email_id, 'status', m.status, 'queuedAt', ${localTime(sql`m.created_at`, service)}, 'dueAt', ${localTime(sql`j.due_at`, service)},
            'sentAt', ${localTime(sql`m.sent_at`, service)}, 'isContentStored', m.encrypted_content is not null,
            'attempts', m.attempts, 'lastError', m.last_error) order by m.created_at desc, email_id), '[]')
     from email m left join job j on j.service_id = m.service_id and j.name = ${sendEmailJob} and j.subject = m.email_id and m.status = 'queued'
    where m.service_id = ${service.id} and m.voucher_number = ${voucher})`

/** SQL for the status of the newest email of a voucher `v`. */
export const selectNewestEmailStatus = sql`
  (select m.status from email m where m.service_id = v.service_id and m.voucher_number = v.number order by m.created_at desc limit 1)`

/** Returns ID and content of a voucher's newest email, and locks it. Returns undefined if it was sent. */
export async function lockUnsentEmail(tx: Db, keys: Keys, service: Service, number: string) {
  const row = await tx.row<{ id: string; sealed: Buffer | null }>(sql`
    select email_id as id, encrypted_content as sealed from email where service_id = ${service.id} and voucher_number = ${number} order by created_at desc limit 1 for update`)
  return row?.sealed ? { id: row.id, mail: unsealContent(keys, service, row.id, row.sealed) } : undefined
}

const unsealContent = (keys: Keys, service: Service, id: string, sealed: Buffer) =>
  JSON.parse(unseal(keys, getEmailContext(service, id), sealed)) as VoucherEmail

export interface QueuedEmail extends VoucherEmail {
  /** In angle brackets. All attempts have the same ID and date. */
  messageId: string
  date: Date
}

/** Returns a queued email. Returns undefined if it was sent or has failed. */
export async function findQueuedEmail(
  db: Db,
  keys: Keys,
  service: Service,
  id: string,
): Promise<QueuedEmail | undefined> {
  const row = await db.row<{ sealed: Buffer; messageId: string; date: Date }>(sql`
    select encrypted_content as sealed, message_id as "messageId", not_before as date from email
     where service_id = ${service.id} and email_id = ${id} and status = 'queued'`)
  if (!row) return
  const { sealed, ...header } = row
  return { ...unsealContent(keys, service, id, sealed), ...header }
}

/** Records that an email was sent, deletes its content, and resolves alerts about it. */
export const recordSent = (db: Database, service: Service, id: string, attempts: number) =>
  db.transaction(async tx => {
    await tx.run(sql`
      update email set status = 'sent', sent_at = now(), encrypted_content = null, attempts = ${attempts}, last_error = null
       where service_id = ${service.id} and email_id = ${id}`)
    await resolveAlert(tx, service.id, { kind: 'email_failed', subject: id })
    await resolveAlert(tx, service.id, { kind: 'email_server_rejecting', subject: '' })
  })

/** Records a failed attempt. `failed`: no attempt follows. Returns the number of updated emails: 0 if the email is no longer queued. */
export const recordFailedAttempt = (
  db: Db,
  service: Service,
  id: string,
  { attempts, fault, failed }: { attempts: number; fault: string; failed: boolean },
) =>
  db.run(sql`
    update email set attempts = ${attempts}, last_error = ${fault}, status = ${failed ? 'failed' : 'queued'}
     where service_id = ${service.id} and email_id = ${id} and status = 'queued'`)

/** An email as `tillbridge mail list` shows it. */
interface ListedEmail {
  id: string
  voucher: string
  status: EmailStatus
  attempts: number
  createdAt: Date
  sentAt: Date | null
  /** Time of the next attempt. */
  dueAt: Date | null
  lastError: string | null
}

/** Returns the newest emails of a service. */
export const listEmails = (db: Db, service: Service, status: EmailStatus | undefined, limit: number) =>
  db.rows<ListedEmail>(sql`
    select m.email_id as id, voucher_number as voucher, status, m.attempts, created_at as "createdAt", sent_at as "sentAt", j.due_at as "dueAt", last_error as "lastError"
      from email m left join job j on j.service_id = m.service_id and j.name = ${sendEmailJob} and j.subject = m.email_id
     where m.service_id = ${service.id} and (${status ?? null}::text is null or status = ${status ?? null})
     order by created_at desc, email_id limit ${limit}`)

/** Queues one email, or all failed ones, for sending at once. Returns their number. Emails without stored content can't be sent again. */
export const retryEmails = (db: Database, service: Service, id: string | undefined): Promise<number> =>
  db.transaction(tx => retryEmailsIn(tx, service, id))

/** Like `retryEmails`, within a transaction. An email before its delivery date stays queued for that date. */
export async function retryEmailsIn(tx: Db, service: Service, id: string | undefined): Promise<number> {
  const rows = await tx.rows<{ id: string }>(sql`
    update email set status = 'queued' where service_id = ${service.id} and encrypted_content is not null
       and ${id === undefined ? sql`status = 'failed'` : sql`email_id = ${id} and not_before <= now()`}
    returning email_id as id`)
  for (const { id: subject } of rows) await addJob(tx, service.id, sendEmailJob, { subject })
  return rows.length
}

/** Returns the IDs of all emails of these vouchers. */
export const listEmailIds = async (tx: Db, service: Service, vouchers: readonly string[]): Promise<string[]> =>
  (
    await tx.rows<{ id: string }>(
      sql`select email_id as id from email where service_id = ${service.id} and voucher_number = any(${vouchers})`,
    )
  ).map(({ id }) => id)

/** Deletes the content of the emails of vouchers whose receiver is erased. Queued emails are abandoned. */
export const eraseEmails = (tx: Db, service: Service, vouchers: readonly string[]) =>
  abandonEmails(tx, service, vouchers, sql`'The receiver was erased.'`)

/** Abandons the emails of a voucher that another email replaces. Adds that reason to their last error, once. */
export const supersedeEmails = (tx: Db, service: Service, voucher: string) =>
  abandonEmails(
    tx,
    service,
    [voucher],
    sql`case when encrypted_content is null then last_error else concat_ws(' ', last_error, 'Another one was sent instead.') end`,
  )

/** `reason`: SQL for the last error of the emails. */
async function abandonEmails(tx: Db, service: Service, vouchers: readonly string[], reason: Sql): Promise<void> {
  const ids = await listEmailIds(tx, service, vouchers)
  await tx.run(sql`
    update email set encrypted_content = null, status = 'failed', last_error = ${reason}
     where service_id = ${service.id} and email_id = any(${ids}) and status <> 'sent'`)
  for (const subject of ids) await resolveAlert(tx, service.id, { kind: 'email_failed', subject })
  // A running job finds no content, or has just sent the email.
  await tx.run(sql`
    delete from job
     where service_id = ${service.id} and name = ${sendEmailJob} and subject = any(${ids}) and (leased_until is null or leased_until <= now())`)
}

/** True if the job that sends an email still exists. */
export const isBeingSent = async (db: Db, service: Service, id: string) =>
  Boolean(
    await db.row(
      sql`select true as sending from job where service_id = ${service.id} and name = ${sendEmailJob} and subject = ${id}`,
    ),
  )

/** Returns the Message-ID of an email, in angle brackets. */
export const findMessageId = async (db: Db, service: Service, id: string) =>
  (
    await db.row<{ messageId: string }>(
      sql`select message_id as "messageId" from email where service_id = ${service.id} and email_id = ${id}`,
    )
  )?.messageId

/** Deletes the content, which includes the PIN, of emails that failed and are older than 30 days. Returns their number. */
export const purgeFailedEmails = (db: Db) =>
  db.run(
    sql`update email set encrypted_content = null where status = 'failed' and encrypted_content is not null and created_at < now() - interval '30 days'`,
  )
