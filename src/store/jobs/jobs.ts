import { type Db, raw, sql } from '../../database/db.ts'
import { currentTraceparent } from '../../telemetry/current-context.ts'

/** A job that a worker holds. */
export interface LeasedJob {
  /** Null: one of the installation. */
  serviceId: number | null
  name: string
  subject: string
  /** Which attempt this is, from 1: those count that came to nothing by a fault of its own. */
  attempt: number
  /** How often it was begun since the last of those, this time among them. */
  begun: number
  lease: string
  /** Of what it was asked for in (W3C Trace Context). */
  traceparent: string | null
}

/** How often a worker renews its leases: a job that was taken from it is broken off by then. Milliseconds. */
export const renewalMs = 5_000

interface Wanted {
  /** What it is about, where there are several of a name. */
  subject?: string
  /** RFC 3339; at once where it says nothing. */
  dueAt?: string | null
}

/**
 * Asks for a job, in the transaction of what it follows from: both are committed, or neither. One that is there stays, but is due no later;
 * one that is being done comes once more behind that.
 */
export async function addJob(
  tx: Db,
  serviceId: number | null,
  name: string,
  { subject = '', dueAt = null }: Wanted = {},
): Promise<void> {
  await tx.run(sql`
    insert into job as j (service_id, name, subject, due_at, traceparent)
    values (${serviceId}, ${name}, ${subject}, coalesce(${dueAt}::timestamptz, now()), ${currentTraceparent() ?? null})
    on conflict (service_id, name, subject) do update
       set due_at = least(j.due_at, excluded.due_at),
           rerun_at = case when j.lease is not null then least(j.rerun_at, excluded.due_at) end,
           traceparent = coalesce(j.traceparent, excluded.traceparent)`)
}

/** A job of set times, and the seconds that it waits at most, whatever it asks for itself. */
interface Scheduled {
  name: string
  mostSeconds: number
}

/** The jobs of set times that are missing, of the installation. They are due at once. */
export const addScheduled = (db: Db, names: readonly string[]) =>
  db.run(
    sql`insert into job (service_id, name) select null, name from unnest(${names}::text[]) name on conflict do nothing`,
  )

/** Has those that are due later than they ever are, because the clock of the database was set back, be due in time. */
export const hastenScheduled = (db: Db, scheduled: readonly Scheduled[]) =>
  db.run(sql`
    update job set due_at = now() + "mostSeconds" * interval '1 s'
      from json_to_recordset(${JSON.stringify(scheduled)}) as s (name text, "mostSeconds" float8)
     where service_id is null and job.name = s.name and due_at > now() + "mostSeconds" * interval '1 s'`)

/** So often a job is taken over at once from a worker that has died; then each time a minute later: it may be what they die of. */
const deathsAtOnce = 10

/** Whether nobody has a job, nor is to leave it alone for a while because workers die of it. */
const isFree = (job: string) => {
  const { until, begun } = { until: raw(`${job}.leased_until`), begun: raw(`${job}.unfinished_starts`) }
  return sql`(${until} is null or ${until} <= now() - least(greatest(${begun} - ${deathsAtOnce}, 0), 60) * interval '1 min')`
}

/** Seconds that a job of the installation may be due before nobody is at it: each worker looks every second. */
const idleSeconds = 60

/** For how long the job has been due that nobody has taken for longest, in seconds; and whether no worker is at work at all. */
export async function dueJobs(db: Db): Promise<{ oldestSeconds: number; isIdle: boolean }> {
  const row = await db.row<{ oldestSeconds: number; isIdle: boolean }>(sql`
    select coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as "oldestSeconds",
           coalesce(bool_or(service_id is null and due_at < now() - ${idleSeconds} * interval '1 s'), false) as "isIdle"
      from job j where due_at <= now() and ${isFree('j')}`)
  return row ?? { oldestSeconds: 0, isIdle: false }
}

/** How many jobs of a name may be taken, and how many of one service may run. */
export interface Slots {
  free: number
  ofService?: number | undefined
}

