import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Config } from '../config.ts'
import { type Database, openDatabase } from '../db.ts'
import { migrate } from '../migrate.ts'
import { type Postgres, startPostgres } from '../postgres/postgres.ts'
import type { Keys } from '../secrets.ts'
import { keysOf } from './keys.ts'
import { requireOneServer } from './one-server.ts'

/** A database that is up to date. */
export interface OpenedDatabase {
  db: Database
  /** Its connections, by what they are for. */
  pools?: Readonly<Record<string, pg.Pool>>
  /** Migrations that were applied on opening. */
  migrated: string[]
  /** The bundled PostgreSQL, where this process runs it. */
  postgres?: Postgres
  close(): Promise<void>
}

/** A database with the keys that go with it. */
export interface Installation extends OpenedDatabase {
  keys: Keys
}

type Connection = string | pg.ClientConfig

interface Opening {
  /** Milliseconds a statement may take; 0: as long as it needs. */
  statementTimeoutMs?: number
  onNotice?: (notice: string) => void
  /** Opened for the time being: whoever joins meanwhile may finish before the database is stopped. */
  briefly?: boolean
  /** Not migrated: its tables, if any, stay those that it has. */
  asItIs?: boolean
}

/** Where the process that runs the bundled PostgreSQL tells the others how to reach it. */
const connectionFile = (config: Config) => resolve(config.dataDir, 'database.json')

/** Opens the installation as its owner: the bundled PostgreSQL is started here, unless DATABASE_URL names another one. */
export async function openInstallation(config: Config, opening: Opening = {}) {
  const installation = await withKeys(config, await openOwnDatabase(config, opening))
  try {
    await requireOneServer(installation.db)
    return installation
  } catch (error) {
    await installation.close()
    throw error
  }
}

/** Joins an installation that another process may have open; opens it for the time being where none has. */
export const joinInstallation = async (config: Config, opening: Opening = {}) =>
  withKeys(config, await joinDatabase(config, opening))

async function withKeys(config: Config, opened: OpenedDatabase): Promise<Installation> {
  try {
    return { ...opened, keys: await keysOf(config, opened.db) }
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** Opens a database that nobody else has open, as it is. */
export const openAsItIs = (config: Config) =>
  openOwnDatabase(config, { asItIs: true, briefly: true, statementTimeoutMs: 0 })

async function openOwnDatabase(config: Config, opening: Opening): Promise<OpenedDatabase> {
  if (config.databaseUrl) return connect(config, config.databaseUrl, opening)
  await mkdir(config.dataDir, { recursive: true, mode: 0o711 })
  const postgres = await startPostgres(
    resolve(config.dataDir, 'postgres'),
    opening.onNotice ? { onNotice: opening.onNotice } : {},
  )
  await writeFile(connectionFile(config), JSON.stringify(postgres.connection), { mode: 0o600 })
  const stop = async () => {
    await rm(connectionFile(config), { force: true })
    if (opening.briefly) await untilAlone(postgres.connection)
    await postgres.stop()
  }
  try {
    return await connect(config, postgres.connection, opening, { postgres, stop })
  } catch (error) {
    await stop()
    throw error
  }
}

/** Joins the database of an installation, for what needs no keys. */
export async function joinDatabase(config: Config, opening: Opening = {}): Promise<OpenedDatabase> {
  if (config.databaseUrl) return connect(config, config.databaseUrl, opening)
  for (let waitMs = 100; ; waitMs *= 1.5) {
    const running = await reachRunning(config)
    if (running) return joinRunning(config, running, opening)
    try {
      return await openOwnDatabase(config, { ...opening, briefly: true })
    } catch (error) {
      // Another process may be just about to open or to close it.
      if (!/ is in use by process /.test((error as Error).message) || waitMs > 3_000) throw error
    }
    await delay(waitMs)
  }
}

/** A connection that is kept all the time: whoever has opened the database briefly waits for it. */
interface Running {
  connection: pg.ClientConfig
  kept: pg.Client
}

async function reachRunning(config: Config): Promise<Running | undefined> {
  try {
    const connection = JSON.parse(await readFile(connectionFile(config), 'utf8')) as pg.ClientConfig
    const kept = new pg.Client({ ...connection, connectionTimeoutMillis: 2_000 })
    kept.on('error', () => {})
    await kept.connect()
    return { connection, kept }
  } catch {
    return
  }
}

async function joinRunning(config: Config, { connection, kept }: Running, opening: Opening): Promise<OpenedDatabase> {
  const leave = () => kept.end().catch(() => {})
  try {
    const opened = await connect(config, connection, opening)
    return { ...opened, close: () => opened.close().finally(leave) }
  } catch (error) {
    await leave()
    throw error
  }
}

async function untilAlone(connection: pg.ClientConfig) {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  try {
    await client.connect()
    const others = `select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`
    while ((await client.query(others)).rowCount) await delay(20)
  } catch {
    // It does not run any longer.
  } finally {
    await client.end().catch(() => {})
  }
}

async function connect(
  config: Config,
  connection: Connection,
  { statementTimeoutMs = 15_000, onNotice, asItIs = false }: Opening,
  own?: { postgres: Postgres; stop: () => Promise<void> },
): Promise<OpenedDatabase> {
  await requireVersion(connection)
  let closing = false
  const opened = (settled: boolean) =>
    openDatabase(connection, {
      settled,
      max: config.databasePool,
      statementTimeoutMs,
      onFault: error => closing || onNotice?.(`A connection to the database broke: ${error.message}`),
    })
  // Reads have connections that no crowd of writes can take from them, and plans for what they filter by.
  const [reads, writes] = [opened(false), opened(true)]
  const close = async () => {
    await Promise.all([reads.close(), writes.close()])
  }
  const db = { ...reads, transaction: writes.transaction, close }
  try {
    return {
      db,
      pools: { reads: reads.pool, writes: writes.pool },
      migrated: asItIs ? [] : await migrateAlone(connection),
      ...(own && { postgres: own.postgres }),
      async close() {
        closing = true
        // A statement that nobody waits for any longer may go on for all of its time.
        await Promise.race([db.close(), delay(1_000, undefined, { ref: false })])
        await own?.stop()
      },
    }
  } catch (error) {
    await db.close()
    throw error
  }
}

/** Migrations take as long as they need, whatever the limit for requests is. */
async function migrateAlone(connection: Connection) {
  const db = openDatabase(connection, { max: 1, statementTimeoutMs: 0 })
  try {
    return await migrate(db)
  } finally {
    await db.close()
  }
}

const oldestVersion = 150_000

async function requireVersion(connection: Connection) {
  let client: pg.Client | undefined
  try {
    client = new pg.Client(
      typeof connection === 'string' ? { connectionString: connection, connectionTimeoutMillis: 5_000 } : connection,
    )
    await client.connect()
    const { rows } = await client.query<{ server_version_num: string; server_version: string }>(
      `select current_setting('server_version_num') as server_version_num, current_setting('server_version') as server_version`,
    )
    if (Number(rows[0]?.server_version_num) < oldestVersion)
      throw new Error(`PostgreSQL ${rows[0]?.server_version} is too old: Tillbridge needs 15 or later.`)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new Error(
      /too old/.test(message) ? message : `The database cannot be reached: ${message || code}. Check DATABASE_URL.`,
    )
  } finally {
    await client?.end().catch(() => {})
  }
}
