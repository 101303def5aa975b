import { mkdirSync, realpathSync, rmSync } from 'node:fs'
import { sleep } from '../concurrency/backoff.ts'
import { chooseBinaries, supportedMajors } from './binaries.ts'
import { openCluster, peekMajorVersion, prepareLogDirectory, takeOwnership, toConnection } from './cluster.ts'
import { lockDirectory } from './lock.ts'
import { endOrphans, getClusterName } from './orphans.ts'
import { chooseRunAs } from './run-as.ts'
import { type Connection, type Server, spawnServer, waitUntilReady } from './server.ts'
import { buildServerArguments } from './server-settings.ts'
import { prepareSocketDirectory } from './socket.ts'
import { type UpgradeRows, upgradeCluster } from './upgrade.ts'

/** A running PostgreSQL that this process started. */
export interface Postgres {
  /** True if the server's programs came with Tillbridge: they get no security updates between releases. */
  isBundled: boolean
  version: string
  /** A `pg` client configuration. It stays the same after a restart. */
  connection: Connection
  /** The process ID of the server. It changes with a restart. */
  readonly pid: number
  /** Resolves once the server has ended: with undefined after `stop()`, with an error if all restarts failed. */
  ended: Promise<Error | undefined>
  /** Shuts the server down: fast, then immediately if that takes longer than `graceMs`. */
  stop(): Promise<void>
}

export interface PostgresOptions {
  /** Server settings that override the defaults. */
  settings?: Readonly<Record<string, string>>
  /** The programs to run, as in POSTGRES_BIN_DIR. Default `bundled`. */
  binDir?: string
  /** Called with one line for each unexpected end and each restart. */
  onNotice?: (notice: string) => void
  /** Maximum milliseconds of a fast shutdown. Default 20,000. */
  graceMs?: number
  /** Milliseconds before each restart of a server that ended unexpectedly. The length is the maximum number of restarts. */
  restartDelaysMs?: readonly number[]
  /** Copies the rows of an older major version to this one. Without it, an older database is an error. */
  upgradeRows?: UpgradeRows | undefined
}

/** A server that ran this long counts as healthy again. */
const healthyMs = 60_000

/**
 * Starts PostgreSQL on `directory`, which is created on first use. It contains the data directory `data`, `log`, `socket` and the
 * owner's lock. Throws at once if another running process owns the directory.
 */
export async function startPostgres(directory: string, options: PostgresOptions = {}): Promise<Postgres> {
  // The server's user must be able to traverse this directory. The directories in it are private.
  mkdirSync(directory, { recursive: true, mode: 0o711 })
  const home = realpathSync(directory)
  const unlock = await lockDirectory(home)
  try {
    return await startLocked(home, options, unlock)
  } catch (error) {
    unlock()
    throw error
  }
}

/**
 * Chooses the programs and their user, and returns them with the path of the data directory. Creates the data directory if it is missing, and
 * upgrades one of an older major version. Throws if the programs can't run it.
 */
async function prepareCluster(home: string, clusterName: string, { binDir, upgradeRows }: PostgresOptions) {
  const { initdb, postgres, source } = chooseBinaries(binDir ?? 'bundled', peekMajorVersion(home))
  const { runAs, version, major } = chooseRunAs(postgres, home)
  if (!supportedMajors.includes(major))
    throw new Error(
      `${postgres} must be PostgreSQL ${supportedMajors.at(-1)} to ${supportedMajors[0]}; it is ${version}.`,
    )
  const { data, dataMajor } = await openCluster(home, clusterName, { initdb, major }, runAs)
  if (dataMajor !== major) {
    if (source === 'configured')
      throw new Error(
        `${data} was written by PostgreSQL ${dataMajor}, and POSTGRES_BIN_DIR has ${version}. Set it to the programs of PostgreSQL ` +
          `${dataMajor}, or restore a backup into a new DATA_DIR (docs/operate/upgrade.md).`,
      )
    await upgradeCluster({ home, clusterName, data, major: dataMajor }, { initdb, postgres, runAs, major }, upgradeRows)
  }
  takeOwnership(data, runAs)
  return { postgres, source, runAs, version, data }
}

async function startLocked(home: string, options: PostgresOptions, unlock: () => void): Promise<Postgres> {
  const { graceMs = 20_000, onNotice = () => {}, restartDelaysMs = [0, 500, 2_000, 5_000, 15_000] } = options
  const clusterName = getClusterName(home)
  const { postgres, source, runAs, version, data } = await prepareCluster(home, clusterName, options)
  const logs = prepareLogDirectory(home, runAs)
  const abort = new AbortController()
  let stopping: Promise<void> | undefined
  let server: Server | undefined

  async function launch(): Promise<Connection> {
    await endOrphans(data, clusterName)
    const host = prepareSocketDirectory(home, runAs)
    if (stopping) throw new Error('PostgreSQL is being stopped.')
    const args = buildServerArguments({ clusterName, data, socket: host, logs }, options.settings)
    server = spawnServer(postgres, args, runAs, logs)
    const connection = toConnection(host)
    await waitUntilReady(server, connection).catch(error => {
      throw new Error(`${error.message} (see ${logs})`)
    })
    return connection
  }

  /** Resolves with undefined once the server is stopped, or with the error after the last restart. */
  async function keepRunning(): Promise<Error | undefined> {
    let attempt = 0
    for (;;) {
      const startedAt = Date.now()
      const reason = await server?.exited
      if (stopping) return undefined
      if (Date.now() - startedAt > healthyMs) attempt = 0
      const delayMs = restartDelaysMs[attempt++]
      if (delayMs === undefined) return new Error(`PostgreSQL ended after every restart, the last time by ${reason}.`)
      onNotice(`PostgreSQL ended unexpectedly (${reason}), restarting in ${delayMs} ms`)
      await sleep(delayMs, { ref: false, signal: abort.signal })
      if (stopping) return undefined
      try {
        await launch()
        onNotice('PostgreSQL restarted')
      } catch (error) {
        await server?.end(graceMs)
        if (!stopping) onNotice((error as Error).message)
      }
    }
  }

  const connection = await launch().catch(async error => {
    await server?.end(graceMs)
    throw error
  })
  const ended = keepRunning().finally(() => {
    rmSync(connection.host, { recursive: true, force: true })
    unlock()
  })

  async function stop(): Promise<void> {
    abort.abort()
    await server?.end(graceMs)
    await ended
  }
  return {
    connection,
    isBundled: source === 'bundled',
    version,
    get pid() {
      return server?.pid ?? 0
    },
    ended,
    stop: () => {
      stopping ??= stop()
      return stopping
    },
  }
}
