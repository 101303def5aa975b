import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before } from 'node:test'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { type Database, type Db, sql } from '../../src/database/db.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { startWorker, type Worker } from '../../src/jobs/worker.ts'
import { openMailTransport } from '../../src/mail/transport.ts'
import { type EmailStatus, queueVoucherEmail, type VoucherEmail } from '../../src/store/mail/emails.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { waitUntil } from './processes.ts'
import { captureLog } from './servers.ts'
import { type SmtpSink, startSink } from './smtp-sink.ts'

export const giftEmail: VoucherEmail = {
  number: '2062389',
  pin: '204816',
  amount: '1500.00',
  currency: 'AUD',
  expiryDate: '2029-11-21',
  receiverName: 'Veronica Costello',
  receiverEmail: 'veronica@example.com',
  senderName: 'John Smith',
  message: 'Happy birthday!\nYours, John',
  subject: 'A gift for you',
  deliveryDate: null,
}

/** A stored email with its job. */
interface MailRow {
  email_id: string
  status: string
  attempts: number
  last_error: string | null
  encrypted_content: Buffer | null
  message_id: string
  /** Seconds until the next attempt. */
  wait: number | null
}

/**
 * Sets up a service that sends emails, a mail server that stores them, and workers, for a test file. After each test,
 * all emails, jobs and alerts are deleted.
 */
export function setUpMailing() {
  const keys = deriveKeys(randomBytes(32))
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-mail-'))
  let database: TestDatabase
  let service: Service
  let sink: SmtpSink
  const workers: Worker[] = []
  const logged = captureLog('info')

  before(async () => {
    database = await createTestDatabase()
    const created = await addService(database.db, 'luma', {
      retailerName: 'Luma & Söhne',
      emailSender: 'gifts@luma.example',
      timeZone: 'Australia/Melbourne',
    })
    assert.ok(created)
    service = created
    sink = await startSink()
  })
  afterEach(async () => {
    await Promise.all(workers.splice(0).map(worker => worker.stop(0)))
    await database.db.run(sql`delete from email`)
    await database.db.run(sql`delete from job`)
    await database.db.run(sql`delete from alert`)
    sink.delivered.length = 0
    sink.faults.length = 0
    logged.clear()
  })
  after(async () => {
    await sink.close()
    await database.drop()
    await rm(directory, { recursive: true, force: true })
  })

  const listMails = () =>
    database.db.rows<MailRow>(sql`
      select m.*, extract(epoch from due_at - now())::float8 as wait
        from email m left join job j on j.service_id = m.service_id and j.subject = m.email_id order by created_at`)
  const getMail = async () => (await listMails())[0] as MailRow
  const waitOrFailWithLog = (condition: () => unknown, label: string) =>
    waitUntil(condition, label).catch((error: Error) => assert.fail(`${error.message}\n${logged.text}`))

  return {
    keys,
    directory,
    get db(): Database {
      return database.db
    },
    get service() {
      return service
    },
    get sink() {
      return sink
    },
    /** The log of the workers. */
    get logText() {
      return logged.text
    },
    /** Starts a worker that is stopped after the test. */
    startMailWorker(transport = openMailTransport({ smtpUrl: sink.url, dataDir: directory }), publicUrl?: string) {
      const worker = startWorker({ db: database.db, keys, log: logged.log, mailTransport: transport, publicUrl })
      workers.push(worker)
      return worker
    },
    queueMail: (overrides: Partial<VoucherEmail> = {}) =>
      database.db.transaction(tx => queueVoucherEmail(tx, keys, service, { ...giftEmail, ...overrides })),
    /** Returns the oldest email. */
    getMail,
    waitUntil: waitOrFailWithLog,
    waitUntilSent: () =>
      waitOrFailWithLog(
        async () => (await listMails()).every(({ status }) => status === 'sent'),
        'all emails are sent',
      ),
    waitUntilFailed: () => waitOrFailWithLog(async () => (await getMail()).status === 'failed', 'the email fails'),
    /** Waits until this attempt is over and the next one is scheduled. */
    waitUntilAttempted: (attempts: number) =>
      waitOrFailWithLog(async () => {
        const { attempts: attemptCount, wait } = await getMail()
        return attemptCount === attempts && wait !== null && wait > 1
      }, `attempt ${attempts}`),
    /** Makes the next attempt due now. */
    makeDue: () => database.db.run(sql`update job set due_at = now() where name = 'send-email'`),
  }
}

/** Returns the status of a voucher's newest email. Returns undefined if none was queued. */
export async function getVoucherMailStatus(db: Db, service: Service, number: string): Promise<EmailStatus | undefined> {
  const row = await db.row<{ status: EmailStatus }>(sql`
    select status from email where service_id = ${service.id} and voucher_number = ${number} order by created_at desc limit 1`)
  return row?.status
}
