import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { failpoint } from '../testing/failpoints.ts'
import { findInstalledServer } from './binaries.ts'
import {
  activateUpgraded,
  archivePath,
  createCluster,
  draftPrefix,
  moveDirectory,
  prepareLogDirectory,
  takeOwnership,
  toConnection,
  upgradedPath,
} from './cluster.ts'
import { endOrphans } from './orphans.ts'
import { chooseRunAs, type RunAs } from './run-as.ts'
import { type Connection, spawnServer, waitUntilReady } from './server.ts'
import { buildServerArguments } from './server-settings.ts'
import { prepareSocketDirectory } from './socket.ts'

type WithConnection = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>

/** The two servers, of which one runs at a time, each while it is worked with. */
interface UpgradeServers {
  /** The major versions. */
  from: string
  to: string
  withOlder: WithConnection
  /** Its database is empty. */
  withNewer: WithConnection
  /** Where to put what is carried from one to the other; it is removed. */
  file: string
}

/** Carries all rows from the older database to the newer one. */
export type UpgradeRows = (servers: UpgradeServers) => Promise<void>

interface OlderCluster {
  home: string
  clusterName: string
  data: string
  /** The major version that has written it. */
  major: string
}

interface Bundled {
  initdb: string
  postgres: string
  runAs: RunAs
  major: string
}

const graceMs = 60_000

/**
 * Carries a data directory of an older major version over to the bundled one. A new directory takes its place once it is whole, and the old
 * one is kept beside it. Where something fails, or is killed, the old one is as it was. To be called with the lock held.
 */
export async function upgradeCluster(
  older: OlderCluster,
  bundled: Bundled,
  carrying: UpgradeRows | undefined,
): Promise<void> {
  const { home, data, major: found } = older
  const { major } = bundled
  const problem = `${data} was written by PostgreSQL ${found}`
  if (Number(found) > Number(major))
    throw new Error(`${problem}, and this release has ${major}: start the newer release that it is of.`)
  if (!carrying) throw new Error(`${problem}, and this release has ${major}: tillbridge start carries it over.`)
  const server = findInstalledServer(found)
  if (!server)
    throw new Error(
      `${problem}, and this release has ${major}. To carry it over, the older server is needed once: install it (on Debian: ` +
        `apt install postgresql-${found}) and start again; or take a backup with the older release, and restore it (docs/operate/upgrade.md).`,
    )
  const archive = archivePath(data, found)
  if (existsSync(archive))
    throw new Error(`${problem}, and there is a copy of an earlier one of that version in ${archive}: move that away.`)

  const withServer =
    (program: string, directory: () => Promise<string>, runAs: RunAs): WithConnection =>
    async work => {
      const at = await directory()
      await endOrphans(at, older.clusterName)
      takeOwnership(at, runAs)
      const [socket, logs] = [prepareSocketDirectory(home, runAs), prepareLogDirectory(home, runAs)]
      const args = buildServerArguments({ clusterName: older.clusterName, data: at, socket, logs })
      const server = spawnServer(program, args, runAs, logs)
      try {
        await waitUntilReady(server, toConnection(socket))
        return await work(toConnection(socket))
      } finally {
        await server.end(graceMs)
        // The other one may be another user's.
        rmSync(socket, { recursive: true, force: true })
      }
    }
  const file = join(home, `${draftPrefix}rows`)
  let created: string | undefined
  const createNewCluster = async () => {
    created = await createCluster(home, bundled.initdb, bundled.runAs)
    return created
  }
  await carrying({
    from: found,
    to: major,
    file,
    withOlder: withServer(server, async () => data, chooseRunAs(server, home).runAs),
    withNewer: withServer(bundled.postgres, createNewCluster, bundled.runAs),
  })
  if (!created) throw new Error('nothing was carried over')
  rmSync(file, { force: true })
  moveDirectory(home, created, upgradedPath(data))
  failpoint('rows_carried_over')
  activateUpgraded(home, data)
}
