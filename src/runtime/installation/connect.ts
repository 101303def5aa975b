import type pg from 'pg'
import { finishesWithin } from '../../concurrency/backoff.ts'
import type { Config } from '../../config/config.ts'
import { type Database, openDatabase } from '../../database/db.ts'
import { type Connection, connectToPrimary, rememberTimelines, tryServers } from '../../database/endpoints.ts'
import { migrate } from '../../database/migrate.ts'
import { getServerPid } from '../../database/pg/internals.ts'
import type { Replica } from '../../database/replicas/replica.ts'
import { openReplicas, type Replicated } from '../../database/replicas/router.ts'
import type { Postgres } from '../../postgres/postgres.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'

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
    settingName,
  }: ConnectOptions,
  bundled?: { postgres: Postgres; stop: () => Promise<void> },
): Promise<OpenedDatabase> {
  const pooled = config.databasePooler === 'transaction'
  await requireServer(connection, pooled, settingName)
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
      ...(bundled && { postgres: bundled.postgres }),
      async close() {
        closing = true
        // An abandoned statement can run up to its time limit.
        await finishesWithin(ignoreError(db.close(), 'connections could not be closed'), 1_000)
        await bundled?.stop()
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

const minVersion = 150_000

/** A limit in milliseconds, set on the first session, that no server has by default. */
const probeTimeoutMs = 59_999

interface ServerFacts {
  number: number
  version: string
  limit: number
  pid: number
  foldsCase: boolean
}

const selectServerFacts = `
  select current_setting('server_version_num')::integer as number, current_setting('server_version') as version,
         (select setting::integer from pg_settings where name = 'idle_in_transaction_session_timeout') as limit, pg_backend_pid() as pid,
         lower('É') = 'é' and lower('I') = 'i' as "foldsCase"`

/**
 * Checks a server before its first use. Throws, with a remedy, in these cases: it is unreachable or too old. LC_CTYPE is C or Turkish, which breaks
 * the comparison of email addresses regardless of case. A pooler loses the session state, unless `pooled`. `settingName`: the setting that names
 * the server.
 */
async function requireServer(connection: Connection, pooled: boolean, settingName = 'DATABASE_URL') {
  await rememberTimelines(connection)
  const { Client, tries } = connectToPrimary(connection)
  let client: pg.Client | undefined
  const openClient = async () => {
    client = new Client({
      connectionTimeoutMillis: 5_000,
      ...(!pooled && { options: `-c idle_in_transaction_session_timeout=${probeTimeoutMs}` }),
    })
    await client.connect()
    return client
  }
  try {
    const connected = await tryServers(tries, openClient)
    // A pooler that lends connections per statement rejects `begin`.
    if (pooled) await connected.query('begin')
    const { rows } = await connected.query<ServerFacts>(selectServerFacts)
    const { number, version, limit, pid, foldsCase } = rows[0] ?? {
      number: 0,
      version: '',
      limit: 0,
      pid: 0,
      foldsCase: false,
    }
    if (number < minVersion)
      throw new UnusableServer(`PostgreSQL ${version} is too old. Tillbridge requires 15 or later.`)
    if (!foldsCase) throw new UnusableServer(describeLocale(settingName))
    if (!pooled && (limit !== probeTimeoutMs || pid !== getServerPid(connected)))
      throw new UnusableServer(describePooler(settingName))
  } catch (error) {
    if (error instanceof UnusableServer) throw error
    const { code, message } = error as NodeJS.ErrnoException
    if (/unsupported startup parameter/.test(message)) throw new UnusableServer(describePooler(settingName))
    throw new Error(`The database is unreachable: ${message || code}. Check ${settingName}.`)
  } finally {
    if (client) await ignoreError(client.end(), 'connection was already closed')
  }
}

class UnusableServer extends Error {}

const describePooler = (settingName: string) =>
  `${settingName} names a connection pooler that doesn't keep the session settings of a client. Set DATABASE_POOLER=transaction, or let ${settingName} name PostgreSQL directly.`

const describeLocale = (settingName: string) =>
  `The database that ${settingName} names can't compare email addresses regardless of case: its LC_CTYPE is C or Turkish. Create it again: create database tillbridge owner tillbridge template template0 encoding 'UTF8' locale 'C.UTF-8'`
