import type pg from 'pg'
import { lastHour, productRows, stores } from '../../scenarios/support/records.ts'
import { type Db, type Sql, sql } from '../../src/database/db.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { findCustomer, readCustomerPage } from '../../src/store/customers/customers.ts'
import { readStockPage } from '../../src/store/inventory/stock-records.ts'
import { readCommitWatermarks } from '../../src/store/lists/as-of.ts'
import { writeCursor } from '../../src/store/lists/cursor.ts'
import type { Page, PageEnd, PageRequest } from '../../src/store/lists/page.ts'
import { readTransactionPage } from '../../src/store/orders/transactions.ts'
import { type Loaded, serviceName } from './database.ts'

/** One request that is measured, and the statement behind it. */
export interface Scenario {
  name: string
  path: string
  /** The request's bytes. */
  request: string
  /** Records in a response. */
  records: number
  /** The statement that reads the records, as it is passed to the pool. */
  query: pg.QueryConfig
}

type Read = (db: Db, service: Service) => Promise<unknown>

const limit = 100
const { sku, skuId } = productRows[123]?.variant ?? { sku: '', skuId: '' }

export async function scenariosOf(loaded: Loaded): Promise<Scenario[]> {
  const { service, size } = loaded
  const customersFrom = (requested: PageRequest, updatedAfter?: string) => (db: Db, scope: Service) =>
    readCustomerPage(db, scope, { updatedAfter, ecommerceIds: true }, requested)
  const salesFrom = (requested: PageRequest, ascending: boolean) => (db: Db, scope: Service) =>
    readTransactionPage(db, scope, { ascending }, requested)
  const id = String(100_001 + Math.floor(size.customers / 2))

  const { asOf: newest } = (await customersFrom({ limit: 1 })(loaded.db, service)) as Page
  const lastCustomers = await lastStep(
    loaded,
    customersFrom({ limit }),
    sql`customer`,
    sql`changed_at desc, id desc`,
    sql`changed_at`,
  )
  const middleCustomers = await lastStep(
    loaded,
    customersFrom({ limit }),
    sql`customer`,
    sql`changed_at desc, id desc`,
    sql`changed_at`,
    Math.floor(size.customers / 2),
  )
  const lastSales = await lastStep(
    loaded,
    salesFrom({ limit }, false),
    sql`retail_transaction`,
    sql`sale_date, id`,
    sql`sale_date`,
  )
  const firstSales = await lastStep(
    loaded,
    salesFrom({ limit }, true),
    sql`retail_transaction`,
    sql`sale_date desc, id desc`,
    sql`sale_date`,
  )
  const customerList = '/customers/search'
  const saleList = '/orders/transactions/search'

  const scenario = async (name: string, path: string, records: number, read: Read): Promise<Scenario> => ({
    name,
    path,
    request: requestFor({ name: serviceName, password: loaded.password }, path),
    records,
    query: await lastQuery(loaded, read),
  })
  const deep = (
    name: string,
    list: string,
    filters: object,
    requested: PageRequest & { after: PageEnd; asOf: string },
    read: Read,
  ) => {
    const cursor = writeCursor({ service, list, filters, key: loaded.keys.cursors }, requested)
    const query = new URLSearchParams([...Object.entries(filters), ['after_cursor', cursor]] as [string, string][])
    return scenario(name, `${list}?${query}`, limit, read)
  }
  return [
    await scenario('customers, first page', customerList, limit, customersFrom({ limit })),
    await deep('customers, middle page', customerList, {}, middleCustomers, customersFrom(middleCustomers)),
    await deep('customers, deepest page', customerList, {}, lastCustomers, customersFrom(lastCustomers)),
    await scenario(
      'customers, updated_after the last hour',
      `${customerList}?updated_after=${lastHour}`,
      limit,
      customersFrom({ limit }, lastHour),
    ),
    await scenario('customers, poll without changes', `${customerList}?updated_after=${newest}`, 0, (db, scope) =>
      readCommitWatermarks(db, scope),
    ),
    await scenario('one customer', `/customers/${id}`, 1, (db, scope) => findCustomer(db, scope, id)),
    await scenario('inventory by SKU', `/inventory?sku=${sku}`, stores.length, (db, scope) =>
      readStockPage(db, scope, { skuId }, { limit }),
    ),
    await scenario('transactions, first page', saleList, limit, salesFrom({ limit }, false)),
    await deep('transactions, deepest page', saleList, {}, lastSales, salesFrom(lastSales, false)),
    await scenario('transactions, asc, first page', `${saleList}?asc=true`, limit, salesFrom({ limit }, true)),
    await deep('transactions, asc, deepest page', saleList, { asc: true }, firstSales, salesFrom(firstSales, true)),
  ]
}

/** Builds the bytes of a request for a path of a service. The account has the name of the service. */
export function requestFor({ name, password }: { name: string; password: string }, path: string) {
  const basic = Buffer.from(`${name}:${password}`).toString('base64')
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ${basic}\r\nX-Service-Name: ${name}\r\n\r\n`
}

/** Returns the page request for the last full page, or the one that ends `offset` records before the end, without reading the pages before it. */
async function lastStep(
  { db, service }: Loaded,
  first: (db: Db, service: Service) => Promise<Page>,
  table: Sql,
  backwards: Sql,
  order: Sql,
  offset = limit,
) {
  const { asOf } = await first(db, service)
  const before = await db.row<{ at: string; id: string }>(
    sql`select ${order}::text as at, id from ${table} where service_id = ${service.id} order by ${backwards} offset ${offset} limit 1`,
  )
  if (!before) throw new Error('There are fewer records than two pages.')
  return { limit, asOf, after: [before.at, before.id] as PageEnd }
}

/** Returns the last statement that `read` sends. */
async function lastQuery({ db, service }: Loaded, read: Read) {
  let last: pg.QueryConfig | undefined
  const captureQuery = (client: pg.PoolClient) => {
    const query = client.query
    client.query = ((config: pg.QueryConfig, done: () => void) => {
      last = config
      client.query = query
      return (query as (config: pg.QueryConfig, done: () => void) => unknown).call(client, config, done)
    }) as typeof query
  }
  db.pool.on('acquire', captureQuery)
  await read(db, service)
  db.pool.off('acquire', captureQuery)
  if (!last) throw new Error('Reading has sent no statement.')
  return last
}
