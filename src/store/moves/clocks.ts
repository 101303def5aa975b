import { type Db, sql } from '../../database/db.ts'

/** Returns the time of a database's clock as the text of a `timestamptz`. */
export const readClock = async (db: Db) =>
  (await db.row<{ at: string }>(sql`select clock_timestamp()::text as at`))?.at ?? 'infinity'

/** True if the database's clock has passed a time. */
export const hasPassed = async (db: Db, at: string) =>
  Boolean(await db.row(sql`select true as "is" where clock_timestamp() > ${at}::timestamptz`))
