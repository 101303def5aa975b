import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startShopifySimulator } from '../../simulator/shopify/simulator.ts'
import { readConfig } from '../../src/config/config.ts'
import { raw, sql } from '../../src/database/db.ts'
import { defaultConnection } from '../../src/domain/ecommerce/connection-settings.ts'
import { getEventUrl, openPlatform } from '../../src/ecommerce/connections.ts'
import { startTelemetryExport } from '../../src/runtime/telemetry-export.ts'
import { setConnection } from '../../src/store/ecommerce/connections.ts'
import { addJob } from '../../src/store/jobs/jobs.ts'
import { startCollector } from '../support/collector.ts'
import { createUnmappedShop } from '../support/mapping-shop.ts'
import { waitUntil } from '../support/processes.ts'
import { captureLog } from '../support/servers.ts'
import { type Caller, startTestApi, type TestApi } from '../support/service.ts'
import { put, remove } from '../support/write.ts'
import { type PlatformWorker, startPlatformWorker } from './platform-worker.ts'

const simulator = await startShopifySimulator({ size: { locations: 1, variants: 0, customers: 0 } })
const capturedLog = captureLog('trace')
/** The customer's data on the platform. */
const person = {
  email: 'wilhelmina@example.com',
  firstName: 'Wilhelmina',
  lastName: 'Canarysson',
  phone: '+61400000017',
}
let collector: Awaited<ReturnType<typeof startCollector>>
let closeTracing: (() => Promise<void>) | undefined
let api: TestApi
let shop: Caller
let worker: PlatformWorker
let customer: number

before(async () => {
  collector = await startCollector()
  closeTracing = await startTelemetryExport(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }), capturedLog.log)
  api = await startTestApi({ log: capturedLog.log })
  shop = await createUnmappedShop(api)
  simulator.set({ trustedCertificate: api.ca })
  const { url, settings } = simulator
  const connection = { ...defaultConnection, url, clientId: settings.clientId, events: 'on' } as const
  await api.db.transaction(tx => setConnection(tx, api.keys, shop.service, connection, settings.clientSecret))
  worker = await startPlatformWorker(api, { log: capturedLog.log })
  await syncCustomer()
})
after(async () => {
  await worker?.stop()
  await api?.stop()
  await closeTracing?.()
  await collector?.close()
  await simulator.close()
})

const readTables = async () => {
  const tables = await api.db.rows<{ name: string }>(
    sql`select relname as name from pg_class where relkind = 'r' and relname like 'ecommerce\\_%'`,
  )
  const texts: string[] = []
  for (const { name } of tables)
    for (const { row } of await api.db.rows<{ row: string }>(
      sql`select row_to_json(t)::text as row from ${raw(name)} t where service_id = ${shop.service.id}`,
    ))
      texts.push(row)
  return texts.join('\n')
}

/** Subscribes to events and syncs a customer of the platform despite faults. */
async function syncCustomer() {
  const opened = (await openPlatform(api.db, api.keys, shop.service, capturedLog.log)) ?? assert.fail('no connection')
  await opened.platform.events?.ensure(getEventUrl(api.baseUrl, shop.service), AbortSignal.timeout(60_000))
  // Without a field list, Shopify sends all fields to a subscription.
  for (const subscription of simulator.shop.subscriptions.values()) subscription.includeFields = []
  simulator.faults.add({ kind: 'status', path: '/BulkQuery', times: 1 })
  simulator.faults.add({ kind: 'token-rejected', path: '/Existing', times: 1 })
  customer = simulator.change({ kind: 'customer', ...person })
  await put(shop, '/mappings/customers/65432', { ecommerceLegacyId: String(customer) })
  await api.db.transaction(tx => addJob(tx, null, 'schedule-syncs'))
  const findItems = () =>
    api.db.rows(sql`select from ecommerce_item where service_id = ${shop.service.id} and other = ${person.email}`)
  await waitUntil(async () => (await findItems()).length === 1, 'the customer is synced', 60_000)
}

test('I8: logs and traces have no personal data of the platform', async () => {
  simulator.faults.add({ kind: 'page-repeated', path: '/Customers', times: 1 })
  simulator.change({ kind: 'customer', id: customer, ...person })
  const listHandled = () =>
    api.db.rows(sql`
      select from ecommerce_event where service_id = ${shop.service.id} and target = 'ecommerce-customers' and handled_at is not null`)
  await waitUntil(async () => (await listHandled()).length >= 2, 'both events are handled', 60_000)
  await waitUntil(
    () => collector.spans.some(({ name }) => name === 'job run-sync') && capturedLog.text.includes('sync completed'),
    'the runs are traced and logged',
    30_000,
  )
  assert.ok(simulator.shop.deliveries.some(({ body }) => body.includes(person.email)))
  const text = [capturedLog.text, ...collector.bodies].join('\n')
  for (const hidden of [...Object.values(person), simulator.settings.clientSecret, 'shpat_'])
    assert.ok(!text.includes(hidden), hidden)
})

test('an erased customer is in no table of the platform any more', async () => {
  const other = simulator.change({ kind: 'customer', email: 'other@example.com' })
  simulator.change({ kind: 'merge', deletedId: other, successorId: customer })
  const listHandledMerges = () =>
    api.db.rows(sql`
      select from ecommerce_event where service_id = ${shop.service.id} and successor_id is not null and handled_at is not null`)
  await waitUntil(async () => (await listHandledMerges()).length === 1, 'the merge is handled', 60_000)
  assert.ok((await readTables()).includes(String(customer)))
  simulator.change({ kind: 'remove', type: 'customer', id: customer })
  const listTombstones = () =>
    api.db.rows(
      sql`select from ecommerce_tombstone where service_id = ${shop.service.id} and ecommerce_id = ${String(customer)}`,
    )
  await waitUntil(async () => (await listTombstones()).length === 1, 'the customer is deleted on the platform', 60_000)
  assert.equal((await remove(shop, '/customers/65432')).status, 200)
  await waitUntil(
    async () => !(await readTables()).includes(String(customer)),
    'no table contains the customer ID',
    60_000,
  )
  for (const hidden of Object.values(person)) assert.ok(!(await readTables()).includes(hidden), hidden)
})
