import type pg from 'pg'
import { getSocket } from './internals.ts'
import { type detectStalls, suspectAfterMs } from './watchdog.ts'

/** Removes the row values from an error of PostgreSQL: they can be personal data, and errors are logged. */
function withoutValues(error: Error & { detail?: unknown; where?: unknown }) {
  delete error.detail
  delete error.where
  return error
}

/**
 * Returns a function that runs statements under a time limit of `limitMs` milliseconds (0: no limit). Destroys the connection of a statement that
 * exceeds the limit, and all connections once the database hangs, so that the statements fail as an outage. Reason for not using the limit
 * of `pg`: contributing/decisions/0010-statement-watchdog.md.
 */
export function watchStatements(limitMs: number, stallDetector: ReturnType<typeof detectStalls>) {
  const inFlight = new Set<{ client: pg.ClientBase; startedAt: number }>()
  const check = () => {
    const now = performance.now()
    stallDetector.check([...inFlight].some(({ startedAt }) => startedAt < now - suspectAfterMs))
    for (const { client, startedAt } of inFlight)
      if (stallDetector.isStalled() || startedAt < now - limitMs) getSocket(client).destroy()
  }
  const timer = limitMs ? setInterval(check, Math.min(limitMs, 1_000)).unref() : undefined
  return {
    run: (client: pg.ClientBase, config: pg.QueryConfig) =>
      new Promise<pg.QueryResult>((resolve, reject) => {
        const statement = { client, startedAt: performance.now() }
        inFlight.add(statement)
        client.query(config, (error, result) => {
          inFlight.delete(statement)
          if (error) reject(withoutValues(error))
          else resolve(result)
        })
      }),
    end() {
      clearInterval(timer)
      stallDetector.end()
    },
  }
}
