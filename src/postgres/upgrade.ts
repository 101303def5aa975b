import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { failpoint } from '../testing/failpoints.ts'
import { findServerOf } from './binaries.ts'
import {
  beginning,
  carried,
  connectionTo,
  createCluster,
  kept,
  logDirectory,
  moveDirectory,
  own,
  putInPlace,
} from './cluster.ts'
import { endOrphans } from './orphans.ts'
import { chooseRunAs, type RunAs } from './run-as.ts'
import { type Connection, spawnServer, untilReady } from './server.ts'
import { serverArguments } from './server-settings.ts'
import { socketDirectory } from './socket.ts'

type While = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>

/** The two servers, of which one runs at a time, each while it is worked with. */
interface Servers {
  /** The major versions. */
  from: string
  to: string
  whileOlder: While
  /** Its database is empty. */
  whileNewer: While
  /** Where to put what is carried from one to the other; it is removed. */
  file: string
}

/** Carries all rows from the older database to the newer one. */
export type Carrying = (servers: Servers) => Promise<void>

interface Older {
  home: string
  clusterName: string
  data: string
  /** The major version that has written it. */
  found: string
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
export async function carryOver(older: Older, bundled: Bundled, carrying: Carrying | undefined): Promise<void> {
  const { home, data, found } = older
  const { major } = bundled
  const written = `${data} was written by PostgreSQL ${found}`
  if (Number(found) > Number(major))
    throw new Error(`${written}, and this release has ${major}: start the newer release that it is of.`)
  if (!carrying) throw new Error(`${written}, and this release has ${major}: tillbridge start carries it over.`)
  const server = findServerOf(found)
  if (!server)
    throw new Error(
      `${written}, and this release has ${major}. To carry it over, the older server is needed once: install it (on Debian: ` +
        `apt install postgresql-${found}) and start again; or take a backup with the older release, and restore it (docs/operate/upgrade.md).`,
    )
  const old = kept(data, found)
  if (existsSync(old))
    throw new Error(`${written}, and there is a copy of an earlier one of that version in ${old}: move that away.`)

  const running =
    (program: string, directory: () => Promise<string>, runAs: RunAs): While =>
    async work => {
      const at = await directory()
      await endOrphans(at, older.clusterName)
      own(at, runAs)
      const [socket, logs] = [socketDirectory(home, runAs), logDirectory(home, runAs)]
      const args = serverArguments({ clusterName: older.clusterName, data: at, socket, logs })
      const server = spawnServer(program, args, runAs, logs)
      try {
        await untilReady(server, connectionTo(socket))
        return await work(connectionTo(socket))
      } finally {
        await server.end(graceMs)
        // The other one may be another user's.
        rmSync(socket, { recursive: true, force: true })
      }
    }
  const file = join(home, `${beginning}rows`)
  let made: string | undefined
  const make = async () => {
    made = await createCluster(home, bundled.initdb, bundled.runAs)
    return made
  }
  await carrying({
    from: found,
    to: major,
    file,
    whileOlder: running(server, async () => data, chooseRunAs(server, home).runAs),
    whileNewer: running(bundled.postgres, make, bundled.runAs),
  })
  if (!made) throw new Error('nothing was carried over')
  rmSync(file, { force: true })
  moveDirectory(home, made, carried(data))
  failpoint('rows_carried_over')
  putInPlace(home, data)
}
