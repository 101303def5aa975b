import type pg from 'pg'
import { finishesWithin } from '../concurrency/backoff.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import { type Database, sql } from './db.ts'
import { getClientClass, getSocket } from './pg/internals.ts'
import { toSetStatement, withoutTimeouts } from './session-settings.ts'

const responseTimeoutMs = 10_000
const closeTimeoutMs = 2_000

/**
 * Opens a connection outside the pool and begins a transaction on it, for COPY and for locks that are held for a long time. It has no time
 * limits and no pipelining. `begin`: the statement that begins the transaction.
 */
export async function openDedicatedConnection(db: Database, begin = 'begin') {
  // Makes the pool find the primary, so that this connection goes to the same server.
  await db.rows(sql`select`)
  const Client = getClientClass(db.pool)
  const client = new Client({ ...db.pool.options, pipeline: false } as pg.ClientConfig)
  const destroy = () => void getSocket(client).destroy()
  async function withTimeout<T>(result: Promise<T>): Promise<T> {
    const timer = setTimeout(destroy, responseTimeoutMs)
    return result.finally(() => clearTimeout(timer))
  }
  try {
    await withTimeout(client.connect())
    await withTimeout(client.query(begin))
    await withTimeout(client.query(toSetStatement(withoutTimeouts)))
  } catch (error) {
    destroy()
    throw error
  }
  let isReusable = false
  return {
    client,
    /** Waits for a result that must arrive within 10 s. Otherwise destroys the connection, so that the statement fails. */
    withTimeout,
    /** Closes the connection at once. Statements in flight fail. */
    destroy,
    /** Declares that no statement is in flight, so that `end` can close the connection cleanly. */
    markReusable() {
      isReusable = true
    },
    async end() {
      // A machine that has vanished never confirms the close.
      if (isReusable) await finishesWithin(ignoreError(client.end(), 'connection was already closed'), closeTimeoutMs)
      destroy()
    },
  }
}
