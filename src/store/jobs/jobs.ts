import { type Db, raw, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { getTraceparent } from '../../telemetry/current-context.ts'

/**
 * The job queue: a table of jobs that workers lease.
 * Pattern: a transactional queue with leases and `for update skip locked`.
 * Guarantees: a job is committed together with its cause; at most one worker runs it at a time; a dead worker's job is taken over.
 */

export interface LeasedJob {
  /** Null for a job of the installation. */
  serviceId: number | null
  name: string
  subject: string
  /** The number of this attempt, from 1. Failures of the job count; outages of the database don't. */
  attempt: number
  /** Starts since the last failure that counts as an attempt, including this start. */
  unfinishedStarts: number
  lease: string
  /** The trace of the request that added the job (W3C Trace Context). */
  traceparent: string | null
}

/** Milliseconds between two renewals of a worker's leases. A job whose lease was lost is aborted within this time. */
export const renewalMs = 5_000

interface JobOptions {
  /** Distinguishes jobs of the same name. */
  subject?: string
  /** RFC 3339. Default: now. */
  dueAt?: string | null
}

/**
 * Adds a job in the transaction of its cause, so that both are committed or neither. If the job exists, it becomes due no later than `dueAt`.
 * If it is running, it runs once more after that.
 */
export async function addJob(
  tx: Db,
  serviceId: number | null,
  name: string,
  { subject = '', dueAt = null }: JobOptions = {},
): Promise<void> {
  await tx.run(sql`
    insert into job as j (service_id, name, subject, due_at, traceparent)
    values (${serviceId}, ${name}, ${subject}, coalesce(${dueAt}::timestamptz, now()), ${getTraceparent() ?? null})
    on conflict (service_id, name, subject) do update
       set due_at = least(j.due_at, excluded.due_at),
           rerun_at = case when j.lease is not null then least(j.rerun_at, excluded.due_at) end,
           traceparent = coalesce(j.traceparent, excluded.traceparent)`)
}

/** True if a run of this job begins later and no later than `dueAt`. Reads without a lock. */
export const willRun = async (db: Db, serviceId: number, name: string, { subject = '', dueAt }: Required<JobOptions>) =>
  (await db.run(sql`
    select from job where service_id = ${serviceId} and name = ${name} and subject = ${subject}
       and case when lease is null then due_at else rerun_at end <= ${dueAt}::timestamptz`)) > 0

/** A scheduled job, and the maximum seconds between two of its runs. */
interface Scheduled {
  name: string
  maxSeconds: number
}

/** Adds the missing scheduled jobs of the installation. They are due at once. */
export const addScheduled = (db: Db, names: readonly string[]) =>
  db.run(
    sql`insert into job (service_id, name) select null, name from unnest(${names}::text[]) name on conflict do nothing`,
  )

/** Advances scheduled jobs that are due later than their interval permits, because the clock of the database was set back. */
export const advanceScheduled = (db: Db, scheduled: readonly Scheduled[]) =>
  db.run(sql`
    update job set due_at = now() + "maxSeconds" * interval '1 s'
      from json_to_recordset(${JSON.stringify(scheduled)}) as s (name text, "maxSeconds" float8)
     where service_id is null and job.name = s.name and due_at > now() + "maxSeconds" * interval '1 s'`)

/** Takeovers from dead workers without a delay. Each further takeover waits a minute longer (at most 60), because the job may crash workers. */
const maxImmediateTakeovers = 10

/** SQL: true if the job is not leased and not in crash backoff. `job`: the alias of the row. */
const isFree = (job: string) => {
  const [until, starts] = [raw(`${job}.leased_until`), raw(`${job}.unfinished_starts`)]
  return sql`(${until} is null or ${until} <= now() - least(greatest(${starts} - ${maxImmediateTakeovers}, 0), 60) * interval '1 min')`
}

/** Seconds after which an overdue job of the installation shows that no worker runs. Each worker polls every second. */
const idleSeconds = 60

/** Returns the seconds for which the oldest free job has been due, and `isIdle`: true if no worker runs. */
export async function readJobLag(db: Db): Promise<{ oldestSeconds: number; isIdle: boolean }> {
  const row = await db.row<{ oldestSeconds: number; isIdle: boolean }>(sql`
    select coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as "oldestSeconds",
           coalesce(bool_or(service_id is null and due_at < now() - ${idleSeconds} * interval '1 s'), false) as "isIdle"
      from job j where due_at <= now() and ${isFree('j')}`)
  return row ?? { oldestSeconds: 0, isIdle: false }
}

/** Counts the jobs of a service: running, due, and due later. */
export const countJobs = (db: Db, { id }: Pick<Service, 'id'>) =>
  db.row<{ running: number; due: number; later: number }>(sql`
    select count(*) filter (where leased_until > now())::integer as running,
           count(*) filter (where due_at <= now() and ${isFree('j')})::integer as due,
           count(*) filter (where due_at > now() and leased_until is null)::integer as later
      from job j where service_id = ${id}`)

/** Returns the lag per name, for each name that has jobs. */
export const readJobLags = (db: Db) =>
  db.rows<{ name: string; oldestSeconds: number }>(sql`
    select name,
           coalesce(extract(epoch from now() - min(due_at) filter (where due_at <= now() and ${isFree('j')})), 0)::float8 as "oldestSeconds"
      from job j
     group by 1
     order by 1`)

/** The number of jobs of one name that a worker can still lease, and the maximum that can run for one service. */
export interface Slots {
  free: number
  concurrencyPerService?: number | undefined
}

/**
 * Leases due jobs, per name at most the free slots. No other worker can lease them until the lease expires.
 * The limit per service: a due job `d` is left out if its service already has that many jobs `o` of the name that run or are due before `d`.
 * Two workers that poll at the same time can exceed that limit.
 */
export const leaseDueJobs = (
  db: Db,
  slots: Readonly<Record<string, Slots>>,
  leaseSeconds: number,
): Promise<LeasedJob[]> => {
  const limits = Object.values(slots)
  return db.rows<LeasedJob>(sql`
    update job set lease = gen_random_uuid(), leased_until = now() + ${leaseSeconds} * interval '1 s', unfinished_starts = unfinished_starts + 1, rerun_at = null
      from unnest(${Object.keys(slots)}::text[], ${limits.map(({ free }) => free)}::integer[], ${limits.map(({ concurrencyPerService }) => concurrencyPerService ?? null)}::integer[])
             slot (name, free, per_service)
     cross join lateral (
       select ctid from job d
        where d.name = slot.name and due_at <= now() and ${isFree('d')}
          and (slot.per_service is null or slot.per_service > (
                select count(*) from job o
                 where o.service_id = d.service_id and o.name = d.name
                   and (o.leased_until > now()
                        or (o.due_at <= now() and ${isFree('o')} and (o.due_at, o.subject) < (d.due_at, d.subject)))))
        order by due_at limit slot.free for update skip locked) due
     where job.ctid = due.ctid
    returning service_id as "serviceId", job.name, subject, attempts + 1 as attempt, unfinished_starts as "unfinishedStarts", lease, traceparent`)
}

/** Renews leases. Returns the renewed ones: the others have expired, and another worker may have taken over. */
export async function renewLeases(db: Db, leases: readonly string[], leaseSeconds: number): Promise<Set<string>> {
  const rows = await db.rows<{ lease: string }>(sql`
    update job set leased_until = now() + ${leaseSeconds} * interval '1 s' where lease = any(${leases}::uuid[]) and leased_until > now() returning lease`)
  return new Set(rows.map(({ lease }) => lease))
}

/** Deletes a finished job, or reschedules it. If the job was added again during the run, it is due as requested. */
export async function finishJob(db: Db, { lease }: LeasedJob, nextRunSeconds: number | undefined): Promise<void> {
  if (nextRunSeconds === undefined && (await db.run(sql`delete from job where lease = ${lease} and rerun_at is null`)))
    return
  await db.run(sql`
    update job set lease = null, leased_until = null, attempts = 0, unfinished_starts = 0, traceparent = null, rerun_at = null,
           due_at = least(rerun_at, now() + ${nextRunSeconds ?? null} * interval '1 s')
     where lease = ${lease}`)
}

/** Reschedules a failed job after `seconds`, or earlier if it was added again during the run. `isCounted`: the failure counts as an attempt. */
export const postponeJob = (db: Db, { lease }: LeasedJob, seconds: number, isCounted: boolean) =>
  db.run(sql`
    update job set lease = null, leased_until = null, rerun_at = null, due_at = least(rerun_at, now() + ${seconds} * interval '1 s'),
           attempts = attempts + ${isCounted}::boolean::integer, unfinished_starts = case when ${isCounted} then 0 else unfinished_starts end
     where lease = ${lease}`)

/** Releases a job that was not started. It is due again after `seconds`. */
export const deferJob = (db: Db, { lease }: LeasedJob, seconds: number) =>
  db.run(sql`
    update job set lease = null, leased_until = null, unfinished_starts = unfinished_starts - 1, due_at = now() + ${seconds} * interval '1 s' where lease = ${lease}`)

/** Releases interrupted jobs as if they had never started. The next worker can lease them at once. */
export const releaseJobs = (db: Db, leases: readonly string[]) =>
  db.run(
    sql`update job set lease = null, leased_until = null, unfinished_starts = unfinished_starts - 1 where lease = any(${leases}::uuid[])`,
  )
