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

/** A database of its own, migrated and empty. */
export interface TestDatabase {
  db: Database
  /** The URL for `pg` and `psql`. */
  connection: string
  /** Closes and removes it. */
  drop(): Promise<void>
}

/** The cluster of the whole run, or one of this file's own where it runs alone. */
let cluster: Promise<TestCluster> | undefined

function getRunCluster(): TestCluster | undefined {
  const { TEST_DATABASE_URL: url, TEST_DATABASE_TEMPLATE: template } = process.env
  if (!url || !template) return
  const at = createUrlBuilder(url)
  return { toDirectUrl: at, toClientUrl: toPoolerUrlBuilder(at), template, close: async () => {} }
}

/** Connections to a database of a test. */
export const openTestDatabase = (connection: string) =>
  openDatabase(connection, { max: 10, statementTimeoutMs: 60_000, onFault: () => {}, pooled: isPooled })

/** Returns the environment of a process that uses the same database. */
export const getDatabaseEnvironment = ({ connection }: Pick<TestDatabase, 'connection'>) => ({
  DATABASE_URL: connection,
  DATABASE_POOLER: isPooled ? 'transaction' : 'off',
})

let open = 0

/** Clones a migrated, empty database. A cluster of this file's own goes when the last one is dropped. */
export const createTestDatabase = () => createDatabase(({ template }) => `template "${template}" strategy file_copy`)

/** Makes a database in which there is nothing yet. */
export const createEmptyDatabase = () => createDatabase(() => '')

/** Makes a database; `made` says of what, as `create database` takes it. */
export async function createDatabase(
  getOptions: (cluster: TestCluster) => string | Promise<string>,
): Promise<TestDatabase> {
  open++
  cluster ??= Promise.resolve(getRunCluster() ?? openTestCluster())
  const openCluster = await cluster
  const { toDirectUrl: at, toClientUrl: through } = openCluster
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await runAsAdmin(at, `create database "${name}" ${await getOptions(openCluster)}`)
  const db = openTestDatabase(through(name))
  return {
    db,
    connection: through(name),
    async drop() {
      await db.close()
      await runAsAdmin(at, `drop database "${name}" with (force)`)
      if (--open > 0) return
      const last = await cluster
      cluster = undefined
      await last?.close()
    },
  }
}
