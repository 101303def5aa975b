import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { startShopifySimulator } from '../../simulator/shopify/simulator.ts'
import { signPayload } from '../../simulator/shopify/webhooks.ts'
import { sql } from '../../src/database/db.ts'
import { type ConnectionSettings, defaultConnection } from '../../src/domain/ecommerce/connection-settings.ts'
import { getEventPath, getEventUrl, openPlatform } from '../../src/ecommerce/connections.ts'
import { deleteConnection, setConnection } from '../../src/store/ecommerce/connections.ts'
import { addJob } from '../../src/store/jobs/jobs.ts'
import { createUnmappedShop } from '../support/mapping-shop.ts'
import { waitUntil } from '../support/processes.ts'
import { captureLog } from '../support/servers.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'
import { put } from '../support/write.ts'
import { type PlatformWorker, startPlatformWorker } from './platform-worker.ts'

const simulator = await startShopifySimulator({ size: { locations: 0, variants: 0, customers: 0 } })
const signal = AbortSignal.timeout(300_000)
const capturedLog = captureLog('trace')
const { log } = capturedLog
let api: TestApi
let shop: Caller
let worker: PlatformWorker

before(async () => {
  api = await startTestApi({ log })
  const jobNames = ['schedule-syncs', 'run-sync', 'check-mappings', 'check-ecommerce-connection']
  worker = await startPlatformWorker(api, { jobNames, log, publicUrl: api.baseUrl })
})
after(async () => {
  await worker?.stop()
  await simulator.close()
  await api?.stop()
})
beforeEach(async () => {
  simulator.reset()
  simulator.set({ trustedCertificate: api.ca })
  shop = await createUnmappedShop(api)
  await connect()
})

const connect = (settings: Partial<ConnectionSettings> = {}, secret = simulator.settings.clientSecret, old?: string) =>
  api.db.transaction(tx =>
    setConnection(
      tx,
      api.keys,
      shop.service,
      {
        ...defaultConnection,
        url: simulator.url,
        clientId: simulator.settings.clientId,
        events: 'on',
        intervals: { 'ecommerce-locations': 86_400, 'ecommerce-variants': 86_400, 'ecommerce-customers': 86_400 },
        ...settings,
      },
      secret,
      old,
    ),
  )
const openEvents = async () =>
  ((await openPlatform(api.db, api.keys, shop.service, log)) ?? assert.fail('no connection')).platform.events ??
  assert.fail('no events')
const subscribe = async () => (await openEvents()).ensure(getEventUrl(api.baseUrl, shop.service), signal)
const listItems = async (kind: string) =>
  (
    await api.db.rows<{ id: string }>(
      sql`select ecommerce_id as id from ecommerce_item where service_id = ${shop.service.id} and kind = ${kind} order by 1`,
    )
  ).map(({ id }) => id)
const waitForItems = (kind: string, expected: string[], label: string) =>
  waitUntil(async () => JSON.stringify(await listItems(kind)) === JSON.stringify(expected), label, 60_000)
const listEvents = () =>
  api.db.rows<{ id: string; target: string; subject: string }>(
    sql`select event_id as id, target, subject_id as subject from ecommerce_event where service_id = ${shop.service.id} order by received_at`,
  )
/** Waits until each sync has run once. After that, only events cause runs. */
const waitForFirstSyncs = () =>
  waitUntil(
    async () =>
      (
        await api.db.rows(
          sql`select from sync_state where service_id = ${shop.service.id} and finished_at is not null and sync like 'ecommerce-%'`,
        )
      ).length === 3,
    'each sync has run',
    60_000,
  )
/** Runs each sync once and waits until events are accepted, because the simulator repeats a rejected event only for 1.6 s. */
const startSyncs = async () => {
  await api.db.transaction(tx => addJob(tx, null, 'schedule-syncs'))
  await waitForFirstSyncs()
  await waitUntilAccepted()
}

