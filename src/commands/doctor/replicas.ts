import type { Config } from '../../config/config.ts'
import { type Database, sql } from '../../database/db.ts'
import { parseServers } from '../../database/endpoints.ts'
import { describeHealth } from '../../database/replicas/health.ts'
import { currentLsn, parseLsn } from '../../database/replicas/lsn.ts'
import { createLsnHistory } from '../../database/replicas/lsn-history.ts'
import { checkReplica } from '../../database/replicas/replica.ts'

/** Returns the lag of each replica. Throws if one can't be used. */
export async function checkReplicas(config: Config, primary: Database) {
  if (config.databaseReadUrl === undefined) return 'no replicas (DATABASE_READ_URL is not set)'
  const pooled = config.databasePooler === 'transaction'
  const history = createLsnHistory()
  const row = await primary.row<{ lsn: string }>(sql`select ${currentLsn} as lsn`)
  if (row) history.add(parseLsn(row.lsn))
  const replicas = await Promise.all(
    parseServers(config.databaseReadUrl).map(server => checkReplica(server, { pooled, history })),
  )
  const lines = replicas.map(({ name, health }) => {
    const lag = `${health.lag?.bytes ?? 0} bytes behind the primary`
    return `${name}: ${health.state === 'ready' ? lag : describeHealth(health)}`
  })
  if (replicas.some(({ health }) => health.state !== 'ready')) throw new Error(lines.join('\n'))
  return lines.join('\n')
}
