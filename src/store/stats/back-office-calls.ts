import { type Db, sql } from '../../database/db.ts'

/** Back-office calls of one minute that are not stored yet. */
export interface CallMinute {
  serviceId: number
  /** RFC 3339. */
  minute: string
  calls: number
  failed: number
  milliseconds: number
  slowest: number
}

/** Adds the counts of this process. Rows are locked in one order, so that processes can't deadlock. Skips services that are being deleted. */
export const addCallMinutes = (db: Db, minutes: readonly CallMinute[]) =>
  db.run(sql`
    insert into call_minute as m (service_id, minute, calls, failed, milliseconds, slowest)
    select s.service_id, c.minute, c.calls, c.failed, c.milliseconds, c.slowest
      from json_to_recordset(${JSON.stringify(minutes)}) as c
        ("serviceId" integer, minute timestamptz, calls integer, failed integer, milliseconds real, slowest real)
      join service s on s.service_id = c."serviceId" and s.deletion_state is null
     order by 1, 2
       for key share of s
    on conflict (service_id, minute) do update
      set (calls, failed, milliseconds, slowest)
        = (m.calls + excluded.calls, m.failed + excluded.failed, m.milliseconds + excluded.milliseconds, greatest(m.slowest, excluded.slowest))`)

/** Deletes minutes that no chart shows anymore. */
export const purgeCallMinutes = (db: Db) =>
  db.run(sql`delete from call_minute where minute < now() - interval '2 days'`)