interface Delivery {
  secret?: string
  id?: string
  path?: string
  headers?: Record<string, string | undefined>
}

const send = (
  topic: string,
  payload: object | string,
  {
    secret = simulator.settings.clientSecret,
    id = randomUUID(),
    path = getEventPath(shop.service),
    headers,
  }: Delivery = {},
) => {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
  return api.sendRaw(path, {
    method: 'POST',
    body,
    headers: Object.fromEntries(
      Object.entries({
        'content-type': 'application/json',
        'x-shopify-topic': topic,
        'x-shopify-webhook-id': id,
        'x-shopify-shop-domain': 'luma-au.myshopify.com',
        'x-shopify-hmac-sha256': signPayload(secret, body),
        ...headers,
      }).filter(([, value]) => value !== undefined),
    ),
  })
}
/** Waits until events are accepted, because services and connections are cached for 2 s. */
const waitUntilAccepted = () =>
  waitUntil(async () => (await send('orders/create', {})).status === 200, 'events are accepted')

test('subscriptions are created once, and an old address is replaced', async () => {
  const state = await subscribe()
  assert.equal(state.present.length, 0)
  assert.deepEqual((await subscribe()).missing, [])
  const listSubscriptions = () => [...simulator.shop.subscriptions.values()].map(({ topic, uri }) => `${topic} ${uri}`)
  const first = listSubscriptions()
  assert.equal(first.length, state.missing.length)
  await (await openEvents()).ensure(getEventUrl('https://moved.example.com', shop.service), signal)
  assert.deepEqual(
    listSubscriptions(),
    first.map(subscription => subscription.replace(api.baseUrl, 'https://moved.example.com')),
  )
})

test('a topic without its scope is named, and the others are sent', async () => {
  simulator.set({ scopes: simulator.settings.scopes.filter(scope => scope !== 'read_customer_merge') })
  await subscribe()
  const { missing, denied } = await subscribe()
  assert.deepEqual([missing, denied], [[], [{ topic: 'CUSTOMERS_MERGE', scope: 'read_customer_merge' }]])
})

test('changes of variants, locations and customers are read after their events', async () => {
  await startSyncs()
  await subscribe()
  const variant = simulator.change({ kind: 'variant', sku: '12001' })
  const location = simulator.change({ kind: 'location', name: 'Melbourne' })
  const customer = simulator.change({ kind: 'customer', email: 'john@example.com' })
  await waitForItems('skus', ['12001'], 'the variant is read')
  await waitForItems('stores', [String(location)], 'the location is read')
  await waitForItems('customers', [String(customer)], 'the customer is read')
  simulator.change({ kind: 'variant', id: variant, sku: '12002' })
  await waitForItems('skus', ['12002'], 'the renamed variant is read')
})

test('an event that was lost or repeated changes nothing in the end', async () => {
  await startSyncs()
  await subscribe()
  simulator.faults.add({ kind: 'event-lost', path: '/events', times: 1 })
  simulator.change({ kind: 'variant', sku: '12001' })
  simulator.faults.add({ kind: 'event-repeated', path: '/events', times: 1 })
  simulator.change({ kind: 'variant', sku: '12002' })
  await waitForItems('skus', ['12001', '12002'], 'both variants are read')
  await waitUntil(async () => simulator.shop.deliveries.length === 2, 'both attempts have arrived')
  assert.equal((await listEvents()).length, 1)
})

