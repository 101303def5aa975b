import { type Db, sql } from '../../database/db.ts'
import { raiseAlert, resolveAlert } from './alerts.ts'

/** The clock of PostgreSQL was ahead and was set back (contributing/decisions/0036). */
interface ClockCorrection {
  /** Seconds by which change timestamps are ahead of the clock. */
  aheadSeconds: number
  /** When the clock has caught up: `YYYY-MM-DD HH:MM:SS` in UTC. */
  until: string
}

/** Returns the correction in force, or undefined if change timestamps follow the clock. */
export const readClockCorrection = (db: Db) =>
  db.row<ClockCorrection>(sql`
    select ceil(extract(epoch from list_clock(now()) - now()))::integer as "aheadSeconds",
           to_char((resumes_from + (resumes_from - corrected_at)) at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as until
      from database_clock where now() < resumes_from + (resumes_from - corrected_at)`)

export const describeCorrection = ({ aheadSeconds, until }: ClockCorrection) =>
  `The clock of PostgreSQL was ahead and was set back. Change timestamps are ${aheadSeconds} s ahead of it, until ${until} UTC. No change is hidden.`

const kind = 'database_clock_set_back'

/** Records a heartbeat of the clock. Raises an alert for each service while a correction is in force, and resolves it afterwards. */
export async function tickClock(db: Db, elapsedMs: number): Promise<void> {
  const tick = await db.row<{ isCorrected: boolean }>(
    sql`select corrected_at is not null as "isCorrected" from tick_clock(${elapsedMs} * interval '1 ms')`,
  )
  const services = await db.rows<{ id: number; hasAlert: boolean }>(sql`
    select service_id as id, exists (select from alert a where a.service_id = s.service_id and a.kind = ${kind}) as "hasAlert"
      from service s where deletion_state is null order by 1`)
  const correction = tick?.isCorrected ? await readClockCorrection(db) : undefined
  for (const { id, hasAlert } of services) {
    if (correction && !hasAlert) await raiseAlert(db, id, { kind, subject: '', detail: describeCorrection(correction) })
    if (!correction && hasAlert) await resolveAlert(db, id, { kind, subject: '' })
  }
}
