import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../src/database/db.ts'
import { migrate } from '../../src/database/migrate.ts'
import { type Postgres, type PostgresOptions, startPostgres } from '../../src/postgres/postgres.ts'
import type { TestDatabase } from '../support/database.ts'

/** A migrated, empty database on a separate PostgreSQL, which tests can halt, kill and limit. */
export interface SeparateDatabase extends TestDatabase {
  postgres: Postgres
  /** The folder of the bundled PostgreSQL. */
  directory: string
}

/** Returns the URL of the database of a bundled PostgreSQL. */
const buildUrl = ({ host, port, user, database }: Postgres['connection']) =>
  `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`

export async function startSeparateDatabase(
  directory: string,
  settings: PostgresOptions['settings'] = {},
): Promise<SeparateDatabase> {
  const postgres = await startPostgres(directory, { settings: { fsync: 'off', ...settings } })
  const connection = buildUrl(postgres.connection)
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

/** Creates a temporary directory. The test must remove it. */
export const createTestDirectory = (name: string) => mkdtempSync(join(tmpdir(), `tillbridge-${name}-`))

/** A small file system in memory, which tests can fill. */
export interface SmallDisk {
  directory: string
  /** Writes a file that takes all free space. */
  fill(): void
  /** Removes this file. */
  empty(): void
  remove(): void
}

/** Mounts a file system with a size in MiB. Returns the reason to skip the test if that's impossible. */
export function mountSmallDisk(mebibytes: number): SmallDisk | string {
  if (process.geteuid?.() !== 0) return 'only root can mount a small disk'
  const directory = createTestDirectory('disk')
  const { status, stderr } = spawnSync(
    'mount',
    ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=711`, 'tmpfs', directory],
    { encoding: 'utf8' },
  )
  if (status !== 0) {
    rmSync(directory, { recursive: true })
    return `a small disk can't be mounted: ${stderr?.trim()}`
  }
  const ballast = join(directory, 'ballast')
  const getFreeBytes = () => {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  }
  return {
    directory,
    fill() {
      try {
        while (getFreeBytes() > 0) writeFileSync(ballast, Buffer.alloc(getFreeBytes()), { flag: 'a' })
      } catch (error) {
        // PostgreSQL has used the remaining space.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    },
    empty: () => rmSync(ballast, { force: true }),
    remove() {
      spawnSync('umount', [directory])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
