import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../src/database/db.ts'
import { migrate } from '../../src/database/migrate.ts'
import { type Postgres, type PostgresOptions, startPostgres } from '../../src/postgres/postgres.ts'
import type { TestDatabase } from '../support/database.ts'

/** A migrated, empty database on a PostgreSQL of its own, to be halted, killed and starved. */
export interface OwnDatabase extends TestDatabase {
  postgres: Postgres
  /** The folder of the bundled PostgreSQL. */
  directory: string
}

/** The URL of the database of a bundled PostgreSQL. */
const urlOf = ({ host, port, user, database }: Postgres['connection']) =>
  `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`

export async function ownDatabase(directory: string, settings: PostgresOptions['settings'] = {}): Promise<OwnDatabase> {
  const postgres = await startPostgres(directory, { settings: { fsync: 'off', ...settings } })
  const connection = urlOf(postgres.connection)
  const db = openDatabase(connection, { max: 10, onFault: () => {} })
  const drop = async () => {
    await db.close()
    await postgres.stop()
  }
  try {
    await migrate(db)
  } catch (error) {
    await drop()
    throw error
  }
  return { db, connection, postgres, directory, drop }
}

/** A directory of the test's own. */
export const ownDirectory = (name: string) => mkdtempSync(join(tmpdir(), `tillbridge-${name}-`))

/** A small file system in memory, which can be full. */
export interface SmallDisk {
  directory: string
  /** Takes all the room that is left. */
  fill(): void
  /** Gives that room back. */
  makeRoom(): void
  remove(): void
}

/** Makes one of so many MiB, or says why there cannot be one. */
export function smallDisk(mebibytes: number): SmallDisk | string {
  if (process.geteuid?.() !== 0) return 'only root can mount a small disk'
  const directory = ownDirectory('disk')
  const { status, stderr } = spawnSync(
    'mount',
    ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=711`, 'tmpfs', directory],
    { encoding: 'utf8' },
  )
  if (status !== 0) {
    rmSync(directory, { recursive: true })
    return `a small disk cannot be mounted here: ${stderr?.trim()}`
  }
  const ballast = join(directory, 'ballast')
  const freeBytes = () => {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  }
  return {
    directory,
    fill() {
      try {
        while (freeBytes() > 0) writeFileSync(ballast, Buffer.alloc(freeBytes()), { flag: 'a' })
      } catch (error) {
        // PostgreSQL has used the remaining space.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    },
    makeRoom: () => rmSync(ballast, { force: true }),
    remove() {
      spawnSync('umount', [directory])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