test('requests that the platform has not signed are rejected', async () => {
  await waitUntilAccepted()
  const payload = { id: 4711 }
  const name = shop.service.name
  const forgedDeliveries: [string, Delivery][] = [
    ['another secret', { secret: 'guessed' }],
    ['an unknown service', { path: '/ecommerce/events/unknown/main' }],
    ['an unknown connection', { path: `/ecommerce/events/${name}/files` }],
    ['another service', { path: `/ecommerce/events/${api.service.name}/main` }],
    ['no signature', { headers: { 'x-shopify-hmac-sha256': undefined } }],
    ['half a signature', { headers: { 'x-shopify-hmac-sha256': 'YWJj' } }],
    ['no ID', { headers: { 'x-shopify-webhook-id': undefined } }],
    ['an ID with other characters', { headers: { 'x-shopify-webhook-id': "1'; drop table job" } }],
  ]
  const texts = new Set<string>()
  for (const [what, delivery] of forgedDeliveries) {
    const { status, json } = await send('products/update', payload, delivery)
    assert.deepEqual([status, json.code], [401, 'invalid_credentials'], what)
    texts.add(json.detail)
  }
  assert.equal(texts.size, 1)
  assert.deepEqual(await listEvents(), [])
})

test('a connection without events, and another shop, are rejected', async () => {
  await connect({ url: 'https://luma-au.myshopify.com' })
  await waitUntil(async () => (await send('products/update', { id: 1 })).status === 200, 'the shop is accepted')
  const other = { headers: { 'x-shopify-shop-domain': 'luma-nz.myshopify.com' } }
  assert.equal((await send('products/update', { id: 2 }, other)).status, 401)
  await connect({ url: 'https://luma-au.myshopify.com', events: 'off' })
  await waitUntil(async () => (await send('products/update', { id: 3 })).status === 401, 'events are rejected')
})

test('an event for a connection that was just removed is repeated', async () => {
  await waitUntilAccepted()
  await api.db.transaction(tx => deleteConnection(tx, shop.service))
  const { status, headers } = await send('products/update', { id: 1 })
  assert.deepEqual([status, headers['retry-after'] !== undefined], [503, true])
  await waitUntil(
    async () => (await send('products/update', { id: 1 })).status === 401,
    'the removed connection is rejected',
  )
})

test('the previous secret is valid during a rotation', async () => {
  await connect({}, 'rotated', simulator.settings.clientSecret)
  await waitUntil(
    async () => (await send('products/update', { id: 1 }, { secret: 'rotated' })).status === 200,
    'the new secret is accepted',
  )
  assert.equal((await send('products/update', { id: 1 })).status, 200)
  await api.db.run(sql`
    update ecommerce_connection set previous_secret_until = now() where service_id = ${shop.service.id}`)
  await waitUntil(
    async () => (await send('products/update', { id: 1 })).status === 401,
    'the previous secret is rejected',
  )
  assert.equal((await send('products/update', { id: 1 }, { secret: 'rotated' })).status, 200)
})

test('events do not wait for each other at their shared job', async () => {
  await startSyncs()
  const sendOne = async () => (await send('products/update', { id: 632_910_392 })).status
  assert.equal(await sendOne(), 200)
  await api.db.transaction(async tx => {
    const locked = await tx.run(sql`
      select from job where service_id = ${shop.service.id} and name = 'run-sync' and subject = 'ecommerce-variants' and lease is null for update`)
    assert.equal(locked, 1)
    assert.equal(await sendOne(), 200)
  })
  assert.equal((await listEvents()).length, 2)
})

test('a repeated delivery is stored once, with all digits of its ID', async () => {
  await waitUntilAccepted()
  const id = randomUUID()
  const body = '{"id":820982911946154508}'
  for (let attempt = 0; attempt < 3; attempt++) assert.equal((await send('products/update', body, { id })).status, 200)
  assert.deepEqual(await listEvents(), [
    { id, target: 'ecommerce-variants', subject: 'gid://shopify/Product/820982911946154508' },
  ])
})

test('unknown topics and payloads are accepted and ignored', async () => {
  await waitUntilAccepted()
  for (const [topic, body] of [
    ['orders/create', '{"id":1}'],
    ['products/update', '[]'],
    ['products/update', 'no JSON'],
    ['products/update', '{"id":"1; drop table job"}'],
    ['customers/merge', '{"status":"failed","admin_graphql_api_customer_kept_id":"gid://shopify/Customer/1"}'],
    ['__proto__', '{"id":1}'],
  ] as const)
    assert.equal((await send(topic, body)).status, 200, `${topic} ${body}`)
  assert.deepEqual(await listEvents(), [])
})

