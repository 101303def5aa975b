import { type Db, sql } from '../../database/db.ts'

/** A limit of failures per minute. The subject is a keyed hash, so that neither a name nor an address is stored. */
export interface FailureLimit {
  subject: Buffer
  allowed: number
}

/**
 * Counts a failure of each subject, for all processes. Returns the seconds to wait if a subject has too many. A failure after that writes
 * nothing, so that guessing fills no table.
 */
export async function countFailure(db: Db, limits: readonly FailureLimit[]): Promise<number | undefined> {
  const counted = await db.rows<{ subject: Buffer; failures: number; remaining: number }>(sql`
    with this_minute as (
      select subject, allowed, date_trunc('minute', now()) as window_start
        from unnest(${limits.map(({ subject }) => subject)}::bytea[], ${limits.map(({ allowed }) => allowed)}::integer[]) l(subject, allowed)
    ), exceeded as (
      select subject, window_start, failures from failure join this_minute using (subject, window_start) where failures > allowed
    ), added as (
      insert into failure (subject, window_start, failures)
      select subject, window_start, 1 from this_minute where not exists (select from exceeded) order by subject
      on conflict (subject, window_start) do update set failures = failure.failures + 1
      returning subject, window_start, failures
    )
    select subject, failures, ceil(extract(epoch from window_start + interval '1 minute' - now()))::integer as remaining
      from (select * from added union all select * from exceeded) counted`)
  if (counted.some(row => row.failures === 1))
    await db.run(sql`delete from failure where window_start < now() - interval '1 hour'`)
  const tooMany = counted.find(row =>
    limits.some(({ subject, allowed }) => subject.equals(row.subject) && row.failures > allowed),
  )
  return tooMany && Math.max(1, tooMany.remaining)
}
