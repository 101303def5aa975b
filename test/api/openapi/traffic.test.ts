import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { connect } from 'node:tls'
import { sampleVoucher } from '../../../seed/vouchers.ts'
import { sql } from '../../../src/database/db.ts'
import { type ErrorCode, errorCodes } from '../../../src/errors/api-error.ts'
import type { Node } from '../../support/conformance.ts'
import type { TestApi, TestResponse } from '../../support/service.ts'
import { startTraffic, type Traffic } from './traffic.ts'
import { testChanges } from './traffic-changes.ts'
import { testConfiguration } from './traffic-configuration.ts'
import { testOperations } from './traffic-operations.ts'
import { testWebhooks } from './traffic-webhooks.ts'
import { testWrites } from './traffic-writes.ts'

let traffic: Traffic
let api: TestApi
let get: Traffic['get']
let getWithoutCredentials: Traffic['getWithoutCredentials']
let assertRejected: Traffic['assertRejected']

before(async () => {
  traffic = await startTraffic()
  api = traffic.api
  get = traffic.get
  getWithoutCredentials = traffic.getWithoutCredentials
  assertRejected = traffic.assertRejected
})

after(() => api.stop())

test('pages, bulk exports and filtered lists match the document', async () => {
  const lists = ['/stores', '/staff', '/inventory', '/products', '/customers/search', '/orders/transactions/search']
  for (const path of lists) {
    const { json } = await get(`${path}?limit=25`)
    assert.equal(json.data.length > 0, true, path)
    const next = await get(`${path}?limit=100&after_cursor=${json.meta.endCursor}`)
    assert.deepEqual([next.status, next.json.meta.asOf], [200, json.meta.asOf])
    await get(path)
  }
  const [customer] = (await get('/customers/search?limit=1')).json.data
  const [product] = (await get('/products?limit=1')).json.data
  await get(`/customers?email=${encodeURIComponent(customer.contact.email)}`)
  await get('/customers?updated_after=2024-05-10')
  await get('/orders/transactions/search?asc=true&limit=100&updated_after=2024-05-10T09:30&updated_before=2099-01-01')
  await get(`/products?code=${product.productCode}`)
  await get(`/inventory?sku=${product.colours[0].sizes[0].ecommerceSku}`)
  await get(`/customers/${customer.id}/transactions`)
  const empty = await get('/staff?code=nobody')
  assert.deepEqual([empty.json.data, empty.json.meta.endCursor], [[], null])
})

test('records and 304 responses match the document', async () => {
  const getFirst = async (path: string) => (await get(`${path}?limit=1`)).json.data[0]
  const { rows } = await api.db.pool.query('select id, customer_id from reward_account limit 20')
  const paths = [
    `/stores/${(await getFirst('/stores')).storeNumber}`,
    `/staff/${(await getFirst('/staff')).id}`,
    `/products/${(await getFirst('/products')).id}`,
    `/customers/${(await getFirst('/customers/search')).id}`,
    `/inventory/${(await getFirst('/inventory')).id}`,
    `/transactions/${(await getFirst('/orders/transactions/search')).id}`,
    ...rows.flatMap(row => [`/rewards/accounts/${row.id}`, `/customers/${row.customer_id}/rewards`]),
  ]
  for (const path of paths) {
    const response = await get(path)
    assert.equal(response.status, 200, path)
    const again = await get(path, { 'if-none-match': response.headers.etag })
    assert.deepEqual([again.status, again.text], [304, ''], path)
  }
  await get('/rewards/programs')
  await get('/payment-gateways')
  await get('/capabilities')
  await get('/me')
  await get('/health')
  for (const query of ['Smith', 'HOOD', '65432', 'example']) await get(`/search?q=${query}`)
  await get('/browse?table=orders')
  await get('/me/deprecations')
  await get('/settings')
  await get(`/vouchers/${sampleVoucher.number}`, { 'x-voucher-pin': sampleVoucher.pin })
})

test('public pages match the document', async () => {
  for (const path of ['/health/live', '/health/ready', '/openapi.json', '/docs', '/changelog'])
    assert.equal((await getWithoutCredentials(path)).status, 200, path)
  for (const code of Object.keys(errorCodes))
    assert.equal((await getWithoutCredentials(`/errors/${code}`)).status, 200, code)
  await getWithoutCredentials('/errors/not_found', { accept: 'text/markdown' })
  await assertRejected('not_found', getWithoutCredentials('/errors/none'))
  await assertRejected('https_required', getWithoutCredentials('/health/live', { 'x-forwarded-proto': 'http' }))
})

