import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { failpoint } from '../testing/failpoints.ts'
import { findInstalledServer } from './binaries.ts'
import {
  activateUpgraded,
  archivePath,
  createCluster,
  draftPrefix,
  getUpgradedPath,
  moveDirectory,
  prepareLogDirectory,
  takeOwnership,
  toConnection,
} from './cluster.ts'
import { endOrphans } from './orphans.ts'
import { chooseRunAs, type RunAs } from './run-as.ts'
import { type Connection, spawnServer, waitUntilReady } from './server.ts'
import { buildServerArguments } from './server-settings.ts'
import { prepareSocketDirectory } from './socket.ts'

type WithConnection = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>

/** The older and the newer server. Each runs only while its callback runs. */
interface UpgradeServers {
  /** The major versions. */
  from: string
  to: string
  withOlder: WithConnection
  /** The newer database is empty. */
  withNewer: WithConnection
  /** The path of the intermediate file. It is deleted afterwards. */
  file: string
}

/** Copies all rows from the older database to the newer one. */
export type UpgradeRows = (servers: UpgradeServers) => Promise<void>

interface OlderCluster {
  home: string
  clusterName: string
  data: string
  /** The major version that wrote the data. */
  major: string
}

interface Bundled {
  initdb: string
  postgres: string
  runAs: RunAs
  major: string
}

const graceMs = 60_000

/** Returns a function that runs `work` while a server runs on the directory that `getDirectory` returns. */
const withServer =
  (
    { home, clusterName }: Pick<OlderCluster, 'home' | 'clusterName'>,
    program: string,
    getDirectory: () => Promise<string>,
    runAs: RunAs,
  ): WithConnection =>
  async work => {
    const data = await getDirectory()
    await endOrphans(data, clusterName)
    takeOwnership(data, runAs)
    const [socket, logs] = [prepareSocketDirectory(home, runAs), prepareLogDirectory(home, runAs)]
    const server = spawnServer(program, buildServerArguments({ clusterName, data, socket, logs }), runAs, logs)
    try {
      await waitUntilReady(server, toConnection(socket))
      return await work(toConnection(socket))
    } finally {
      await server.end(graceMs)
      // The other server may run as another user.
      rmSync(socket, { recursive: true, force: true })
    }
  }

/**
 * Upgrades a data directory of an older major version to the bundled one. A complete new directory replaces it, and the older one is kept
 * next to it. If the upgrade fails or is killed, the older one is unchanged. The caller must hold the directory's lock.
 */
export async function upgradeCluster(
  older: OlderCluster,
  bundled: Bundled,
  upgradeRows: UpgradeRows | undefined,
): Promise<void> {
  const { home, data, major: dataMajor } = older
  const { major } = bundled
  const problem = `${data} was written by PostgreSQL ${dataMajor}`
  if (Number(dataMajor) > Number(major))
    throw new Error(`${problem}, and this release has ${major}. Start the newer release.`)
  if (!upgradeRows) throw new Error(`${problem}, and this release has ${major}. Run "tillbridge start" to upgrade it.`)
  const server = findInstalledServer(dataMajor)
  if (!server)
    throw new Error(
      `${problem}, and this release has ${major}. Install PostgreSQL ${dataMajor} (on Debian: apt install postgresql-${dataMajor}) and start ` +
        `again. To upgrade the database to ${major}, also set POSTGRES_BIN_DIR=bundled (docs/operate/upgrade.md).`,
    )
  const archive = archivePath(data, dataMajor)
  if (existsSync(archive))
    throw new Error(`${problem}, and ${archive} already contains a copy of that version. Move the copy away.`)

  const file = join(home, `${draftPrefix}rows`)
  let created: string | undefined
  const createNewCluster = async () => {
    created = await createCluster(home, bundled, bundled.runAs)
    return created
  }
  await upgradeRows({
    from: dataMajor,
    to: major,
    file,
    withOlder: withServer(older, server, async () => data, chooseRunAs(server, home).runAs),
    withNewer: withServer(older, bundled.postgres, createNewCluster, bundled.runAs),
  })
  if (!created) throw new Error('the upgrade created no data directory')
  rmSync(file, { force: true })
  moveDirectory(home, created, getUpgradedPath(data))
  failpoint('rows_upgraded')
  activateUpgraded(home, data)
}
