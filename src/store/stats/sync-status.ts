import { type Db, sql } from '../../database/db.ts'

/** The statistics of one sync of one service. */
interface SyncStats {
  service: string
  sync: string
  lagSeconds: number | null
  /** Set if only full syncs are possible: the interval between them (`sync_state.full_only_interval`). */
  fullOnlyIntervalSeconds: number | null
  isFailed: boolean
  /** The counts of the last run. */
  records: Record<'read' | 'new' | 'changed' | 'removed' | 'skipped' | 'rejected', number>
}

/** Returns the statistics of all syncs, except for services that are not served from this shard. */
export const readSyncStats = (db: Db) =>
  db.rows<SyncStats>(sql`
    select name as service, sync, extract(epoch from now() - finished_at)::float8 as "lagSeconds", full_only_interval as "fullOnlyIntervalSeconds", error is not null as "isFailed",
           json_build_object('read', read, 'new', inserted, 'changed', changed, 'removed', removed, 'skipped', skipped, 'rejected', rejected) as records
      from sync_state join service using (service_id)
     where move_state is null or move_state not in ('incoming', 'moved_away') order by 1, 2`)

/**
 * Counts jobs, emails and alerts by type and state. Emails that are not sent have a count for each state, so that the first failure is an
 * increase from 0. Sent emails are not counted.
 */
export const countStates = (db: Db) =>
  db.rows<{ entity: 'jobs' | 'mails' | 'alerts'; kind: string; state: string; count: number }>(sql`
    select 'jobs' as entity, name as kind, case when leased_until > now() then 'running' when due_at <= now() then 'due' else 'waiting' end as state,
           count(*)::integer as count from job group by 1, 2, 3
    union all select 'mails', '', state, count(status)::integer
      from unnest(array['queued', 'failed']) state left join email on status = state and status <> 'sent' group by state
    union all select 'alerts', kind, '', count(*)::integer from alert group by kind
    order by 1, 2, 3`)

/** Returns the seconds for which the oldest commit of this role has been waiting for a synchronous standby. */
export async function readCommitWaitSeconds(db: Db): Promise<number> {
  const row = await db.row<{ seconds: number }>(sql`
    select coalesce(max(extract(epoch from clock_timestamp() - state_change)), 0)::float8 as seconds
      from pg_stat_activity where datname = current_database() and wait_event = 'SyncRep'`)
  return row?.seconds ?? 0
}

/** Returns PostgreSQL's version as a number: 18.4 is 180004. */
export async function readServerVersion(db: Db): Promise<number> {
  const row = await db.row<{ version: number }>(sql`select current_setting('server_version_num')::integer as version`)
  return row?.version ?? 0
}

/** Returns the size of the database on disk. */
export async function readDatabaseBytes(db: Db): Promise<number> {
  const row = await db.row<{ bytes: number }>(sql`select pg_database_size(current_database())::float8 as bytes`)
  return row?.bytes ?? 0
}