test('errors of a request match the document', async () => {
  await assertRejected('invalid_parameter', get('/stores?limit=0&limits=5'))
  await assertRejected('invalid_parameter', get('/stores/1?limit=5'))
  await assertRejected('invalid_cursor', get('/stores?after_cursor=AAAA'))
  await assertRejected('invalid_timestamp', get('/products?updated_after=2023-02-30'))
  await assertRejected(
    'date_range_inverted',
    get('/orders/transactions/search?updated_after=2024-02-02&updated_before=2024-02-01'),
  )
  await assertRejected('not_found', get('/inventory?sku=none'))
  await assertRejected('not_found', get('/customers/none'))
  await assertRejected('voucher_not_accepted', get('/vouchers/1', { 'x-voucher-pin': '000000' }))
  await assertRejected('duplicate_header', get('/stores', { 'x-service-name': [api.service.name, api.service.name] }))
  await assertRejected('uri_too_long', get(`/stores?ecommerce_location_id=${'1'.repeat(9_000)}`))
  await assertRejected('headers_too_large', get('/stores', { 'x-filler': '1'.repeat(17_000) }))
  const manyHeaders = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`x-${i}`, '1']))
  await assertRejected('headers_too_large', get('/stores', manyHeaders))
  await assertRejected('not_acceptable', get('/stores', { accept: 'text/html' }))
  await assertRejected('expectation_failed', get('/stores', { expect: 'tea' }))
  await assertRejected('malformed_request', traffic.checkResponse('GET', '/stores', sendMalformedBytes()))
})

test('errors for missing, wrong and insufficient credentials match the document', async () => {
  const visitor = await api.createAccount('visitor')
  await assertRejected('invalid_credentials', getWithoutCredentials('/stores'))
  const session = { authorization: undefined, cookie: '__Host-tillbridge=ended' }
  await assertRejected('session_ended', get('/stores', session))
  await assertRejected(
    'cross_origin_request',
    traffic.post('/customers', {}, { ...session, 'sec-fetch-site': 'cross-site' } as never),
  )
  await assertRejected('service_name_required', get('/stores', { 'x-service-name': undefined }))
  await assertRejected('service_not_assigned', get('/stores', { 'x-service-name': 'none' }))
  await assertRejected('https_required', get('/stores', { 'x-forwarded-proto': 'http' }))
  await assertRejected('insufficient_role', get('/settings', {}, visitor))
  const wrong = { authorization: `Basic ${btoa('guest:guess')}` }
  for (let i = 0; i < 20; i++) await assertRejected('invalid_credentials', get('/stores', wrong))
  await assertRejected('too_many_failures', get('/stores', wrong))
})

test('missing capabilities and insufficient permissions match the document', async () => {
  const old = await api.createService({ backOfficeVersion: '2021.3' })
  const { json } = await get('/customers?updated_after=2024-05-10', {}, old)
  assert.equal(json.meta.warnings[0].code, 'capability_unavailable')
  await assertRejected(
    'capability_unavailable',
    get('/customers?updated_after=2024-05-10', { prefer: 'handling=strict' }, old),
  )
  const rateLimited = await api.createService({ readsPerMinute: 1 })
  await get('/stores', {}, rateLimited)
  await assertRejected('rate_limited', get('/stores', {}, rateLimited))
  const unlimited = await api.createService({ readsPerMinute: 'off' })
  assert.equal((await get('/stores', {}, unlimited)).headers.ratelimit, undefined)
})

testChanges(() => traffic)
testWrites(() => traffic)
testConfiguration(() => traffic)
testWebhooks(() => traffic)
testOperations(() => traffic)

test('internal errors and database outages match the document', async () => {
  await api.db.run(sql`alter table payment_gateway rename to elsewhere`)
  await assertRejected('internal_error', get('/payment-gateways'))
  await api.db.run(sql`alter table elsewhere rename to payment_gateway`)
  const { pool } = api.db
  const connections = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()))
  const [ready] = await Promise.all([
    getWithoutCredentials('/health/ready'),
    assertRejected('service_unavailable', get('/payment-gateways')),
  ])
  for (const client of connections) client.release()
  assert.equal(ready.status, 503)
})

test('an unknown path or method returns a problem document', async () => {
  for (const [method, path, code] of [
    ['POST', '/stores', 'method_not_allowed'],
    ['GET', '/nowhere', 'not_found'],
  ] as const) {
    const response = await api.request(path, { method })
    // The document doesn't have this operation, so its response is checked like an error of another operation.
    assert.deepEqual(
      traffic
        .check('GET', '/errors/none', { ...response, status: 404 })
        .errors.filter(error => !/^(allow|method_not_allowed)/.test(error)),
      [],
    )
    assert.equal(response.json.code, code)
  }
})

