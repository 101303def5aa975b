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
import { type LoadedDatabase, serviceName } from './database.ts'

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

type ReadRecords = (db: Db, service: Service) => Promise<unknown>

const limit = 100
const { sku, skuId } = productRows[123]?.variant ?? { sku: '', skuId: '' }

/** Builds the measured requests. Reads some pages to find the cursors of deep pages. */
export async function buildScenarios(loaded: LoadedDatabase): Promise<Scenario[]> {
  const { service, size } = loaded
  const readCustomers = (pageRequest: PageRequest, updatedAfter?: string) => (db: Db, scope: Service) =>
    readCustomerPage(db, scope, { updatedAfter, ecommerceIds: true }, pageRequest)
  const readSales = (pageRequest: PageRequest, ascending: boolean) => (db: Db, scope: Service) =>
    readTransactionPage(db, scope, { ascending }, pageRequest)
  const id = String(100_001 + Math.floor(size.customers / 2))

  const { asOf: newest } = (await readCustomers({ limit: 1 })(loaded.db, service)) as Page
  const lastCustomers = await findLastPageRequest(
    loaded,
    readCustomers({ limit }),
    sql`customer`,
    sql`changed_at desc, id desc`,
    sql`changed_at`,
  )
  const middleCustomers = await findLastPageRequest(
    loaded,
    readCustomers({ limit }),
    sql`customer`,
    sql`changed_at desc, id desc`,
    sql`changed_at`,
    Math.floor(size.customers / 2),
  )
  const lastSales = await findLastPageRequest(
    loaded,
    readSales({ limit }, false),
    sql`retail_transaction`,
    sql`sale_date, id`,
    sql`sale_date`,
  )
  const firstSales = await findLastPageRequest(
    loaded,
    readSales({ limit }, true),
    sql`retail_transaction`,
    sql`sale_date desc, id desc`,
    sql`sale_date`,
  )
  const customerList = '/customers/search'
  const saleList = '/orders/transactions/search'

  const buildScenario = async (name: string, path: string, records: number, read: ReadRecords): Promise<Scenario> => ({
    name,
    path,
    request: buildRequest({ name: serviceName, password: loaded.password }, path),
    records,
    query: await captureLastQuery(loaded, read),
  })
  const buildDeepScenario = (
    name: string,
    list: string,
    filters: object,
    pageRequest: PageRequest & { after: PageEnd; asOf: string },
    read: ReadRecords,
  ) => {
    const cursor = writeCursor({ service, list, filters, key: loaded.keys.cursors }, pageRequest)
    const query = new URLSearchParams([...Object.entries(filters), ['after_cursor', cursor]] as [string, string][])
    return buildScenario(name, `${list}?${query}`, limit, read)
  }
  return [
    await buildScenario('customers, first page', customerList, limit, readCustomers({ limit })),
    await buildDeepScenario(
      'customers, middle page',
      customerList,
      {},
      middleCustomers,
      readCustomers(middleCustomers),
    ),
    await buildDeepScenario('customers, deepest page', customerList, {}, lastCustomers, readCustomers(lastCustomers)),
    await buildScenario(
      'customers, updated_after the last hour',
      `${customerList}?updated_after=${lastHour}`,
      limit,
      readCustomers({ limit }, lastHour),
    ),
    await buildScenario('customers, poll without changes', `${customerList}?updated_after=${newest}`, 0, (db, scope) =>
      readCommitWatermarks(db, scope),
    ),
    await buildScenario('one customer', `/customers/${id}`, 1, (db, scope) => findCustomer(db, scope, id)),
    await buildScenario('inventory by SKU', `/inventory?sku=${sku}`, stores.length, (db, scope) =>
      readStockPage(db, scope, { skuId }, { limit }),
    ),
    await buildScenario('transactions, first page', saleList, limit, readSales({ limit }, false)),
    await buildDeepScenario('transactions, deepest page', saleList, {}, lastSales, readSales(lastSales, false)),
    await buildScenario('transactions, asc, first page', `${saleList}?asc=true`, limit, readSales({ limit }, true)),
    await buildDeepScenario(
      'transactions, asc, deepest page',
      saleList,
      { asc: true },
      firstSales,
      readSales(firstSales, true),
    ),
  ]
}

/** Builds the bytes of a request for a path of a service. The account has the name of the service. */
export function buildRequest({ name, password }: { name: string; password: string }, path: string) {
  const basic = Buffer.from(`${name}:${password}`).toString('base64')
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ${basic}\r\nX-Service-Name: ${name}\r\n\r\n`
}

/** Returns the page request for the last full page, or the one that ends `offset` records before the end, without reading the pages before it. */
async function findLastPageRequest(
  { db, service }: LoadedDatabase,
  readFirstPage: (db: Db, service: Service) => Promise<Page>,
  table: Sql,
  backwards: Sql,
  order: Sql,
  offset = limit,
) {
  const { asOf } = await readFirstPage(db, service)
  const lastRow = await db.row<{ at: string; id: string }>(
    sql`select ${order}::text as at, id from ${table} where service_id = ${service.id} order by ${backwards} offset ${offset} limit 1`,
  )
  if (!lastRow) throw new Error('The list must have at least two pages of records.')
  return { limit, asOf, after: [lastRow.at, lastRow.id] as PageEnd }
}

/** Returns the last statement that `read` sends. */
async function captureLastQuery({ db, service }: LoadedDatabase, read: ReadRecords) {
  let last: pg.QueryConfig | undefined
  const captureQuery = (client: pg.PoolClient) => {
    const query = client.query
    client.query = ((config: pg.QueryConfig, callback: () => void) => {
      last = config
      client.query = query
      return (query as (config: pg.QueryConfig, done: () => void) => unknown).call(client, config, callback)
    }) as typeof query
  }
  db.pool.on('acquire', captureQuery)
  await read(db, service)
  db.pool.off('acquire', captureQuery)
  if (!last) throw new Error('The read sent no statement.')
  return last
}
