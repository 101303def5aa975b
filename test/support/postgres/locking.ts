import type { Database } from '../../../src/database/db.ts'

/** Holds what these statements lock, for however long it takes, until the function that is returned is called. */
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
