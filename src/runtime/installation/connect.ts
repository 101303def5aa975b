import type pg from 'pg'
import { finishesWithin } from '../../concurrency/backoff.ts'
import type { Config } from '../../config/config.ts'
import { type Database, openDatabase } from '../../database/db.ts'
import type { Connection } from '../../database/endpoints.ts'
import { migrate } from '../../database/migrate.ts'
import type { Replica } from '../../database/replicas/replica.ts'
import { openReplicas, type Replicated } from '../../database/replicas/router.ts'
import type { Postgres } from '../../postgres/postgres.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import { requireServer } from './require-server.ts'

/** An open database with the current schema. */
export interface OpenedDatabase {
  db: Database
  /** The connection pools by purpose. */
  pools?: Readonly<Record<string, pg.Pool>>
  /** Standbys that serve reads. */
  replicas?: readonly Replica[]
  /** Migrations that were applied on opening. */
  migrated: string[]
  /** The bundled PostgreSQL, if this process runs it. */
  postgres?: Postgres
  close(): Promise<void>
}

export interface ConnectOptions {
  /** Milliseconds a statement can take; 0: no limit. Default 15,000. */
  statementTimeoutMs?: number
  onNotice?: (notice: string) => void
  /** True for a temporary owner: before it stops the database, it waits for the processes that have joined. */
  isTemporary?: boolean
  /** True to create the bundled database if it does not exist. */
  canCreate?: boolean
  /** True to skip the migrations. */
  skipMigrations?: boolean
  /** True to open the replicas of DATABASE_READ_URL too. */
  replicas?: boolean
  /** The setting that names the database, for messages. Default DATABASE_URL. */
  settingName?: string
}

/** Opens a database and applies pending migrations, unless `skipMigrations`. Throws, with a remedy, if it can't be used. */
export async function connect(
  config: Config,
  connection: Connection,
  {
    statementTimeoutMs = 15_000,
    onNotice = () => {},
    skipMigrations = false,
    replicas: useReplicas = false,
    settingName: named,
  }: ConnectOptions,
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
  // Separate pools: many writes can't take the connections of reads, and only reads are planned for their filter values.
  const [reads, writes] = [openPool(false), openPool(true)]
  let replicated: Replicated | undefined
  const close = async () => {
    await Promise.all([reads.close(), writes.close(), replicated?.close()])
  }
  try {
    if (useReplicas && config.databaseReadUrl !== undefined)
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
      migrated: skipMigrations ? [] : await applyMigrations(connection, pooled),
      ...(own && { postgres: own.postgres }),
      async close() {
        closing = true
        // An abandoned statement can run up to its time limit.
        await finishesWithin(ignoreError(db.close(), 'connections could not be closed'), 1_000)
        await own?.stop()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Applies migrations without the time limit of requests. */
async function applyMigrations(connection: Connection, pooled: boolean) {
  const db = openDatabase(connection, { max: 1, statementTimeoutMs: 0, pooled })
  try {
    return await migrate(db)
  } finally {
    await db.close()
  }
}
