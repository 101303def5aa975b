import { type Db, sql } from '../../database/db.ts'

/** What is counted: a keyed hash, so that neither a name nor an address is kept, and how many failures a minute it may have. */
export interface FailureLimit {
  subject: Buffer
  allowed: number
}

/** Counts a failure against each subject, for all processes; the seconds to wait when one of them has too many. */
export async function countFailure(db: Db, limits: readonly FailureLimit[]): Promise<number | undefined> {
  const counted = await db.rows<{ subject: Buffer; failures: number; left: number }>(sql`
    insert into failure (subject, window_start, failures)
    select subject, date_trunc('minute', now()), 1 from unnest(${limits.map(limit => limit.subject)}::bytea[]) subject order by subject
    on conflict (subject, window_start) do update set failures = failure.failures + 1
    returning subject, failures, ceil(extract(epoch from window_start + interval '1 minute' - now()))::integer as left`)
  if (counted.some(row => row.failures === 1))
    await db.run(sql`delete from failure where window_start < now() - interval '1 hour'`)
  const tooMany = counted.find(row =>
    limits.some(({ subject, allowed }) => subject.equals(row.subject) && row.failures > allowed),
  )
  return tooMany && Math.max(1, tooMany.left)
}
