import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { isLeased } from './lease.ts'

/** A sync of a service and the seconds between its runs. */
interface PlannedSync {
  serviceId: number
  sync: string
  intervalSeconds: number
}

interface Job {
  serviceId: number
  subject: string
}

const asRows = (rows: readonly object[]) => sql`json_to_recordset(${JSON.stringify(rows)})`

/** Adds the missing jobs of a name, due in the order of the list, and deletes its jobs that aren't in the list. */
export async function ensureJobs(db: Db, name: string, jobs: readonly Job[]): Promise<void> {
  const rows = sql`${asRows(jobs.map((job, ordinal) => ({ ...job, ordinal })))} as w ("serviceId" integer, subject text, ordinal integer)`
  await db.run(sql`
    insert into job (service_id, name, subject, due_at)
    select "serviceId", ${name}, w.subject, now() - interval '1 s' + ordinal * interval '1 us' from ${rows}
     where exists (select from service where service_id = "serviceId")
    on conflict do nothing`)
  await db.run(sql`
    delete from job j where name = ${name} and lease is null
       and not exists (select from ${rows} where j.service_id = "serviceId" and j.subject = w.subject)`)
}

/** Brings forward the syncs whose interval was shortened after their last run. Returns them. A sync that waits after a failure stays. */
export const advanceSyncs = (db: Db, name: string, planned: readonly PlannedSync[]) =>
  db.rows<Pick<PlannedSync, 'serviceId' | 'sync'>>(sql`
    update job j set due_at = greatest(now(), s.finished_at + p."intervalSeconds" * interval '1 s')
      from ${asRows(planned)} as p ("serviceId" integer, sync text, "intervalSeconds" integer)
      join sync_state s on s.service_id = p."serviceId" and s.sync = p.sync
     where j.service_id = p."serviceId" and j.name = ${name} and j.subject = p.sync and j.lease is null and j.attempts = 0
       and j.due_at > greatest(now(), s.finished_at) + p."intervalSeconds" * interval '1 s'
    returning j.service_id as "serviceId", j.subject as sync`)

/** A sync whose last completed run is more than three intervals ago. */
interface OverdueSync extends PlannedSync {
  lagSeconds: number
}

/** Finds overdue syncs without an alert. A run in progress counts only after an hour. */
export const findNewlyOverdue = (db: Db, planned: readonly PlannedSync[]) =>
  db.rows<OverdueSync>(sql`
    select p."serviceId", p.sync, every as "intervalSeconds", floor(extract(epoch from now() - finished_at))::integer as "lagSeconds"
      from ${asRows(planned)} as p ("serviceId" integer, sync text, "intervalSeconds" integer)
      join sync_state s on s.service_id = p."serviceId" and s.sync = p.sync
     cross join lateral (select greatest(p."intervalSeconds", s.full_only_interval) as every) schedule
      left join alert a on a.service_id = p."serviceId" and a.kind = ${stalledAlert} and a.subject = p.sync
     where a.kind is null and finished_at < now() - 3 * every * interval '1 s'
       and (not ${isLeased} or started_at < now() - interval '1 hour')
     order by 1, 2`)

export const stalledAlert = 'sync_stalled'
export const failingAlert = 'sync_failing'

/** Returns the given syncs that have never completed a run. */
export const findNeverSynced = async (db: Db, service: Service, syncs: readonly string[]): Promise<string[]> =>
  (
    await db.rows<{ sync: string }>(sql`
      select sync from unnest(${syncs}::text[]) sync
       where not exists (select from sync_state s where s.service_id = ${service.id} and s.sync = sync.sync and finished_at is not null)`)
  ).map(({ sync }) => sync)
