import { type Database, sql } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { listAlerts } from '../../../src/store/alerts/alerts.ts'
import { readSyncStatuses } from '../../../src/store/sync/status.ts'
import { waitUntil } from '../../support/processes.ts'

/** Returns functions to inspect and start the sync jobs of a service whose worker is running. */
export function createSyncJobFixture(db: Database, service: Service) {
  const loadStatuses = async () => new Map((await readSyncStatuses(db, service)).map(fact => [fact.sync, fact]))
  const getLastResult = async (sync: string) => (await loadStatuses()).get(sync)?.lastResult
  const makeDue = (name: string, subject = '') =>
    db.run(
      sql`update job set due_at = now() where name = ${name} and subject = ${subject} and (service_id is null or service_id = ${service.id})`,
    )
  const findJob = (sync: string) =>
    db.row<{ attempts: number; wait: number; lease: string | null }>(
      sql`select attempts, extract(epoch from due_at - now())::float8 as wait, lease from job where name = 'run-sync' and subject = ${sync} and service_id = ${service.id}`,
    )
  const listAlertSubjects = async () => (await listAlerts(db)).map(({ kind, subject }) => `${kind} ${subject}`)
  const runScheduler = async () => {
    await makeDue('schedule-syncs')
    await waitUntil(
      async () =>
        (await db.run(sql`select from job where name = 'schedule-syncs' and due_at > now() and lease is null`)) > 0,
      'the scheduler has run',
    )
  }
  /** Makes a sync due and waits until it has run. */
  const runSyncNow = async (sync: string) => {
    const before = await db.row<{ at: string }>(
      sql`select started_at::text as at from sync_state where service_id = ${service.id} and sync = ${sync}`,
    )
    const countFinishedRuns = () =>
      db.run(
        sql`select from sync_state where service_id = ${service.id} and sync = ${sync} and started_at::text <> ${before?.at} and heartbeat_at is null`,
      )
    await waitUntil(async () => (await findJob(sync))?.lease === null, `no run of ${sync} is in progress`)
    await makeDue('run-sync', sync)
    await waitUntil(async () => (await countFinishedRuns()) > 0, `${sync} has run`, 30_000)
    await waitUntil(async () => (await findJob(sync))?.lease === null, `the job of ${sync} has ended`)
  }
  return { loadStatuses, getLastResult, makeDue, findJob, listAlertSubjects, runScheduler, runSyncNow }
}
