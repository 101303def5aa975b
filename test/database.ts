import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type Database, openDatabase } from '../src/db.ts'
import { migrate } from '../src/migrate.ts'
import { startPostgres } from '../src/postgres.ts'

/** A database of its own, migrated and empty. */
export interface FreshDatabase {
  db: Database
  /** What `pg` and `psql` reach it by. */
  connection: string | pg.ClientConfig
  /** Closes and removes it. */
  drop(): Promise<void>
}

const template = 'tillbridge_template'

/**
 * The PostgreSQL that the tests of this process run on: the one that TEST_DATABASE_URL names, else the bundled one in a
 * temporary directory. What is tested is durable for real; fsync is off here only because no test cuts the power.
 */
let cluster: Promise<{ at: (database: string) => string | pg.ClientConfig; stop: () => Promise<void> }> | undefined

async function openCluster() {
  const url = process.env.TEST_DATABASE_URL
  if (url) {
    const at = (database: string) => Object.assign(new URL(url), { pathname: `/${database}` }).href
    return { at, stop: async () => {} }
  }
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-test-'))
  const postgres = await startPostgres(directory, { settings: { fsync: 'off', max_connections: '100' } })
  return {
    at: (database: string) => ({ ...postgres.connection, database }),
    async stop() {
      await postgres.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

let templated: Promise<string> | undefined

/** The template is made once a process: cloning it takes some 20 ms, migrating anew much longer. */
async function makeTemplate() {
  cluster ??= openCluster()
  const { at } = await cluster
  const name = `${template}_${process.pid}`
  await asAdmin(at, `drop database if exists "${name}"`, `create database "${name}"`)
  const db = openDatabase(at(name), { max: 1 })
  await migrate(db)
  await db.close()
  return name
}

let open = 0

/** Clones a migrated, empty database. The cluster goes when the last one is dropped. */
export async function freshDatabase(): Promise<FreshDatabase> {
  open++
  templated ??= makeTemplate()
  const from = await templated
  const { at } = await (cluster ?? openCluster())
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await asAdmin(at, `create database "${name}" template "${from}"`)
  const db = openDatabase(at(name), { max: 10, statementTimeoutMs: 60_000, onFault: () => {} })
  return {
    db,
    connection: at(name),
    async drop() {
      await db.close()
      await asAdmin(at, `drop database "${name}" with (force)`)
      if (--open > 0) return
      await asAdmin(at, `drop database "${from}" with (force)`)
      const { stop } = await (cluster ?? openCluster())
      cluster = undefined
      templated = undefined
      await stop()
    },
  }
}

async function asAdmin(at: (database: string) => string | pg.ClientConfig, ...statements: string[]) {
  const connection = at('postgres')
  const client = new pg.Client(typeof connection === 'string' ? { connectionString: connection } : connection)
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
