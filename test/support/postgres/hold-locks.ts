import { type Database, type Db, sql } from '../../../src/database/db.ts'
import { waitUntil } from '../processes.ts'

/** Runs statements in a transaction and holds their locks. Returns a function that releases the locks. */
export async function holdLocks({ pool }: Pick<Database, 'pool'>, ...statements: string[]): Promise<() => void> {
  const client = await pool.connect()
  const release = () => client.release(true)
  try {
    for (const statement of ['begin', 'set local idle_in_transaction_session_timeout = 0', ...statements])
      await client.query(statement)
  } catch (error) {
    release()
    throw error
  }
  return release
}

/** Waits until a lock blocks at least `count` connections to the database. Fails after 30 s. */
export const waitForBlockedConnections = ({ db }: { db: Db }, count = 1) =>
  waitUntil(async () => (await db.run(blockedConnections)) >= count, `at least ${count} blocked connections`, 30_000)

const blockedConnections = sql`
  select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
