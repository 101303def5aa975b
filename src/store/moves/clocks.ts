import { type Db, sql } from '../../database/db.ts'

/**
 * True if a database's clock of lists has passed a time. If the clock is far behind, because the clock of another database was set back, it
 * continues from that time (contributing/decisions/0036).
 */
export async function reachListTime(db: Db, at: string) {
  await db.run(sql`
    select correct_clock(${at}::timestamptz) where ${at}::timestamptz > list_clock(clock_timestamp()) + interval '2 seconds'`)
  return Boolean(await db.row(sql`select true as "is" where list_clock(clock_timestamp()) > ${at}::timestamptz`))
}

/** True if the database's clock has passed a time. */
export const hasPassed = async (db: Db, at: string) =>
  Boolean(await db.row(sql`select true as "is" where clock_timestamp() > ${at}::timestamptz`))
