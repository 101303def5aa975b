import { randomUUID } from 'node:crypto'
import { type Database, openDatabase } from '../../src/database/db.ts'
import {
  createUrlBuilder,
  isPooled,
  openTestCluster,
  runAsAdmin,
  type TestCluster,
  toPoolerUrlBuilder,
} from './cluster.ts'

/** A separate database for one test file. */
export interface TestDatabase {
  db: Database
  /** The URL for `pg` and `psql`. */
  connection: string
  /** Closes and drops the database. */
  drop(): Promise<void>
}

/** The PostgreSQL of the whole run, or a separate one if this file runs alone. */
let cluster: Promise<TestCluster> | undefined

function getRunCluster(): TestCluster | undefined {
  const { TEST_DATABASE_URL: url, TEST_DATABASE_TEMPLATE: template } = process.env
  if (!url || !template) return
  const toDirectUrl = createUrlBuilder(url)
  return { toDirectUrl, toClientUrl: toPoolerUrlBuilder(toDirectUrl), template, close: async () => {} }
}

/** Opens a connection pool to a test database. */
export const openTestDatabase = (connection: string) =>
  openDatabase(connection, { max: 10, statementTimeoutMs: 60_000, onFault: () => {}, pooled: isPooled })

/** Returns the environment of a process that uses the same database. */
export const getDatabaseEnvironment = ({ connection }: Pick<TestDatabase, 'connection'>) => ({
  DATABASE_URL: connection,
  DATABASE_POOLER: isPooled ? 'transaction' : 'off',
})

let openDatabaseCount = 0

/** Clones a migrated, empty database. A PostgreSQL of this file alone is stopped after its last database is dropped. */
export const createTestDatabase = () => createDatabase(({ template }) => `template "${template}" strategy file_copy`)

/** Creates a database without any tables. */
export const createEmptyDatabase = () => createDatabase(() => '')

/** Creates a database with the options of `create database` that `getOptions` returns. */
export async function createDatabase(
  getOptions: (cluster: TestCluster) => string | Promise<string>,
): Promise<TestDatabase> {
  openDatabaseCount++
  cluster ??= Promise.resolve(getRunCluster() ?? openTestCluster())
  const openCluster = await cluster
  const { toDirectUrl, toClientUrl } = openCluster
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await runAsAdmin(toDirectUrl, `create database "${name}" ${await getOptions(openCluster)}`)
  const db = openTestDatabase(toClientUrl(name))
  return {
    db,
    connection: toClientUrl(name),
    async drop() {
      await db.close()
      await runAsAdmin(toDirectUrl, `drop database "${name}" with (force)`)
      if (--openDatabaseCount > 0) return
      const openedCluster = await cluster
      cluster = undefined
      await openedCluster?.close()
    },
  }
}
