import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import {
  currency,
  customers,
  type GeneratedTable,
  generateSampleTransactions,
  productRows,
  stockRows,
  stores,
  transactions,
} from '../../scenarios/support/records.ts'
import { deriveKeys, type Keys, loadOrCreateSecret } from '../../src/crypto/keys.ts'
import { type Database, openDatabase, raw, sql } from '../../src/database/db.ts'
import { migrate } from '../../src/database/migrate.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { type Postgres, startPostgres } from '../../src/postgres/postgres.ts'
import { addAccount, addPassword } from '../../src/store/accounts/accounts.ts'
import { upsertProducts } from '../../src/store/catalog/products.ts'
import { upsertStores } from '../../src/store/catalog/stores.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { upsertStock } from '../../src/store/inventory/stock.ts'
import { upsertTransactions } from '../../src/store/orders/transactions.ts'
import { addService, listServices } from '../../src/store/tenancy/services.ts'
import { formatWhole } from './report.ts'

/** Number of records of the bench's service. */
export interface Size {
  customers: number
  transactions: number
}

/** A database with the bench's service and all its records. */
export interface LoadedDatabase {
  size: Size
  db: Database
  service: Service
  connection: pg.ClientConfig
  /** The connection as a URL, for `DATABASE_URL`. */
  url: string
  keys: Keys
  password: string
}

export const serviceName = 'bench'

export interface Cluster {
  postgres: Postgres
  /** Opens the database with this many records. Creates and fills it if it doesn't exist. */
  open(size: Size): Promise<LoadedDatabase>
  stop(): Promise<void>
}

/** Starts the bundled PostgreSQL as in production, under `directory`. Its data stays there for the next run. */
export async function openCluster(directory: string, say: (line: string) => void): Promise<Cluster> {
  await mkdir(directory, { recursive: true, mode: 0o711 })
  const postgres = await startPostgres(join(directory, 'postgres'), {
    onNotice: say,
    // Each client of pgbench has its own connection.
    settings: { max_connections: '300' },
  })
  const keys = deriveKeys(await loadOrCreateSecret(join(directory, 'secret')))
  const openDatabases: LoadedDatabase[] = []
  return {
    postgres,
    async open(size) {
      const existing = openDatabases.find(
        ({ size: { customers: loadedCustomers, transactions: loadedTransactions } }) =>
          loadedCustomers === size.customers && loadedTransactions === size.transactions,
      )
      if (existing) return existing
      const database = `bench_${size.customers}_${size.transactions}`
      const connection = { ...postgres.connection, database }
      await createDatabase(postgres.connection, database)
      const db = openDatabase(connection, { statementTimeoutMs: 0 })
      await migrate(db)
      const service =
        (await listServices(db)).find(({ name }) => name === serviceName) ??
        (await loadRecords(db, directory, size, say))
      const password =
        (await addAccount(db, keys, serviceName, service, 'visitor')) ?? (await addPassword(db, keys, serviceName))
      const url = `postgres://${connection.user}@${encodeURIComponent(connection.host)}:${connection.port}/${database}`
      const loaded = { size, db, service, connection, url, keys, password }
      openDatabases.push(loaded)
      return loaded
    },
    async stop() {
      for (const { db } of openDatabases) await db.close()
      await postgres.stop()
    },
  }
}

async function createDatabase(connection: pg.ClientConfig, name: string) {
  const client = new pg.Client(connection)
  await client.connect()
  const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
  if (!rowCount) await client.query(`create database ${name}`)
  await client.end()
}

/** Fills a service with another name and renames it when it is complete, so that an interrupted load starts again. */
async function loadRecords(db: Database, directory: string, size: Size, say: (line: string) => void): Promise<Service> {
  await db.run(sql`truncate service cascade`)
  const service = await addService(db, 'loading', { currency, readsPerMinute: 'off', oversell: 'allow' })
  if (!service) throw new Error('the service loading already exists')
  say(`Loading ${formatWhole(size.customers)} customers and ${formatWhole(size.transactions)} transactions, once.`)
  await upsertStores(db, service, stores)
  await upsertProducts(db, service, productRows)
  await upsertStock(db, service, stockRows)
  await copyRecords(db, service, directory, customers, size.customers, say)
  await copyRecords(db, service, directory, transactions, size.transactions, say)
  await verify(db, service, size)
  await db.run(sql`vacuum (analyze)`)
  await db.run(sql`checkpoint`)
  await db.run(sql`update service set name = ${serviceName}`)
  return { ...service, name: serviceName }
}

const chunk = 100_000

/** Copies records from files that the server reads. Writes the next file while the server reads one. */
async function copyRecords(
  db: Database,
  service: Service,
  directory: string,
  from: GeneratedTable,
  total: number,
  say: (line: string) => void,
) {
  const rows = from.rows(service.id, total)[Symbol.iterator]()
  let copying: Promise<unknown> = Promise.resolve()
  for (let done = 0; done < total; done += chunk) {
    const file = join(directory, `${from.table}-${(done / chunk) % 2}.copy`)
    const size = Math.min(chunk, total - done)
    await writeRows(file, rows, size)
    await copying
    copying = db
      .run(raw(`copy ${from.table} (${from.columns.join(', ')}) from ${pg.escapeLiteral(file)}`))
      .finally(() => rm(file))
    copying.then(
      () => say(`  ${from.table}: ${formatWhole(done + size)} of ${formatWhole(total)}`),
      () => {},
    )
  }
  await copying
}

async function writeRows(file: string, rows: Iterator<readonly unknown[]>, size: number) {
  // The operating system user of the server must be able to read the file.
  const out = createWriteStream(file, { mode: 0o644, highWaterMark: 1 << 20 })
  for (let i = 0; i < size; i++) {
    const { value } = rows.next() as { value: readonly unknown[] }
    if (!out.write(`${value.map(formatCopyValue).join('\t')}\n`)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
}

/** Formats a value for COPY's text format. The values of the bench contain no tabs and no line ends. */
const formatCopyValue = (value: unknown) => (value === null ? '\\N' : String(value).replaceAll('\\', '\\\\'))

/** Checks the copied rows: if the store merges some of them again, nothing must change. */
async function verify(db: Database, service: Service, size: Size) {
  const sampleRows = await db.rows(sql`
    select to_jsonb(c) - '{changed_at,record,ecommerce_ids}'::text[] as row from customer c where service_id = ${service.id} order by id limit 1000`)
  const merges = [
    await upsertCustomers(
      db,
      service,
      sampleRows.map(({ row }: { row?: object }) => row ?? {}),
    ),
    await upsertTransactions(db, service, generateSampleTransactions(1_000, size.transactions)),
  ]
  if (merges.some(({ inserted, changed }) => inserted || changed))
    throw new Error('The generated records differ from those that the store writes for the same rows.')
}
