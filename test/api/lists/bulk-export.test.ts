import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { gunzip, zstdDecompress } from 'node:zlib'
import { sql } from '../../../src/database/db.ts'
import { raiseAlert } from '../../../src/store/alerts/alerts.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { cloneDemoDatabase } from '../../support/demo/demo-database.ts'
import { addLogEntries } from '../../support/postgres/log-entries.ts'
import { assertProblem } from '../../support/problem.ts'
import { startTestApi } from '../../support/service.ts'
import { ndjson, parseRecords, startBulkExport } from './export-stream.ts'

const api = await startTestApi({ database: await cloneDemoDatabase() })
after(() => api.stop())

const startExport = (path: string, headers: Record<string, string> = {}) =>
  startBulkExport({ at: api, caller: api, path, headers })

/** Reads all pages of a list. Returns their records, `asOf` and the last cursor. */
async function readPages(path: string, limit = 100) {
  // biome-ignore lint/suspicious/noExplicitAny: records of any list
  const records: any[] = []
  const readPage = async (afterCursor: string) =>
    (await api.get(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${afterCursor}`)).json
  let page = await readPage('')
  for (;;) {
    records.push(...page.data)
    if (!page.meta.hasNextPage) return { records, asOf: page.meta.asOf as string, endCursor: page.meta.endCursor }
    page = await readPage(`&after_cursor=${page.meta.endCursor}`)
  }
}

const [customer] = (await api.get('/customers/search?limit=1')).json.data
const [product] = (await api.get('/products?limit=1')).json.data
const sku = product.colours[0].sizes[0].ecommerceSku
// The demo's sales end on 31 October.
const recent = '2026-09-01'
const [{ customerId: buyer }] = (await api.get(`/orders/transactions/search?sold_after=${recent}`)).json.data.filter(
  (sale: { customerId: string | null }) => sale.customerId,
)

const { id: serviceId } = api.service
for (const subject of ['stock', 'stores'])
  await raiseAlert(api.db, serviceId, { kind: 'sync_failing', subject, detail: '500' })
for (const name of ['first', 'second']) {
  const { rows } = api.db
  await rows(
    sql`insert into sync_run (service_id, sync, is_full, ended_at) values (${serviceId}, 'stock', true, now())`,
  )
  await rows(sql`
    insert into mapping_fix (service_id, kind, record_id, before, after, username, request_id)
    values (${serviceId}, 'stores', ${name}, '{}', '{}', 'ann', ${name})`)
  await addLogEntries(api.db, api.service, [
    { requestId: name, username: 'ann', operation: 'GET /tour', path: '/tour' },
  ])
}

for (const path of [
  '/stores',
  '/staff',
  '/inventory',
  `/inventory?sku=${sku}`,
  `/inventory?sku=${sku}&updated_after=2000-01-01`,
  '/products',
  `/products?code=${product.productCode}`,
  '/products?updated_after=2000-01-01&removed=true',
  '/customers/search',
  '/customers/search?updated_after=2024-05-10',
  `/customers?email=${encodeURIComponent(customer.contact.email)}`,
  '/customers?updated_after=2024-05-10',
  `/orders/transactions/search?updated_after=${recent}`,
  `/orders/transactions/search?asc=true&sold_after=${recent}`,
  `/orders/transactions/search?asc=true&sold_after=${recent}&updated_after=${recent}`,
  `/orders/transactions/search?asc=false&sold_after=${recent}`,
  '/accounts',
  '/audit',
  '/webhooks',
  '/mappings/stores',
  '/mappings/skus?state=mapped',
  '/mappings/customers',
])
  test(`the bulk export of ${path} equals its pages`, async () => {
    const { records, asOf } = await readPages(path)
    const bulkExport = await startExport(path)
    assert.deepEqual(
      [
        bulkExport.status,
        bulkExport.headers['content-type'],
        bulkExport.headers['x-as-of'],
        bulkExport.headers['x-time-zone'],
      ],
      [200, ndjson, asOf, api.service.settings.timeZone],
    )
    assert.deepEqual(await bulkExport.readRecords(), records)
  })

for (const path of [
  `/orders/transactions/search?sold_after=${recent}`,
  `/customers/${buyer}/transactions`,
  '/requests?account=ann',
  '/alerts',
  '/syncs/stock/runs',
  '/mappings/fixes',
])
  test(`the bulk export of ${path} is ordered oldest first, unlike its pages`, async () => {
    const { records } = await readPages(path)
    assert.ok(records.length > 1)
    assert.deepEqual(await (await startExport(path)).readRecords(), records.reverse())
  })

for (const query of ['&kinds=store,product,staff,reward-account', '&kinds=customer,store'])
  test(`the bulk export of all changes${query} equals its pages and can resume`, async () => {
    const path = `/changes?records=true${query}`
    const { records, asOf, endCursor } = await readPages(path, 1_000)
    const bulkExport = await startExport(path)
    assert.deepEqual(
      [bulkExport.status, bulkExport.headers['x-as-of'], bulkExport.headers['x-end-cursor']],
      [200, asOf, endCursor],
    )
    assert.deepEqual(await bulkExport.readRecords(), records)
    const { json } = await api.get(`${path}&after_cursor=${bulkExport.headers['x-end-cursor']}`)
    assert.deepEqual(json.data, [])
  })

test('the bulk export of an empty list has no lines', async () => {
  const bulkExport = await startExport('/staff?code=nobody')
  assert.deepEqual([bulkExport.status, await bulkExport.readRecords()], [200, []])
})

test('a bulk export is compressed only on request, with gzip or zstd', async () => {
  const plain = await buffer((await startExport('/customers/search')).body)
  for (const [acceptEncoding, encoding, decompress] of [
    ['gzip', 'gzip', promisify(gunzip)],
    ['zstd', 'zstd', promisify(zstdDecompress)],
    ['gzip, deflate, br, zstd', 'zstd', promisify(zstdDecompress)],
    ['gzip;q=1.0, zstd;q=0.5', 'gzip', promisify(gunzip)],
  ] as const) {
    const bulkExport = await startExport('/customers/search', { 'accept-encoding': acceptEncoding })
    assert.equal(bulkExport.headers['content-encoding'], encoding, acceptEncoding)
    assert.deepEqual(await decompress(await buffer(bulkExport.body)), plain, acceptEncoding)
  }
  for (const acceptEncoding of ['identity', 'br', '*', 'gzip;q=0'])
    assert.equal(
      (await startExport('/staff', { 'accept-encoding': acceptEncoding })).headers['content-encoding'],
      undefined,
      acceptEncoding,
    )
  const page = await api.get('/customers/search', { 'accept-encoding': 'gzip, zstd' })
  assert.deepEqual([page.headers['content-encoding'], page.json.data.length], [undefined, 100])
})

test('`limit`, `after_cursor` and `wait` are rejected for a bulk export', async () => {
  const { endCursor } = (await api.get('/customers/search')).json.meta
  const acceptEncoding = { accept: ndjson }
  for (const [path, parameter] of [
    ['/customers/search?limit=100', 'limit'],
    [`/customers/search?after_cursor=${endCursor}`, 'after_cursor'],
    ['/changes?limit=1000', 'limit'],
    ['/changes?wait=3', 'wait'],
  ] as const) {
    const response = await api.get(path, acceptEncoding)
    assertProblem(response, 'invalid_parameter', api.baseUrl, path)
    assert.deepEqual(
      response.json.errors.map((error: { parameter: string }) => error.parameter),
      [parameter],
    )
  }
  assertProblem(await api.get('/inventory?sku=none', acceptEncoding), 'not_found', api.baseUrl)
})

test('a client that accepts both gets a page unless it prefers NDJSON', async () => {
  for (const [accept, type] of [
    ['application/json, application/x-ndjson', 'application/json; charset=utf-8'],
    ['application/*', 'application/json; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
    ['application/json;q=0.5, application/x-ndjson', ndjson],
    ['application/x-ndjson, */*;q=0.1', ndjson],
  ] as const)
    assert.equal(
      (await api.request('/stores', { method: 'HEAD', headers: { accept } })).headers['content-type'],
      type,
      accept,
    )
  for (const [path, accept] of [
    ['/stores', 'application/x-ndjson;q=0'],
    ['/stores', 'text/csv'],
    ['/capabilities', ndjson],
    [`/customers/${customer.id}`, ndjson],
  ] as const)
    assertProblem(await api.get(path, { accept }), 'not_acceptable', api.baseUrl)
})

test('a bulk export sends warnings and head metadata as headers', async () => {
  const old = await api.createService({ backOfficeVersion: '2021.3' })
  const path = '/customers?updated_after=2024-05-10'
  const page = await old.get(path)
  const bulkExport = await startBulkExport({ at: api, caller: old, path })
  assert.deepEqual(JSON.parse(bulkExport.headers['x-warnings']), page.json.meta.warnings)
  assert.deepEqual(await bulkExport.readRecords(), [])
  const head = await api.request('/customers/search', { method: 'HEAD', headers: { accept: ndjson } })
  assert.deepEqual([head.status, head.headers['content-type'], head.text], [200, ndjson, ''])
  assert.match(String(head.headers['x-as-of']), /^\d{4}-.*Z$/)
})

test('a record is always one line, whatever it contains', async () => {
  const firstname = 'Zoë "Q" \\ \u2028 O’Hara 🛒'
  await upsertCustomers(api.db, api.service, [{ id: 'zoe', firstname, surname: 'line\nbreak' }])
  const last = parseRecords((await buffer((await startExport('/customers/search')).body)).toString()).at(-1)
  assert.deepEqual([last.id, last.firstname, last.surname], ['zoe', firstname, 'line\nbreak'])
})
