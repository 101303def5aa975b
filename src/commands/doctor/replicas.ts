import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { Config } from '../../config/config.ts'
import { type Database, openDatabase, sql } from '../../database/db.ts'
import { nameOf, serversIn } from '../../database/endpoints.ts'
import { reachedBy, type Standing, standingOf, whyOf } from '../../database/replicas/health.ts'
import { currentPosition, positionIn } from '../../database/replicas/lsn.ts'
import { type Trail, trailOf } from '../../database/replicas/lsn-history.ts'

/** Returns the lag of each replica. Throws if one can't be used. */
export async function replicas(config: Config, primary: Database) {
  if (config.databaseReadUrl === undefined) return 'no replicas (DATABASE_READ_URL is not set)'
  const trail = trailOf()
  const now = await primary.row<{ position: string }>(sql`select ${currentPosition} as position`)
  if (now) trail.add(positionIn(now.position))
  const found = await Promise.all(serversIn(config.databaseReadUrl).map(server => standing(server, config, trail)))
  const lines = found.map(({ name, stands }) => {
    const behind = `${stands.lag?.bytes ?? 0} bytes behind the primary`
    return `${name}: ${stands.state === 'ready' ? behind : whyOf(stands)}`
  })
  if (found.some(({ stands }) => stands.state !== 'ready')) throw new Error(lines.join('\n'))
  return lines.join('\n')
}

async function standing(server: pg.ClientConfig, { databasePooler }: Config, trail: Trail) {
  const pooled = databasePooler === 'transaction'
  const db = openDatabase(server, { max: 1, straight: true, pooled, statementTimeoutMs: 5_000 })
  try {
    const look = (): Promise<Standing> =>
      db.together(reachedBy).then(
        reached => standingOf(reached, trail),
        fault => ({ state: 'away', fault: fault.cause ?? fault }),
      )
    let stands = await look()
    // The newest WAL may not have arrived yet.
    for (let left = 40; stands.state === 'unknown' && left > 0; left--) {
      await delay(50)
      stands = await look()
    }
    return { name: nameOf(server), stands }
  } finally {
    await db.close()
  }
}
