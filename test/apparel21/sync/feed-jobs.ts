import { type Database, sql } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { listAlerts } from '../../../src/store/alerts/alerts.ts'
import { syncFacts } from '../../../src/store/sync/status.ts'
import { until } from '../../support/processes.ts'

/** How the feeds of a service stand while a worker does its jobs, and what has them done now. */
export function feedJobsOf(db: Database, service: Service) {
  const facts = async () => new Map((await syncFacts(db, service)).map(fact => [fact.feed, fact]))
  const result = async (feed: string) => (await facts()).get(feed)?.lastResult
  const dueNow = (name: string, subject = '') =>
    db.run(
      sql`update job set due_at = now() where name = ${name} and subject = ${subject} and (service_id is null or service_id = ${service.id})`,
    )
  const jobOf = (feed: string) =>
    db.row<{ attempts: number; wait: number; lease: string | null }>(
      sql`select attempts, extract(epoch from due_at - now())::float8 as wait, lease from job where name = 'sync-feed' and subject = ${feed} and service_id = ${service.id}`,
    )
  const alerts = async () => (await listAlerts(db)).map(({ kind, subject }) => `${kind} ${subject}`)
  const planned = async () => {
    await dueNow('plan-syncs')
    await until(
      async () =>
        (await db.run(sql`select from job where name = 'plan-syncs' and due_at > now() and lease is null`)) > 0,
      'it is planned',
    )
  }
  /** Has a feed pulled now, and waits until that is over. */
  const pulled = async (feed: string) => {
    const before = await db.row<{ at: string }>(
      sql`select started_at::text as at from sync_state where service_id = ${service.id} and feed = ${feed}`,
    )
    const begun = () =>
      db.run(
        sql`select from sync_state where service_id = ${service.id} and feed = ${feed} and started_at::text <> ${before?.at} and beat_at is null`,
      )
    await until(async () => (await jobOf(feed))?.lease === null, 'no run of it is under way')
    await dueNow('sync-feed', feed)
    await until(async () => (await begun()) > 0, `${feed} is pulled`, 30_000)
    await until(async () => (await jobOf(feed))?.lease === null, 'its job has ended')
  }
  return { facts, result, dueNow, jobOf, alerts, planned, pulled }
}