test('a false deletion removes nothing', async () => {
  await startSyncs()
  await subscribe()
  simulator.change({ kind: 'variant', sku: '12001' })
  await waitForItems('skus', ['12001'], 'the variant is read')
  const [product] = simulator.shop.products.keys()
  // The topic isn't signed, so a replayed request can have another one.
  assert.equal((await send('products/delete', { id: product })).status, 200)
  await waitUntil(
    async () =>
      (await api.db.rows(sql`select from ecommerce_event where service_id = ${shop.service.id} and handled_at is null`))
        .length === 0,
    'the event is handled',
    60_000,
  )
  assert.deepEqual(await listItems('skus'), ['12001'])
})

test('each event of 300 concurrent clients is stored once', async () => {
  await waitUntilAccepted()
  const deliveries = Array.from({ length: 300 }, (_, at) => ({ id: `event-${at % 100}`, isForged: at % 3 === 2 }))
  const responses = await Promise.all(
    deliveries.map(({ id, isForged }, at) =>
      send('products/update', { id: at }, { id, ...(isForged && { secret: 'guessed' }) }),
    ),
  )
  for (const [at, { status }] of responses.entries()) assert.equal(status, deliveries[at]?.isForged ? 401 : 200)
  const expected = new Set(deliveries.filter(({ isForged }) => !isForged).map(({ id }) => id))
  assert.deepEqual(new Set((await listEvents()).map(({ id }) => id)), expected)
  assert.equal((await listEvents()).length, expected.size)
  const queued = await api.db.rows(
    sql`select from job where service_id = ${shop.service.id} and name = 'run-sync' and subject = 'ecommerce-variants'`,
  )
  assert.equal(queued.length, 1)
})

test('I8: neither the inbox nor the log has personal data', async () => {
  await waitUntilAccepted()
  const payload = { id: 4711, email: 'wilhelmina@example.com', first_name: 'Wilhelmina', phone: '+61 400 000 000' }
  assert.equal((await send('customers/update', payload)).status, 200)
  assert.equal((await send('customers/update', payload, { secret: 'guessed' })).status, 401)
  const rows = await api.db.rows<{ row: string }>(
    sql`select row_to_json(e)::text as row from ecommerce_event e where service_id = ${shop.service.id}`,
  )
  assert.match(rows[0]?.row ?? '', /gid:\/\/shopify\/Customer\/4711/)
  const text = [...rows.map(({ row }) => row), capturedLog.text].join('\n')
  for (const hidden of ['wilhelmina', 'Wilhelmina', '400 000', simulator.settings.clientSecret])
    assert.ok(!text.includes(hidden), hidden)
})

test('a deleted variant, location and customer disappear after their events', async () => {
  const variant = simulator.change({ kind: 'variant', sku: '12001' })
  const [product] = simulator.shop.products.keys()
  assert.ok(product)
  const sibling = simulator.change({ kind: 'variant', sku: '12002', productId: product })
  const location = simulator.change({ kind: 'location', name: 'Melbourne' })
  const customer = simulator.change({ kind: 'customer', email: 'john@example.com' })
  await startSyncs()
  await waitForItems('skus', ['12001', '12002'], 'the variants are read')
  await subscribe()
  simulator.change({ kind: 'remove', type: 'variant', id: variant })
  simulator.change({ kind: 'remove', type: 'location', id: location })
  simulator.change({ kind: 'remove', type: 'customer', id: customer })
  await waitForItems('skus', ['12002'], 'one variant of the product is gone')
  await waitForItems('stores', [], 'the location is gone')
  await waitForItems('customers', [], 'the customer is gone')
  simulator.change({ kind: 'remove', type: 'variant', id: sibling })
  await waitForItems('skus', [], 'the product is gone')
  const tombstones = await api.db.rows<{ id: string; isVerified: boolean }>(sql`
    select ecommerce_id as id, is_verified as "isVerified" from ecommerce_tombstone where service_id = ${shop.service.id} and kind = 'skus' order by 1`)
  assert.deepEqual(tombstones, [
    { id: '12001', isVerified: true },
    { id: '12002', isVerified: true },
  ])
})

