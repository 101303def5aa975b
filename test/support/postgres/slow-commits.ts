import { setTimeout as delay } from 'node:timers/promises'
import { type Database, type Db, sql } from '../../../src/database/db.ts'

/**
 * Returns a database whose transactions wait up to `maxDelayMs` before they commit. `killedShare` of them lose their
 * connection instead, as after `kill -9`.
 */
export const withSlowCommits = (db: Database, maxDelayMs: number, killedShare = 0): Database => ({
  ...db,
  transaction: <T>(work: (tx: Db) => Promise<T>) =>
    db.transaction(async tx => {
      const result = await work(tx)
      await delay(Math.random() ** 3 * maxDelayMs)
      if (Math.random() < killedShare) await tx.run(sql`select pg_terminate_backend(pg_backend_pid())`)
      return result
    }),
})
