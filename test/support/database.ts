import { randomUUID } from 'node:crypto'
import { type Database, openDatabase } from '../../src/database/db.ts'
import { addressesAt, asAdmin, isPooled, openTestCluster, type TestCluster, throughPooler } from './cluster.ts'

/** A database of its own, migrated and empty. */
export interface FreshDatabase {
  db: Database
  /** What `pg` and `psql` reach it by. */
  connection: string
  /** Closes and removes it. */
  drop(): Promise<void>
}

/** The cluster of the whole run, or one of this file's own where it runs alone. */
let cluster: Promise<TestCluster> | undefined

function clusterOfTheRun(): TestCluster | undefined {
  const { TEST_DATABASE_URL: url, TEST_DATABASE_TEMPLATE: template } = process.env
  if (!url || !template) return
  const at = addressesAt(url)
  return { at, through: throughPooler(at), template, close: async () => {} }
}

/** Connections to a database of a test. */
export const openTestDatabase = (connection: string) =>
  openDatabase(connection, { max: 10, statementTimeoutMs: 60_000, onFault: () => {}, pooled: isPooled })

/** What a process of its own is set to, to reach the same database. */
export const reaching = ({ connection }: Pick<FreshDatabase, 'connection'>) => ({
  DATABASE_URL: connection,
  DATABASE_POOLER: isPooled ? 'transaction' : 'off',
})

let open = 0

/** Clones a migrated, empty database. A cluster of this file's own goes when the last one is dropped. */
export const freshDatabase = () => makeDatabase(({ template }) => `template "${template}" strategy file_copy`)

/** Makes a database in which there is nothing yet. */
export const emptyDatabase = () => makeDatabase(() => '')

/** Makes a database; `made` says of what, as `create database` takes it. */
export async function makeDatabase(made: (cluster: TestCluster) => string | Promise<string>): Promise<FreshDatabase> {
  open++
  cluster ??= Promise.resolve(clusterOfTheRun() ?? openTestCluster())
  const there = await cluster
  const { at, through } = there
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await asAdmin(at, `create database "${name}" ${await made(there)}`)
  const db = openTestDatabase(through(name))
  return {
    db,
    connection: through(name),
    async drop() {
      await db.close()
      await asAdmin(at, `drop database "${name}" with (force)`)
      if (--open > 0) return
      const last = await cluster
      cluster = undefined
      await last?.close()
    },
  }
}