test('the mapping of merged customers moves to their successor', async () => {
  const [successor, deleted, first] = ['successor@example.com', 'john@example.com', 'first@example.com'].map(email =>
    simulator.change({ kind: 'customer', email }),
  ) as [number, number, number]
  await put(shop, '/mappings/customers/65432', { ecommerceLegacyId: String(first) })
  await startSyncs()
  await waitForItems('customers', [successor, deleted, first].map(String), 'the customers are read')
  await subscribe()
  // The second merge is reported before the first one.
  simulator.faults.add({ kind: 'latency', seconds: 2, path: '/events', times: 1 })
  simulator.change({ kind: 'merge', deletedId: first, successorId: deleted })
  simulator.change({ kind: 'merge', deletedId: deleted, successorId: successor })
  const getMapping = async () => (await shop.get('/mappings/customers/65432')).json.data.ecommerceLegacyId
  await waitUntil(async () => (await getMapping()) === String(successor), 'the mapping has moved', 60_000)
  await waitForItems('customers', [String(successor)], 'the merged customers are gone')
  const fixes = (await shop.get('/mappings/fixes')).json.data
  assert.equal(fixes.at(-1).kind, 'customers')
  const audit = (await shop.get('/audit')).json.data
  assert.ok(audit.some(({ subject }: { subject: string }) => subject === '/mappings/customers/65432'))
})

test('the hourly check subscribes again and raises an alert', async () => {
  const queueCheck = () => api.db.transaction(tx => addJob(tx, shop.service.id, 'check-ecommerce-connection'))
  const countOpenAlerts = async () =>
    (await shop.get('/alerts')).json.data.filter(
      ({ kind, resolvedAt }: { kind: string; resolvedAt: string | null }) =>
        kind === 'subscription_missing' && !resolvedAt,
    ).length
  await subscribe()
  const { size } = simulator.shop.subscriptions
  for (const id of [...simulator.shop.subscriptions.keys()].slice(0, 2)) simulator.shop.subscriptions.delete(id)
  await queueCheck()
  await waitUntil(async () => (await countOpenAlerts()) === 1, 'the alert is raised', 60_000)
  assert.equal(simulator.shop.subscriptions.size, size)
  await queueCheck()
  await waitUntil(async () => (await countOpenAlerts()) === 0, 'the alert is resolved', 60_000)
})

test('GET /ecommerce has the points and the subscriptions of the last check', async () => {
  const getConnection = async () => (await shop.get('/ecommerce')).json.data
  await subscribe()
  simulator.set({ scopes: simulator.settings.scopes.filter(scope => scope !== 'read_customer_merge') })
  await api.db.transaction(tx => addJob(tx, shop.service.id, 'check-ecommerce-connection'))
  await waitUntil(async () => (await getConnection()).subscriptions?.missing.length === 1, 'the check has run', 60_000)
  const { points, subscriptions } = await getConnection()
  assert.deepEqual(subscriptions, {
    wanted: simulator.shop.subscriptions.size + 1,
    missing: ['CUSTOMERS_MERGE'],
    checkedAt: subscriptions.checkedAt,
  })
  assert.ok(Date.parse(subscriptions.checkedAt) > Date.now() - 60_000)
  const { capacity, restorePerSecond, orders, stock, background } = points
  assert.deepEqual([capacity, restorePerSecond], [2_000, 100])
  assert.ok(orders <= 800 && stock <= 900 && background <= 300 && orders + stock + background > 0)
})
