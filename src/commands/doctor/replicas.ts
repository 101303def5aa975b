import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { Config } from '../../config/config.ts'
import { type Database, openDatabase, sql } from '../../database/db.ts'
import { getServerName, parseServers } from '../../database/endpoints.ts'
import { assessHealth, describeHealth, probeServer, type ReplicaHealth } from '../../database/replicas/health.ts'
import { currentLsn, parseLsn } from '../../database/replicas/lsn.ts'
import { createLsnHistory, type LsnHistory } from '../../database/replicas/lsn-history.ts'

/** Returns the lag of each replica. Throws if one can't be used. */
export async function checkReplicas(config: Config, primary: Database) {
  if (config.databaseReadUrl === undefined) return 'no replicas (DATABASE_READ_URL is not set)'
  const history = createLsnHistory()
  const row = await primary.row<{ lsn: string }>(sql`select ${currentLsn} as lsn`)
  if (row) history.add(parseLsn(row.lsn))
  const replicas = await Promise.all(
    parseServers(config.databaseReadUrl).map(server => probeReplica(server, config, history)),
  )
  const lines = replicas.map(({ name, health }) => {
    const lag = `${health.lag?.bytes ?? 0} bytes behind the primary`
    return `${name}: ${health.state === 'ready' ? lag : describeHealth(health)}`
  })
  if (replicas.some(({ health }) => health.state !== 'ready')) throw new Error(lines.join('\n'))
  return lines.join('\n')
}

async function probeReplica(server: pg.ClientConfig, { databasePooler }: Config, history: LsnHistory) {
  const pooled = databasePooler === 'transaction'
  const db = openDatabase(server, { max: 1, straight: true, pooled, statementTimeoutMs: 5_000 })
  try {
    const probe = (): Promise<ReplicaHealth> =>
      db.withConnection(probeServer).then(
        result => assessHealth(result, history),
        error => ({ state: 'unreachable', error: error.cause ?? error }),
      )
    let health = await probe()
    // The newest WAL may not have arrived yet.
    for (let attemptsLeft = 40; health.state === 'unknown' && attemptsLeft > 0; attemptsLeft--) {
      await delay(50)
      health = await probe()
    }
    return { name: getServerName(server), health }
  } finally {
    await db.close()
  }
}
