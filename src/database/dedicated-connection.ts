import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import { type Database, sql } from './db.ts'
import { streamOf } from './pg/statements.ts'
import { asStatement, unhurried } from './session-settings.ts'

/** Milliseconds after which what is answered at once is answered no more. */
const promptMs = 10_000
/** Milliseconds that a goodbye may take. */
const goodbyeMs = 2_000

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
  const breakOff = () => void streamOf(client).destroy()
  async function promptly<T>(asked: Promise<T>): Promise<T> {
    const late = setTimeout(breakOff, promptMs)
    return asked.finally(() => clearTimeout(late))
  }
  try {
    await promptly(client.connect())
    await promptly(client.query(begin))
    await promptly(client.query(asStatement(unhurried)))
  } catch (error) {
    breakOff()
    throw error
  }
  let isIdle = false
  return {
    client,
    /** Waits for what is answered at once: where it is not, the connection is broken off, and it fails. */
    promptly,
    /** What is under way fails. */
    breakOff,
    /** Nothing is under way: it may say goodbye. */
    becomeIdle() {
      isIdle = true
    },
    async end() {
      // A machine that has vanished never answers a goodbye.
      if (isIdle)
        await Promise.race([
          ignoreError(client.end(), 'connection was already closed'),
          delay(goodbyeMs, undefined, { ref: false }),
        ])
      breakOff()
    },
  }
}
