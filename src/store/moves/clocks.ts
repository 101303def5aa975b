import { type Db, sql } from '../../database/db.ts'

/** What the clock of a database shows, as a text of a `timestamptz`. */
export const clockOf = async (db: Db) =>
  (await db.row<{ at: string }>(sql`select clock_timestamp()::text as at`))?.at ?? 'infinity'

/** Whether it has passed a moment. */
export const hasPassed = async (db: Db, at: string) =>
  Boolean(await db.row(sql`select true as "is" where clock_timestamp() > ${at}::timestamptz`))
