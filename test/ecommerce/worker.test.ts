import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { startShopifySimulator } from '../../simulator/shopify/simulator.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { sql } from '../../src/database/db.ts'
import { defaultConnection } from '../../src/domain/ecommerce/connection-settings.ts'
import { openPlatform } from '../../src/ecommerce/connections.ts'
import { setConnection } from '../../src/store/ecommerce/connections.ts'
import { reencrypt } from '../../src/store/shards/secret-rotation.ts'
import { createUnmappedShop } from '../support/mapping-shop.ts'
import { waitUntil } from '../support/processes.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'
import { put, remove } from '../support/write.ts'
import { type PlatformWorker, startPlatformWorker } from './platform-worker.ts'

const log = pino({ level: 'silent' })
const simulator = await startShopifySimulator({ size: { locations: 0, variants: 0, customers: 0 } })
let api: TestApi
let shop: Caller
let worker: PlatformWorker
before(async () => {
  api = await startTestApi()
  shop = await createUnmappedShop(api)
  simulator.change({ kind: 'variant', sku: '12001' })
  simulator.change({ kind: 'customer', email: 'john@example.com' })
  await api.db.transaction(tx =>
    setConnection(
      tx,
      api.keys,
      shop.service,
      { ...defaultConnection, url: simulator.url, clientId: simulator.settings.clientId },
      simulator.settings.clientSecret,
    ),
  )
  worker = await startPlatformWorker(api, { jobNames: ['schedule-syncs', 'run-sync', 'check-mappings'] })
})
after(async () => {
  await worker?.stop()
  await api?.stop()
  await simulator.close()
})

test('a worker syncs a new connection and checks the mappings', async () => {
  const getStates = async () =>
    Object.fromEntries(
      (await shop.get('/mappings/issues/skus')).json.data.map(({ id, state }: Record<string, string>) => [id, state]),
    )
  await waitUntil(async () => (await getStates())['12001'] === 'matched', 'the SKU is matched', 60_000)
  const syncJobs = await api.db.rows<{ subject: string }>(
    sql`select subject from job where service_id = ${shop.service.id} and name = 'run-sync' order by subject`,
  )
  assert.deepEqual(
    syncJobs.map(({ subject }) => subject),
    ['ecommerce-customers', 'ecommerce-locations', 'ecommerce-variants'],
  )
})

test('a requested run is queued and executed', async () => {
  const response = await shop.request('/syncs/ecommerce-variants/run', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  assert.deepEqual([response.status, response.json.data.origin], [202, 'ecommerce'])
  const listRuns = async () => (await shop.get('/syncs/ecommerce-variants/runs')).json.data
  await waitUntil(async () => (await listRuns()).length >= 2, 'a second run has started', 30_000)
  assert.equal((await listRuns())[0].origin, 'ecommerce')
})

test('erasing a customer deletes the synced item', async () => {
  const findItems = () => api.db.rows(sql`select from ecommerce_item where other = 'john@example.com'`)
  await waitUntil(async () => (await findItems()).length === 1, 'the customer is synced', 30_000)
  const [customer] = simulator.shop.customers.values()
  await put(shop, '/mappings/customers/65432', { ecommerceLegacyId: String(customer?.id) })
  assert.equal((await remove(shop, '/customers/65432')).status, 200)
  assert.deepEqual(await findItems(), [])
})

test('a rotated key encrypts the secret and the token again', async () => {
  const rotatedKeys = { ...deriveKeys(randomBytes(32)), otherKeys: [api.keys] }
  await reencrypt(api.db, rotatedKeys, () => {})
  const onlyNewKeys = { ...rotatedKeys, otherKeys: [] }
  const opened = await openPlatform(api.db, onlyNewKeys, shop.service, log)
  assert.equal((await opened?.platform.probe(AbortSignal.timeout(30_000)))?.shop, 'luma-au')
  assert.equal(simulator.calls.at(-1)?.status, 200)
})
