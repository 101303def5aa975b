import pg from 'pg'
import { demoSettings, fillDemoShop } from '../../../seed/shop.ts'
import { deriveKeys } from '../../../src/crypto/keys.ts'
import { type Database, openDatabase, raw } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { addService, listServices } from '../../../src/store/tenancy/services.ts'
import { getDemoDatabaseNames, runAsAdmin, type TestCluster } from '../cluster.ts'
import { createDatabase, type TestDatabase } from '../database.ts'

/** A database with the demo shop, which has no read limit, and the secret that it was created with. */
export interface DemoDatabase extends TestDatabase {
  secret: string
  service: Service
}

const secret = 'de30'.repeat(16)

/** Clones the demo shop. Filling it takes about 10 s of CPU, so the first test file that needs it fills a template for the whole run. */
export const cloneDemoDatabase = () => cloneTemplate(({ template }) => getDemoDatabaseNames(template).whole)

/** Clones a demo shop with only 300 sales and 300 stock levels. */
export const cloneSmallDemoDatabase = () => cloneTemplate(({ template }) => getDemoDatabaseNames(template).small)

async function cloneTemplate(getTemplateName: (cluster: TestCluster) => string): Promise<DemoDatabase> {
  const database = await createDatabase(async cluster => {
    await createTemplatesOnce(cluster)
    return `template "${getTemplateName(cluster)}" strategy file_copy`
  })
  const [service] = await listServices(database.db)
  if (!service) throw new Error('the demo shop is missing')
  return { ...database, secret, service }
}

async function createTemplatesOnce({ toDirectUrl, template }: TestCluster) {
  const { draft, small, whole } = getDemoDatabaseNames(template)
  const client = new pg.Client({ connectionString: toDirectUrl('postgres') })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock(hashtext($1))', [whole])
    if ((await client.query('select from pg_database where datname = $1', [whole])).rowCount) return
    await runAsAdmin(toDirectUrl, `drop database if exists "${draft}"`, `drop database if exists "${small}"`)
    await runAsAdmin(toDirectUrl, `create database "${draft}" template "${template}"`)
    await withDatabase(toDirectUrl(draft), fill)
    await runAsAdmin(toDirectUrl, `create database "${small}" template "${draft}" strategy file_copy`)
    await withDatabase(toDirectUrl(small), deleteMostRows)
    // A database has this name only when it and the small one are complete.
    await runAsAdmin(toDirectUrl, `alter database "${draft}" rename to "${whole}"`)
  } finally {
    await client.end()
  }
}

async function withDatabase(connection: string, work: (db: Database) => Promise<unknown>) {
  const db = openDatabase(connection, { statementTimeoutMs: 60_000 })
  try {
    await work(db)
  } finally {
    await db.close()
  }
}

async function fill(db: Database) {
  const service = await addService(db, 'demo', { ...demoSettings, readsPerMinute: 'off' })
  if (service) await fillDemoShop(db, deriveKeys(secret), service)
}

async function deleteMostRows(db: Database) {
  for (const [table, key] of [
    ['retail_transaction', 'id'],
    ['stock', "store_id || '-' || sku_id"],
  ])
    await db.run(
      raw(`delete from ${table} where ${key} not in (select ${key} from ${table} order by md5(${key}) limit 300)`),
    )
  await db.run(raw('vacuum (full, analyze) retail_transaction, stock'))
}
