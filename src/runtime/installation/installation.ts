import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { backoff } from '../../concurrency/backoff.ts'
import type { Config } from '../../config/config.ts'
import type { Keys } from '../../crypto/keys.ts'
import { writeAtomically } from '../../files/atomic-write.ts'
import { hasCluster } from '../../postgres/cluster.ts'
import { getClusterName } from '../../postgres/orphans.ts'
import { startPostgres } from '../../postgres/postgres.ts'
import type { UpgradeRows } from '../../postgres/upgrade.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import { type ConnectOptions, connect, type OpenedDatabase } from './connect.ts'
import { loadKeys } from './keys.ts'
import { requireOneServer } from './require-one-server.ts'
import { createUpgrade } from './upgrade.ts'

/** An open database with its keys. */
export interface Installation extends OpenedDatabase {
  keys: Keys
}

const getPostgresDirectory = (config: Config) => resolve(config.dataDir, 'postgres')

/** The file in which the process that runs the bundled PostgreSQL publishes its connection. */
const getConnectionFile = (config: Config) => resolve(config.dataDir, 'database.json')

/**
 * Opens the installation as its owner: starts the bundled PostgreSQL, unless DATABASE_URL names a server. Upgrades the data directory of an
 * older major version.
 */
export async function openInstallation(config: Config, opening: ConnectOptions = {}) {
  const upgradeRows = createUpgrade(config, opening.onNotice)
  const installation = await withKeys(config, await openOwnDatabase(config, opening, upgradeRows))
  try {
    await requireOneServer(installation.db)
    return installation
  } catch (error) {
    await installation.close()
    throw error
  }
}

/** Joins an installation that another process may have open. Opens it temporarily if none has. */
export const joinInstallation = async (config: Config, opening: ConnectOptions = {}) =>
  withKeys(config, await joinDatabase(config, opening))

async function withKeys(config: Config, opened: OpenedDatabase): Promise<Installation> {
  try {
    return { ...opened, keys: await loadKeys(config, opened.db) }
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** Opens a database that no other process has open, without migrating it. */
export const openWithoutMigrating = (config: Config) =>
  openOwnDatabase(config, { skipMigrations: true, isTemporary: true, statementTimeoutMs: 0 })

async function openOwnDatabase(
  config: Config,
  opening: ConnectOptions,
  upgradeRows?: UpgradeRows,
): Promise<OpenedDatabase> {
  if (config.databaseUrl) return connect(config, config.databaseUrl, opening)
  await mkdir(config.dataDir, { recursive: true, mode: 0o711 })
  const { onNotice = () => {} } = opening
  const postgres = await startPostgres(getPostgresDirectory(config), {
    binDir: config.postgresBinDir,
    onNotice,
    upgradeRows,
  })
  const connection = JSON.stringify(postgres.connection)
  await writeAtomically(getConnectionFile(config), draft => writeFile(draft, connection, { mode: 0o600 }))
  const stop = async () => {
    await rm(getConnectionFile(config), { force: true })
    if (opening.isTemporary) await waitUntilUnused(postgres.connection)
    await postgres.stop()
  }
  try {
    return await connect(config, postgres.connection, opening, { postgres, stop })
  } catch (error) {
    await stop()
    throw error
  }
}

/** Joins the database of an installation without its keys. Throws if it does not exist, unless `canCreate`. */
export async function joinDatabase(config: Config, opening: ConnectOptions = {}): Promise<OpenedDatabase> {
  if (config.databaseUrl) return connect(config, config.databaseUrl, opening)
  const home = resolve(config.dataDir)
  const isNew = !(await hasCluster(getPostgresDirectory(config)))
  // Without DATA_DIR this is the current directory, where a command would succeed on an empty database.
  if (isNew && !opening.canCreate)
    throw new Error(`No installation found in ${home}. Set DATA_DIR, or run "tillbridge start" to create one.`)
  if (isNew) opening.onNotice?.(`Creating a new database in ${home}.`)
  const deadline = performance.now() + joinTimeoutMs
  for (const delays = backoff({ initialMs: 100, maxMs: 3_000, factor: 1.5 }); ; ) {
    let connectionError: Error | undefined
    const running = await connectToRunning(config, error => {
      connectionError = error
    })
    if (running) return joinRunning(config, running, opening)
    try {
      return await openOwnDatabase(config, { ...opening, isTemporary: true })
    } catch (error) {
      const [, owner] = / is in use by process (\w+)/.exec((error as Error).message) ?? []
      if (owner === undefined) throw error
      // Another process can be opening or closing it right now.
      if (performance.now() > deadline)
        throw connectionError
          ? new Error(`The database of process ${owner} is unreachable: ${connectionError.message}`)
          : error
    }
    await delay(delays.next())
  }
}

/** Milliseconds that another process may take to open or to close the bundled database. */
const joinTimeoutMs = 9_000

/** A bundled PostgreSQL that another process runs. `guard` stays open, so that a temporary owner waits for this process. */
interface RunningServer {
  connection: pg.ClientConfig
  guard: pg.Client
}

/** Error codes of a connection if no PostgreSQL runs. */
const noServerCodes = new Set<string | undefined>(['ENOENT', 'ECONNREFUSED'])

async function connectToRunning(
  config: Config,
  onRejected: (error: Error) => void,
): Promise<RunningServer | undefined> {
  try {
    const connection = JSON.parse(await readFile(getConnectionFile(config), 'utf8')) as pg.ClientConfig
    const guard = new pg.Client({ ...connection, connectionTimeoutMillis: 2_000 })
    guard.on('error', () => {})
    await guard.connect().catch((error: NodeJS.ErrnoException) => {
      if (!noServerCodes.has(error.code)) onRejected(error)
      throw error
    })
    if (await isOwnCluster(config, guard).catch(() => false)) return { connection, guard }
    await guard.end()
  } catch {
    // No process runs it.
  }
  return
}

/** True if the server runs on this directory. A copy of a directory has the connection file of the original's server. */
async function isOwnCluster(config: Config, client: pg.Client) {
  const { rows } = await client.query<{ cluster_name: string }>('show cluster_name')
  return rows[0]?.cluster_name === getClusterName(getPostgresDirectory(config))
}

async function joinRunning(
  config: Config,
  { connection, guard }: RunningServer,
  opening: ConnectOptions,
): Promise<OpenedDatabase> {
  const leave = () => ignoreError(guard.end(), 'connection was already closed')
  try {
    const opened = await connect(config, connection, opening)
    return { ...opened, close: () => opened.close().finally(leave) }
  } catch (error) {
    await leave()
    throw error
  }
}

async function waitUntilUnused(connection: pg.ClientConfig) {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  try {
    await client.connect()
    const otherConnections = `select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`
    while ((await client.query(otherConnections)).rowCount) await delay(20)
  } catch {
    // The server has ended.
  } finally {
    await ignoreError(client.end(), 'connection was already closed')
  }
}
