import { appendFileSync, chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import pg from 'pg'
import { type Postgres, startPostgres } from '../../src/postgres/postgres.ts'

/** A bundled PostgreSQL and its directory. */
export interface BundledServer {
  directory: string
  postgres: Postgres
}

/** Builds the connection string by which a standby connects to its primary. */
export const buildConninfo = ({ connection: { host, port, user } }: Postgres) =>
  `host=${host} port=${port} user=${user}`

/** False for files that a base backup omits: files of the running process, and WAL, which the standby receives. */
const isCopied = (path: string) =>
  !['postmaster.pid', 'postmaster.opts'].includes(basename(path)) &&
  !['pg_wal', 'pg_replslot', 'pg_stat_tmp', 'pg_dynshmem'].includes(basename(dirname(path)))

/**
 * Starts a standby from a copy of a running bundled PostgreSQL's files, because the bundle has no pg_basebackup.
 * No table may be dropped during the copy.
 */
export async function startStandby(
  directory: string,
  primary: BundledServer,
  settings: Readonly<Record<string, string>> = {},
): Promise<Postgres> {
  const data = join(directory, 'data')
  mkdirSync(directory, { recursive: true, mode: 0o711 })
  const client = new pg.Client(primary.postgres.connection)
  await client.connect()
  try {
    await client.query(`select pg_backup_start('standby', true)`)
    cpSync(join(primary.directory, 'data'), data, { recursive: true, filter: isCopied })
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    writeFileSync(join(data, 'backup_label'), rows[0]?.labelfile ?? '')
  } finally {
    await client.end()
  }
  writeFileSync(join(data, 'standby.signal'), '')
  // Settings in this file can be changed without a restart.
  appendFileSync(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${buildConninfo(primary.postgres)}'\n`)
  chmodSync(data, 0o700)
  return startPostgres(directory, {
    settings: { wal_retrieve_retry_interval: '200ms', ...settings },
  })
}

/** Builds the URL of a database on one or more servers. */
export const buildDatabaseUrl = (servers: readonly Postgres[], database: string) =>
  `postgres://${servers[0]?.connection.user}@${servers.map(({ connection: { host, port } }) => `${encodeURIComponent(host)}:${port}`).join(',')}/${database}`
