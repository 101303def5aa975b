import type pg from 'pg'
import { streamOf } from '../../connections/statements.ts'
import { type Database, sql } from '../../db.ts'
import { asStatement, unhurried } from '../../session-settings.ts'

/**
 * A connection beside the pool with a transaction that has begun, for COPY and for locks that are held for long: without its limits of time,
 * and without requests sent ahead. What is under way on it at the end is broken off.
 */
export async function connectAlone(db: Database, begin = 'begin') {
  // Whoever asks the pool finds the primary: this connection is made to the same server.
  await db.rows(sql`select`)
  const Client = db.pool.options.Client as unknown as typeof pg.Client
  const client = new Client({ ...db.pool.options, pipeline: false } as pg.ClientConfig)
  // Without a listener, a connection that breaks while it is idle would end the process.
  client.on('error', () => {})
  await client.connect()
  await client.query(begin)
  await client.query(asStatement(unhurried))
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
