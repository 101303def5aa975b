import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { type Database, type Db, sql } from '../../../src/database/db.ts'

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
export async function waitForBlockedConnections({ db }: { db: Db }, count = 1): Promise<void> {
  const deadline = performance.now() + 30_000
  for (;;) {
    const blockedCount = await db.run(
      sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    if (blockedCount >= count) return
    assert.ok(performance.now() < deadline, `locks block ${blockedCount} connections instead of ${count}`)
    await delay(20)
  }
}
