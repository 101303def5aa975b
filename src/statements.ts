import type { Duplex } from 'node:stream'
import type pg from 'pg'

/** The socket of a connection. */
export const streamOf = (client: pg.ClientBase) =>
  (client as unknown as { connection: { stream: Duplex } }).connection.stream

/** Sends what is asked of a connection in one turn of the event loop with one write: each would wake PostgreSQL up on its own. */
function inOneFlush(client: pg.ClientBase) {
  const stream = streamOf(client)
  stream.cork()
  process.nextTick(() => stream.uncork())
}

/** A fault without the row that it was about: what it says there is personal, and errors reach logs. */
function withoutValues(error: Error & { detail?: unknown; where?: unknown }) {
  delete error.detail
  delete error.where
  return error
}

/**
 * Ends the connections of statements that take longer than `limitMs` (0: none), so that they fail as an outage. `pg` knows such a
 * limit too, but what it sets up for each statement keeps the statement's rows until the next whole collection of garbage: with
 * pages of 68 KB the service then stood still for 5 ms some ten times a second.
 */
export function watchStatements(limitMs: number) {
  const asked = new Set<{ client: pg.ClientBase; since: number }>()
  const look = () => {
    const latest = performance.now() - limitMs
    // What is under way fails at once.
    for (const { client, since } of asked) if (since < latest) streamOf(client).destroy()
  }
  const timer = limitMs ? setInterval(look, Math.min(limitMs, 1_000)).unref() : undefined
  return {
    ask: (client: pg.ClientBase, config: pg.QueryConfig) =>
      new Promise<pg.QueryResult>((resolve, reject) => {
        const one = { client, since: performance.now() }
        asked.add(one)
        inOneFlush(client)
        client.query(config, (error, result) => {
          asked.delete(one)
          if (error) reject(withoutValues(error))
          else resolve(result)
        })
      }),
    end: () => clearInterval(timer),
  }
}
