import { type Database, sql } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { listAlerts } from '../../../src/store/alerts/alerts.ts'
import { readSyncStatuses } from '../../../src/store/sync/status.ts'
import { waitUntil } from '../../support/processes.ts'

/** How the syncs of a service stand while a worker does its jobs, and what has them done now. */
export function syncJobsOf(db: Database, service: Service) {
  const facts = async () => new Map((await readSyncStatuses(db, service)).map(fact => [fact.sync, fact]))
  const result = async (sync: string) => (await facts()).get(sync)?.lastResult
  const dueNow = (name: string, subject = '') =>
    db.run(
      sql`update job set due_at = now() where name = ${name} and subject = ${subject} and (service_id is null or service_id = ${service.id})`,
    )
  const jobOf = (sync: string) =>
    db.row<{ attempts: number; wait: number; lease: string | null }>(
      sql`select attempts, extract(epoch from due_at - now())::float8 as wait, lease from job where name = 'run-sync' and subject = ${sync} and service_id = ${service.id}`,
    )
  const alerts = async () => (await listAlerts(db)).map(({ kind, subject }) => `${kind} ${subject}`)
  const planned = async () => {
    await dueNow('schedule-syncs')
    await waitUntil(
      async () =>
        (await db.run(sql`select from job where name = 'schedule-syncs' and due_at > now() and lease is null`)) > 0,
      'it is planned',
    )
  }
  /** Has a sync pulled now, and waits until that is over. */
  const pulled = async (sync: string) => {
    const before = await db.row<{ at: string }>(
      sql`select started_at::text as at from sync_state where service_id = ${service.id} and sync = ${sync}`,
    )
    const begun = () =>
      db.run(
        sql`select from sync_state where service_id = ${service.id} and sync = ${sync} and started_at::text <> ${before?.at} and heartbeat_at is null`,
      )
    await waitUntil(async () => (await jobOf(sync))?.lease === null, 'no run of it is under way')
    await dueNow('run-sync', sync)
    await waitUntil(async () => (await begun()) > 0, `${sync} is pulled`, 30_000)
    await waitUntil(async () => (await jobOf(sync))?.lease === null, 'its job has ended')
  }
  return { facts, result, dueNow, jobOf, alerts, planned, pulled }
}
