import pg from 'pg'
import type { Database } from '../db.ts'
import { streamOf } from '../statements.ts'

/**
 * A connection beside the pool, for COPY: without its limits of time, and without requests sent ahead. What is under way on it when
 * `work` has ended is broken off.
 */
export async function connectAlone(db: Database) {
  const client = new pg.Client({ ...db.pool.options, pipeline: false } as pg.ClientConfig)
  client.on('error', () => {})
  await client.connect()
  await client.query('set statement_timeout = 0')
  await client.query('set idle_in_transaction_session_timeout = 0')
  let isIdle = false
  return {
    client,
    /** Nothing is under way: it may say goodbye. */
    becomeIdle() {
      isIdle = true
    },
    async end() {
      if (isIdle) await client.end()
      else streamOf(client).destroy()
    },
  }
}
