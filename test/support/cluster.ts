import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { openDatabase } from '../../src/database/db.ts'
import { migrate } from '../../src/database/migrate.ts'
import { startPostgres } from '../../src/postgres/postgres.ts'

/** A PostgreSQL for test databases, and the migrated, empty template that they are cloned from. */
export interface TestCluster {
  toDirectUrl(database: string): string
  /** Returns the URL that the server connects to: the direct URL, or the pooler that TEST_DATABASE_POOLER names. */
  toClientUrl(database: string): string
  template: string
  /** The server's process ID if it is the bundled PostgreSQL. */
  pid?: number
  close(): Promise<void>
}

/**
 * Opens the PostgreSQL that TEST_DATABASE_URL names, or the bundled one in a temporary directory, and creates the
 * template. A clone takes 20 ms, migrations much longer. Autovacuum is off, so that plans depend on the statistics
 * that a test creates. Only fsync is off here, because no test cuts the power.
 */
export async function openTestCluster(): Promise<TestCluster> {
  const input = process.env.TEST_DATABASE_URL
  const { url, stop, ...server } = input ? { url: input, stop: async () => {} } : await startBundled()
  const toUrl = createUrlBuilder(url)
  const template = `tillbridge_template_${process.pid}`
  await runAsAdmin(toUrl, `drop database if exists "${template}"`, `create database "${template}"`)
  const db = openDatabase(toUrl(template), { max: 1 })
  await migrate(db)
  await db.close()
  return {
    toDirectUrl: toUrl,
    toClientUrl: toPoolerUrlBuilder(toUrl),
    template,
    ...server,
    async close() {
      const created = [template, ...Object.values(getDemoDatabaseNames(template))]
      await runAsAdmin(toUrl, ...created.map(name => `drop database if exists "${name}" with (force)`))
      await stop()
    },
  }
}

async function startBundled() {
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-test-'))
  const postgres = await startPostgres(directory, {
    settings: {
      fsync: 'off',
      full_page_writes: 'off',
      wal_level: 'minimal',
      max_wal_senders: '0',
      checkpoint_timeout: '1h',
      autovacuum: 'off',
      max_connections: '300',
    },
  })
  const { host, port, user } = postgres.connection
  return {
    url: `postgres://${user}@localhost:${port}/postgres?host=${encodeURIComponent(host)}`,
    pid: postgres.pid,
    async stop() {
      await postgres.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** The URL of a PgBouncer in transaction mode. If it is set, tested code connects through it. */
const pooler = process.env.TEST_DATABASE_POOLER
export const isPooled = pooler !== undefined
export const toPoolerUrlBuilder = (toDirectUrl: TestCluster['toDirectUrl']) =>
  pooler === undefined ? toDirectUrl : createUrlBuilder(pooler)

/** Returns a function that builds the URL of another database on the server of a URL. */
export const createUrlBuilder = (url: string) => (database: string) =>
  Object.assign(new URL(url), { pathname: `/${database}` }).href

/** Names of the databases with the demo shop: the complete shop, a small one, and a draft that is being filled. */
export const getDemoDatabaseNames = (template: string) => ({
  whole: `${template}_demo`,
  small: `${template}_demo_small`,
  draft: `${template}_demo_draft`,
})

/** Runs statements as the superuser, one by one. */
export async function runAsAdmin(toUrl: TestCluster['toDirectUrl'], ...statements: string[]) {
  const client = new pg.Client({ connectionString: toUrl('postgres') })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
