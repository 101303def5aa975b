import { setTimeout as delay } from 'node:timers/promises'
import { type Database, sql } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { jobs } from '../../../src/jobs/jobs.ts'
import { retryEmails, sendEmailJob } from '../../../src/store/mail/emails.ts'
import { type CheckResult, check } from '../expectations/check.ts'
import type { ReceivedEmail } from '../mailbox.ts'
import { abandoned } from '../operations/client.ts'
import type { History } from '../operations/history.ts'
import type { ManagedProcess } from '../processes.ts'

/** Compares the emails that arrived with the vouchers that were acknowledged. */
export function checkEmails(
  emails: readonly ReceivedEmail[],
  history: History,
  workers: readonly ManagedProcess[],
  areAllSent: boolean,
): CheckResult[] {
  const sales = history.acknowledged('voucherSale')
  const abandonedKeys = history.of('voucherSale').filter(({ outcome }) => outcome.status === abandoned)
  const keys = new Set([...sales, ...abandonedKeys].map(({ key }) => key))
  const emailsByKey = Map.groupBy(emails, ({ subject }) => subject)
  const repeated = emails.length - emailsByKey.size
  const kills = workers.reduce((sum, worker) => sum + worker.kills.length, 0)
  const maxRepeated = kills * (jobs[sendEmailJob]?.concurrency ?? 0)
  return [
    check(
      'each acknowledged voucher was emailed with its number and PIN',
      sales
        .filter(({ key, outcome: { data } }) => {
          const { number, pin } = data ?? {}
          return (
            !number || !pin || !emailsByKey.get(key)?.every(({ text }) => text.includes(number) && text.includes(pin))
          )
        })
        .map(({ key }) => key),
      sales.length,
    ),
    check(
      'no email was sent without a voucher',
      [...emailsByKey.keys()].filter(key => !keys.has(key)),
    ),
    check(
      'all emails of a voucher have the same Message-ID',
      [...emailsByKey]
        .filter(([, same]) => new Set(same.map(({ messageId }) => messageId)).size !== 1)
        .map(([key]) => key),
    ),
    check(
      'a worker that was killed repeated at most the emails in flight',
      repeated <= maxRepeated ? [] : [`${repeated} repeated, at most ${maxRepeated} allowed`],
      kills || undefined,
    ),
    check('all emails were sent within 60 s of the last kill', areAllSent ? [] : ['some emails are still queued']),
  ]
}

/** Waits at most 60 s until no email is queued. Retries those that the mail server rejected, as an operator would. */
export async function waitUntilEmailsAreSent(db: Database, service: Service): Promise<boolean> {
  for (const end = performance.now() + 60_000; performance.now() < end; await delay(200)) {
    const queued = await db
      .rows<{ id: string; isRejected: boolean }>(
        sql`select email_id as id, last_error is not null as "isRejected" from email where service_id = ${service.id} and status <> 'sent'`,
      )
      .catch(() => undefined)
    if (queued?.length === 0) return true
    for (const { id } of queued?.filter(({ isRejected }) => isRejected) ?? [])
      await retryEmails(db, service, id).catch(() => {})
  }
  return false
}
