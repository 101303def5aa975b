import { type Database, type Db, sql } from './db.ts'

/** Runs `work` in one transaction that is rolled back at the end, and returns its result. Transactions in `work` become savepoints. */
export async function rehearse<T>(db: Database, work: (db: Database) => Promise<T>): Promise<T> {
  const rolledBack = new Error('rehearsal: rolled back')
  const results: T[] = []
  try {
    await db.transaction(async tx => {
      results.push(await work(withSavepoints(tx, db)))
      throw rolledBack
    })
  } catch (error) {
    if (error !== rolledBack) throw error
  }
  return results[0] as T
}

const withSavepoints = (tx: Db, db: Database): Database => ({
  ...tx,
  pool: db.pool,
  close: db.close,
  withConnection: async work => work(tx, undefined),
  async transaction(work) {
    await tx.run(sql`savepoint rehearsed`)
    try {
      const result = await work(tx)
      // Fails if a statement that `work` did not await has failed, as a commit does.
      await tx.run(sql`release savepoint rehearsed`)
      return result
    } catch (error) {
      await tx.run(sql`rollback to savepoint rehearsed`)
      await tx.run(sql`release savepoint rehearsed`)
      throw error
    }
  },
})