/**
 * Takes what is due, of each name at most as many as there are slots. Nobody else can take it until the lease ends: that of a
 * worker that has died is not renewed. A service's jobs that run, or are due before it, come before one; two workers that look at
 * the very same time may exceed what a service may have.
 */
export const leaseDueJobs = (
  db: Db,
  slots: Readonly<Record<string, Slots>>,
  leaseSeconds: number,
): Promise<LeasedJob[]> => {
  const each = Object.values(slots)
  return db.rows<LeasedJob>(sql`
    update job set lease = gen_random_uuid(), leased_until = now() + ${leaseSeconds} * interval '1 s', unfinished_starts = unfinished_starts + 1, rerun_at = null
      from unnest(${Object.keys(slots)}::text[], ${each.map(({ free }) => free)}::integer[], ${each.map(({ ofService }) => ofService ?? null)}::integer[])
             of_name (name, free, of_service)
     cross join lateral (
       select ctid from job d
        where d.name = of_name.name and due_at <= now() and ${isFree('d')}
          and (of_name.of_service is null or of_name.of_service > (
                select count(*) from job o
                 where o.service_id = d.service_id and o.name = d.name
                   and (o.leased_until > now()
                        or (o.due_at <= now() and ${isFree('o')} and (o.due_at, o.subject) < (d.due_at, d.subject)))))
        order by due_at limit of_name.free for update skip locked) due
     where job.ctid = due.ctid
    returning service_id as "serviceId", job.name, subject, attempts + 1 as attempt, unfinished_starts as begun, lease, traceparent`)
}

/** Holds jobs for longer. Returns the leases that still are the worker's: the others have ended, and somebody else may be at it. */
export async function renewLeases(db: Db, leases: readonly string[], leaseSeconds: number): Promise<Set<string>> {
  const rows = await db.rows<{ lease: string }>(sql`
    update job set leased_until = now() + ${leaseSeconds} * interval '1 s' where lease = any(${leases}::uuid[]) and leased_until > now() returning lease`)
  return new Set(rows.map(({ lease }) => lease))
}

/** It is done: it goes, or comes again in so many seconds; sooner where it was asked for meanwhile. */
export async function finishJob(db: Db, { lease }: LeasedJob, againInSeconds: number | undefined): Promise<void> {
  if (againInSeconds === undefined && (await db.run(sql`delete from job where lease = ${lease} and rerun_at is null`)))
    return
  await db.run(sql`
    update job set lease = null, leased_until = null, attempts = 0, unfinished_starts = 0, traceparent = null, rerun_at = null,
           due_at = least(rerun_at, now() + ${againInSeconds ?? null} * interval '1 s')
     where lease = ${lease}`)
}

/** It came to nothing, and is tried again in so many seconds; sooner where it was asked for meanwhile. `isItsOwn`: by a fault of its own. */
export const postponeJob = (db: Db, { lease }: LeasedJob, seconds: number, isItsOwn: boolean) =>
  db.run(sql`
    update job set lease = null, leased_until = null, rerun_at = null, due_at = least(rerun_at, now() + ${seconds} * interval '1 s'),
           attempts = attempts + ${isItsOwn}::boolean::integer, unfinished_starts = case when ${isItsOwn} then 0 else unfinished_starts end
     where lease = ${lease}`)

/** It was not begun, and is looked at again in so many seconds. */
export const deferJob = (db: Db, { lease }: LeasedJob, seconds: number) =>
  db.run(sql`
    update job set lease = null, leased_until = null, unfinished_starts = unfinished_starts - 1, due_at = now() + ${seconds} * interval '1 s' where lease = ${lease}`)

/** It was broken off, as if it had never begun: the next worker may take it at once. */
export const giveBack = (db: Db, leases: readonly string[]) =>
  db.run(
    sql`update job set lease = null, leased_until = null, unfinished_starts = unfinished_starts - 1 where lease = any(${leases}::uuid[])`,
  )
