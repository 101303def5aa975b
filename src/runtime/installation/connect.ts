import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { Config } from '../../config/config.ts'
import { type Database, openDatabase } from '../../database/db.ts'
import type { Connection } from '../../database/endpoints.ts'
import { migrate } from '../../database/migrate.ts'
import type { Replica } from '../../database/replicas/replica.ts'
import { openReplicas, type Replicated } from '../../database/replicas/router.ts'
import type { Postgres } from '../../postgres/postgres.ts'
import { requireServer } from './require-server.ts'

/** A database that is up to date. */
export interface OpenedDatabase {
  db: Database
  /** Its connections, by what they are for. */
  pools?: Readonly<Record<string, pg.Pool>>
  /** Standbys that answer reads. */
  replicas?: readonly Replica[]
  /** Migrations that were applied on opening. */
  migrated: string[]
  /** The bundled PostgreSQL, where this process runs it. */
  postgres?: Postgres
  close(): Promise<void>
}

export interface Opening {
  /** Milliseconds a statement may take; 0: as long as it needs. */
  statementTimeoutMs?: number
  onNotice?: (notice: string) => void
  /** Opened for the time being: whoever joins meanwhile may finish before the database is stopped. */
  briefly?: boolean
  /** The bundled one may be made where there is none. */
  mayMake?: boolean
  /** Not migrated: its tables, if any, stay those that it has. */
  asItIs?: boolean
  /** With the replicas that DATABASE_READ_URL names. */
  replicas?: boolean
  /** What says where it is: DATABASE_URL, if not given. */
  named?: string
}

/** Opens a database and, unless it is to be left as it is, brings it up to date. Throws, with a way out, where it cannot be worked with. */
export async function connect(
  config: Config,
  connection: Connection,
  { statementTimeoutMs = 15_000, onNotice = () => {}, asItIs = false, replicas: wanted = false, named }: Opening,
  own?: { postgres: Postgres; stop: () => Promise<void> },
): Promise<OpenedDatabase> {
  const pooled = config.databasePooler === 'transaction'
  await requireServer(connection, pooled, named)
  let closing = false
  const openPool = (genericPlans: boolean) =>
    openDatabase(connection, {
      genericPlans,
      pooled,
      max: config.databasePool,
      statementTimeoutMs,
      onFault: error => closing || onNotice(`A connection to the database broke: ${error.message}`),
    })
  // Reads have connections that no crowd of writes can take from them, and plans for what they filter by.
  const [reads, writes] = [openPool(false), openPool(true)]
  let replicated: Replicated | undefined
  const close = async () => {
    await Promise.all([reads.close(), writes.close(), replicated?.close()])
  }
  try {
    if (wanted && config.databaseReadUrl !== undefined)
      replicated = openReplicas(reads, config.databaseReadUrl, { max: config.databasePool, pooled, onNotice })
    const replicas = replicated?.replicas ?? []
    const db = { ...reads, ...replicated?.db, transaction: writes.transaction, close }
    return {
      db,
      pools: {
        reads: reads.pool,
        writes: writes.pool,
        ...Object.fromEntries(replicas.map(({ name, pool }) => [`replica ${name}`, pool])),
      },
      replicas,
      migrated: asItIs ? [] : await migrateAlone(connection, pooled),
      ...(own && { postgres: own.postgres }),
      async close() {
        closing = true
        // A statement that nobody waits for any longer may go on for all of its time.
        await Promise.race([db.close(), delay(1_000, undefined, { ref: false })])
        await own?.stop()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Migrations take as long as they need, whatever the limit for requests is. */
async function migrateAlone(connection: Connection, pooled: boolean) {
  const db = openDatabase(connection, { max: 1, statementTimeoutMs: 0, pooled })
  try {
    return await migrate(db)
  } finally {
    await db.close()
  }
}
