import type { Duplex } from 'node:stream'
import type pg from 'pg'
import { suspectMs, type watchStandstill } from './watchdog.ts'

/** The socket of a connection. */
export const streamOf = (client: pg.ClientBase) =>
  (client as unknown as { connection: { stream: Duplex } }).connection.stream

/** The server's process that greeted a connection. */
export const processOf = (client: pg.ClientBase) => (client as unknown as { processID: number }).processID

/** A fault without the row that it was about: what it says there is personal, and errors reach logs. */
function withoutValues(error: Error & { detail?: unknown; where?: unknown }) {
  delete error.detail
  delete error.where
  return error
}

/**
 * Ends the connections of statements that take longer than `limitMs` (0: none), and of all of them once the database stands still, so
 * that they fail as an outage. `pg` knows such a limit too, but what it sets up for each statement keeps the statement's rows until the next whole collection of garbage: with
 * pages of 68 KB the service then stood still for 5 ms some ten times a second.
 */
export function watchStatements(limitMs: number, standstill: ReturnType<typeof watchStandstill>) {
  const asked = new Set<{ client: pg.ClientBase; since: number }>()
  const look = () => {
    const now = performance.now()
    standstill.look([...asked].some(({ since }) => since < now - suspectMs))
    // What is under way fails at once.
    for (const { client, since } of asked) if (standstill.isStill() || since < now - limitMs) streamOf(client).destroy()
  }
  const timer = limitMs ? setInterval(look, Math.min(limitMs, 1_000)).unref() : undefined
  return {
    ask: (client: pg.ClientBase, config: pg.QueryConfig) =>
      new Promise<pg.QueryResult>((resolve, reject) => {
        const one = { client, since: performance.now() }
        asked.add(one)
        client.query(config, (error, result) => {
          asked.delete(one)
          if (error) reject(withoutValues(error))
          else resolve(result)
        })
      }),
    end() {
      clearInterval(timer)
      standstill.end()
    },
  }
}
