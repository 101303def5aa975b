import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Database, type Db, sql } from '../../../src/database/db.ts'

/** Returns a database whose transactions wait for `beforeCommit` after their work. They are rolled back if it rejects. */
export const withCommitStep = (db: Database, beforeCommit: (tx: Db) => Promise<unknown>): Database => ({
  ...db,
  transaction: <T>(work: (tx: Db) => Promise<T>) =>
    db.transaction(async tx => {
      const result = await work(tx)
      await beforeCommit(tx)
      return result
    }),
})

/**
 * Returns a database whose transactions wait up to `maxDelayMs` before they commit. `killedShare` of them lose their
 * connection instead, as after `kill -9`.
 */
export const withSlowCommits = (db: Database, maxDelayMs: number, killedShare = 0): Database =>
  withCommitStep(db, async tx => {
    await delay(Math.random() ** 3 * maxDelayMs)
    if (Math.random() < killedShare) await tx.run(sql`select pg_terminate_backend(pg_backend_pid())`)
  })

/**
 * Starts `write`, and waits until its transaction has done its work. Returns the function that commits it. The
 * transaction is committed at the latest after the test, even if the test fails.
 */
export async function openTransaction(t: TestContext, db: Database, write: (db: Database) => Promise<unknown>) {
  const worked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const completion = write(
    withCommitStep(db, () => {
      worked.resolve()
      return released.promise
    }),
  )
  await Promise.race([worked.promise, completion])
  const commit = async () => {
    released.resolve()
    await completion
  }
  t.after(commit)
  return commit
}
