import type { Database } from '../../../src/database/db.ts'

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
