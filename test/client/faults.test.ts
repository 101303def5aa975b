import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import {
  type AccessError,
  type ConflictError,
  OutcomeUnknownError,
  responseMeta,
  TooManyError,
  tillbridge,
  UnavailableError,
} from '../../client/src/index.ts'
import { sql } from '../../src/database/db.ts'
import { buildOrder, fillShop } from '../support/order-shop.ts'
import { holdLocks } from '../support/postgres/hold-locks.ts'
import { startTestApi } from '../support/service.ts'
import { createClient, startNetwork } from './shop.ts'

const settings = { currency: 'AUD', readsPerMinute: 'off', writesPerMinute: 'off' } as const
const api = await startTestApi({ settings })
after(() => api.stop())
await fillShop(api.db, api.service)
const network = await startNetwork(api.baseUrl)
const client = createClient(api, api, { url: network.url })

const order = buildOrder([{ sku: 'TEE', quantity: 1 }])
const countOrders = () => api.db.run(sql`select from sales_order where service_id = ${api.service.id}`)
let created = 0
const buildCustomer = () => ({ firstname: 'Ann', surname: 'Lee', contact: { email: `ann${++created}@example.com` } })

test('an order whose response is lost twice is placed once', async () => {
  const before = await countOrders()
  network.loseResponses(2)
  const placed = await client.orders.place(order)
  assert.equal(responseMeta(placed)?.replayed, true, 'the first attempt must have placed the order')
  assert.equal(await countOrders(), before + 1)
})

test('a read with a lost response, then a cut one, is repeated', async () => {
  network.loseResponses(1)
  network.cutResponses(1)
  assert.equal((await client.customers.get('65432')).firstname, 'John')
})

test('an unanswered write ends as unknown and is found by its key', async () => {
  const before = await countOrders()
  network.loseResponses(1_000)
  const lost = await client.orders.place(order, { retryTimeoutMs: 300, reconcileTimeoutMs: 300 }).catch(error => error)
  network.loseResponses(0)
  assert.ok(lost instanceof OutcomeUnknownError)
  assert.equal(lost.code, 'outcome_unknown')
  assert.equal(await countOrders(), before + 1)
  const placed = await client.orders.place(order, { idempotencyKey: lost.idempotencyKey })
  assert.equal(responseMeta(placed)?.replayed, true)
  assert.equal(await countOrders(), before + 1)
})

test('a change with a lost response succeeds despite the changed record', async () => {
  const read = await client.customers.get('65432')
  network.loseResponses(1)
  const unknown = await client.customers.update('65432', { title: 'Mr' }, { ifMatch: read }).catch(error => error)
  assert.ok(unknown instanceof OutcomeUnknownError)
  assert.equal((unknown.cause as ConflictError).code, 'precondition_failed')
  assert.equal((await client.customers.get('65432')).title, 'Mr')
  network.loseResponses(1)
  assert.equal((await client.customers.update('65432', { title: 'Dr' })).title, 'Dr')
})

test('a write whose repeat is rejected early has an unknown outcome', async () => {
  const otherApi = await startTestApi()
  after(() => otherApi.stop())
  let tries = 0
  const switchingClient = createClient(otherApi, api, {
    url: network.url,
    fetch(url, init) {
      if (++tries === 2) network.redirectTo(otherApi.baseUrl)
      return fetch(url, init)
    },
  })
  network.loseResponses(1)
  const unknown = await switchingClient.orders.place(order).catch(error => error)
  network.redirectTo(api.baseUrl)
  assert.ok(unknown instanceof OutcomeUnknownError)
  assert.equal((unknown.cause as AccessError).code, 'invalid_credentials')
  const placed = await client.orders.place(order, { idempotencyKey: unknown.idempotencyKey })
  assert.equal(responseMeta(placed)?.replayed, true)
})

test('a call survives a restart of the server', async () => {
  const first = await startTestApi({ sharedWith: api })
  network.redirectTo(first.baseUrl)
  const proxyClient = createClient(first, api, { url: network.url })
  await proxyClient.stores.list().all()
  await first.stop()
  const before = await countOrders()
  const placing = proxyClient.orders.place(order)
  const reading = proxyClient.customers.get('65433')
  await delay(500)
  const second = await startTestApi({ sharedWith: api })
  createClient(second)
  network.redirectTo(second.baseUrl)
  assert.equal((await reading).firstname, 'Jane')
  await placing
  assert.equal(await countOrders(), before + 1)
  await second.stop()
  network.redirectTo(api.baseUrl)
})

test('a read without a server ends on timeout or abort', async () => {
  network.redirectTo('https://localhost:1')
  const unavailable = await client.customers.get('65432', { retryTimeoutMs: 500 }).catch(error => error)
  assert.ok(unavailable instanceof UnavailableError)
  assert.equal(unavailable.code, 'no_response')
  const pending = client.customers.get('65432', { signal: AbortSignal.timeout(100) })
  await assert.rejects(pending, { name: 'TimeoutError' })
  network.redirectTo(api.baseUrl)
})

test('a write already in progress is waited for', async () => {
  const release = await holdLocks(api.db, 'lock table customer in share mode')
  const [body, options] = [buildCustomer(), { idempotencyKey: 'same-key' }]
  const bothCreations = Promise.all([client.customers.create(body, options), client.customers.create(body, options)])
  await delay(300)
  release()
  const [first, other] = await bothCreations
  assert.equal(first.id, other.id)
  assert.deepEqual([first, other].map(response => responseMeta(response)?.replayed).sort(), [false, true])
})

test('an untrusted certificate fails immediately', async () => {
  const trusted = getCACertificates('default')
  setDefaultCACertificates(trusted.filter(certificate => certificate.trim() !== api.ca.trim()))
  const untrustingClient = tillbridge({
    url: api.baseUrl.replace('localhost', '127.0.0.1'),
    apiKey: '',
    service: 'luma',
  })
  const rejected = await untrustingClient.stores
    .list()
    .all()
    .catch(error => error)
  setDefaultCACertificates(trusted)
  assert.equal(rejected.code, 'certificate_rejected')
})

test('an exhausted rate limit is waited for within the timeout', async () => {
  const limited = await api.createService({ readsPerMinute: 2 })
  let sent = 0
  const counting = createClient(api, limited, {
    fetch(url, init) {
      sent++
      return fetch(url, init)
    },
  })
  for (let i = 0; i < 2; i++) await counting.stores.list().all()
  const rejected = await counting.staff
    .list({}, { retryTimeoutMs: 0 })
    .all()
    .catch(error => error)
  assert.ok(rejected instanceof TooManyError)
  assert.equal(rejected.code, 'rate_limited')
  assert.ok((rejected.retryAfter ?? 0) > 0)
  assert.equal(sent, 3)
  const waiting = counting.staff.list({}, { retryTimeoutMs: 90_000, signal: AbortSignal.timeout(300) }).all()
  await assert.rejects(waiting, { name: 'TimeoutError' })
  assert.equal(sent, 3, 'no request may be sent that the server would reject')
})