test('the check detects a response that differs from the document', async () => {
  const response = await api.get('/stores?limit=1')
  const deviations: [Partial<TestResponse>, RegExp][] = [
    [{ status: 418 }, /418 is not documented/],
    [{ headers: { ...response.headers, 'content-type': 'text/plain' } }, /text\/plain is not documented/],
    [{ headers: { ...response.headers, 'cache-control': 'public' } }, /cache-control: the value must be equal/],
    [{ headers: { ...response.headers, 'x-powered-by': 'us' } }, /x-powered-by is not documented/],
    [
      { json: { ...response.json, data: [{ ...response.json.data[0], storeNumber: 8 }] } },
      /storeNumber must be string/,
    ],
    [
      { json: { ...response.json, data: [{ ...response.json.data[0], safe: '1' }] } },
      /must NOT have additional properties/,
    ],
    [{ json: { data: response.json.data } }, /must have required property 'meta'/],
  ]
  for (const [change, error] of deviations)
    assert.match(traffic.check('GET', '/stores', { ...response, ...change }).errors.join(), error)
})

/** Error codes that this file doesn't cause, and the tests that cause them. */
const codesInOtherTests: Partial<Record<ErrorCode, string>> = {
  account_managed_by_provider: '../../console/identity-provider.test.ts',
  coupon_locked: '../../apparel21/writes/coupons.test.ts',
  coupon_unusable: '../../apparel21/writes/coupons.test.ts',
  insufficient_stock: '../orders/oversell.test.ts',
  identity_provider_unavailable: '../../console/identity-provider.test.ts',
  method_not_allowed: '../requests/methods.test.ts',
  request_timeout: '../requests/slow-clients.test.ts',
  second_factor_required: '../../console/second-factor.test.ts',
  sign_in_failed: '../../console/identity-provider.test.ts',
}
/** Operations that need another back office or an e-commerce platform, and the tests that use them. */
const operationsInOtherTests: Record<string, string> = {
  validateCoupon: '../../apparel21/writes/coupons.test.ts',
  reserveCoupon: '../../apparel21/writes/coupons.test.ts',
  releaseCoupon: '../../apparel21/writes/coupons.test.ts',
  getEcommerce: '../../ecommerce/stock-push.test.ts',
  startReconciliation: '../../ecommerce/stock-push.test.ts',
  listReconciliations: '../../ecommerce/api.test.ts',
  listStockDrift: '../../ecommerce/api.test.ts',
  listStockLevels: '../../ecommerce/api.test.ts',
  pushStock: '../../ecommerce/api.test.ts',
}
/** Errors that only an external back office can cause. */
const codesOfOtherDrivers: ErrorCode[] = ['back_office_error', 'back_office_unavailable']

test('the traffic covered every operation and every testable error', async () => {
  const successful = new Set(
    traffic.exchanges.filter(({ response }) => response.status < 300).map(({ operation }) => operation),
  )
  const operations = Object.values<Node>(traffic.document.paths).flatMap(path =>
    Object.values<Node>(path).map(operation => operation.operationId),
  )
  assert.deepEqual(
    operations.filter(operation => !successful.has(operation)),
    Object.keys(operationsInOtherTests),
  )

  const seenCodes = new Set(traffic.exchanges.map(({ response }) => response.json?.code))
  const missingCodes = Object.keys(errorCodes).filter(code => !seenCodes.has(code))
  assert.deepEqual(missingCodes.sort(), [...Object.keys(codesInOtherTests), ...codesOfOtherDrivers].sort())
  for (const [code, file] of Object.entries(codesInOtherTests))
    assert.match(await readFile(new URL(file, import.meta.url), 'utf8'), new RegExp(code), file)
  assert.ok(traffic.exchanges.length > 220, `${traffic.exchanges.length} exchanges`)
})

/** Returns the response to bytes that aren't an HTTP request. */
function sendMalformedBytes() {
  const { port } = new URL(api.baseUrl)
  return new Promise<TestResponse>((resolve, reject) => {
    const socket = connect({ host: 'localhost', port: Number(port), ca: api.ca }, () => socket.write('HELLO\r\n\r\n'))
    let received = ''
    socket.setEncoding('utf8').on('data', chunk => (received += chunk))
    socket.on('error', reject)
    socket.on('end', () => {
      socket.destroy()
      const [head = '', text = ''] = received.split('\r\n\r\n')
      const [status = '', ...lines] = head.split('\r\n')
      const headers = Object.fromEntries(lines.map(line => line.split(': ')))
      resolve({ status: Number(status.split(' ')[1]), headers, text, json: JSON.parse(text) })
    })
  })
}
