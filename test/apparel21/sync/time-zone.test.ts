import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { startSimulator } from '../../../simulator/simulator.ts'
import { openApparel21 } from '../../../src/backoffice/apparel21/driver.ts'
import type { Driver } from '../../../src/backoffice/port/driver.ts'
import { runSyncIfReady } from '../../../src/backoffice/run-sync.ts'
import { sql } from '../../../src/database/db.ts'
import { upsertGateways } from '../../../src/store/tenancy/gateways.ts'
import { readService } from '../../../src/store/tenancy/services.ts'
import { settings } from '../../drivers/apparel21.ts'
import { buildCustomer, createCustomer } from '../../support/customer-bodies.ts'
import { address, getCreatedRecord } from '../../support/order-shop.ts'
import { paginate } from '../../support/paginate.ts'
import { waitUntil } from '../../support/processes.ts'
import { startTestApi } from '../../support/service.ts'
import { post, put } from '../../support/write.ts'

// Apparel21 is in Melbourne. The service is set to UTC at first and therefore misreads its times.
const simulator = await startSimulator({ sizes: { stores: 5, styles: 6, persons: 20, vouchers: 0 } })
const log = pino({ level: 'silent' })
let driver: Driver | undefined
const api = await startTestApi({
  settings: { ...settings, timeZone: 'UTC' },
  backOffice: service => (driver ?? assert.fail()).backOffice(service),
})
after(async () => {
  await api.stop()
  driver?.close()
  await simulator.close()
})
await upsertGateways(api.db, api.service, [{ name: 'paypal' }])
// With these checkpoints the first stock sync is incremental, because only changes have times.
await api.db.run(sql`
  insert into sync_source (service_id, source, time_zone) values (${api.service.id}, ${`apparel21 ${simulator.url} AU`}, 'UTC')`)
await api.db.run(sql`
  insert into sync_state (service_id, sync, since, finished_at, full_at)
  values (${api.service.id}, 'stock', '2020-01-01T00:00:00', now(), now()), (${api.service.id}, 'ecommerce-variants', null, now(), now())`)

/** Runs all syncs as the worker does, with the current settings. `timeZone` is a setting of the connection. */
async function syncAll(timeZone?: string) {
  driver?.close()
  const service = (await readService(api.db, api.service.id)) ?? assert.fail()
  const connection = { driver: 'apparel21', url: simulator.url, country: 'AU', ...(timeZone && { timeZone }) } as const
  const current = openApparel21(connection, service, log)
  driver = current
  for (const sync of current.syncs) await runSyncIfReady(api.db, service, current, sync)
}

/** Interprets the back office's local time in zone `readIn` and converts it to zone `shownIn`. */
const convert = (wallMs: number, { readIn, shownIn }: { readIn: string; shownIn: string }) =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(wallMs / 1_000) * 1_000)
    .toZonedDateTimeISO('UTC')
    .toPlainDateTime()
    .toZonedDateTime(readIn)
    .withTimeZone(shownIn)
    .toPlainDateTime()
    .toString({ smallestUnit: 'second' })
    .replace('T', ' ')

interface ListedRecord {
  id: string
  storeId: string
  updateTimeStamp: string
}

/** Returns the records of a list whose time differs from the back office's. */
async function findWrong(
  path: string,
  getUpdated: (record: ListedRecord) => number | undefined,
  zones: Parameters<typeof convert>[1],
) {
  const records = (await paginate(api, path)).records as unknown as ListedRecord[]
  assert.ok(records.length > 3)
  return records.filter(record => {
    const updated = getUpdated(record)
    return updated !== undefined && record.updateTimeStamp !== convert(updated, zones)
  })
}

const { persons, styles, stores, stock } = simulator.state
/** Times of the last stock change of each shop. Apparel21 has one time for all SKUs of a shop. */
const stockUpdated = new Map<string, number>()
const getPersonUpdated = (id: string) => persons.get(Number(id))?.updated
const findWrongInLists = (zones: Parameters<typeof convert>[1]) =>
  Promise.all([
    findWrong('/customers/search', ({ id }) => getPersonUpdated(id), zones),
    findWrong('/products', ({ id }) => styles.get(Number(id))?.updated, zones),
    findWrong('/inventory', ({ storeId }) => stockUpdated.get(storeId), zones),
  ])
/** Asserts that at most the newest customer and the newest product differ. The newest stock is not in a shop. */
const assertNewestOnly = ([people = [], products = [], levels = []]: ListedRecord[][]) =>
  assert.deepEqual([people.length <= 1, products.length <= 1, levels], [true, true, []])
const listRuns = async (sync: string) => (await api.get(`/syncs/${sync}/runs`)).json.data as { full: boolean }[]

test('a later change of the time zone corrects read times', async () => {
  // Changes of the last hours would get the time of the load, because they seem to be in the future.
  for (const record of [...persons.values(), ...styles.values()]) record.updated -= 86_400_000
  const shops = [...stores.values()].filter(({ kind }) => kind === 'shop')
  assert.ok(shops.length > 1)
  for (const [i, { id, column }] of shops.entries()) {
    const updated = simulator.clock.wall() - (2 + i) * 86_400_000
    stockUpdated.set(String(id), updated)
    for (const { row } of simulator.state.skus.values()) stock.set(row, column, stock.get(row, column), updated)
  }
  await syncAll()
  assertNewestOnly(await findWrongInLists({ readIn: 'UTC', shownIn: 'UTC' }))
  const customerId = (await createCustomer(api, buildCustomer({ mobile: '0400 123 456' }))).id
  const [sku] = [...simulator.state.skus.values()].filter(({ colour, price }) => !colour.style.special && price > 0)
  assert.ok(sku)
  const body = {
    customerId,
    billingAddress: address,
    deliveryAddress: address,
    lines: [{ sku: String(sku.id), quantity: 1 }],
  }
  const order = getCreatedRecord(
    await post(api, '/orders', { ...body, payments: [{ gateway: 'paypal', amount: sku.price.toFixed(2) }] }),
  )
  simulator.change({ kind: 'despatch-order', id: Number(order.id), conNote: 'EM1' })
  await syncAll()
  const ownTimestamp = (await api.get(`/customers/${customerId}`)).json.data.updateTimeStamp
  const getShipment = async () => (await api.get(`/orders/${order.id}/shipments`)).json.data[0]
  const before = await getShipment()
  const cursor = (await api.get('/customers/search?limit=1')).json.meta.endCursor
  const fullRuns = (await listRuns('customers')).filter(({ full }) => full).length
  const since = (await api.get('/changes?kinds=shipment')).json.meta.endCursor

  await put(api, '/settings', { timeZone: 'Australia/Melbourne' })
  const getTimeZone = async () => (await api.get('/stores')).json.meta.timeZone
  await waitUntil(async () => (await getTimeZone()) === 'Australia/Melbourne', 'the setting is in effect', 5_000)
  await syncAll()
  assertNewestOnly(await findWrongInLists({ readIn: 'Australia/Melbourne', shownIn: 'Australia/Melbourne' }))
  assert.equal((await listRuns('customers')).filter(({ full }) => full).length, fullRuns + 1, 'a full sync is visible')
  assert.equal((await listRuns('products'))[0]?.full, true)
  const wall = convert(simulator.state.orders.get(Number(order.id))?.updated ?? 0, { readIn: 'UTC', shownIn: 'UTC' })
  const corrected = await getShipment()
  assert.deepEqual([corrected.id, corrected.shippedAt], [before.id, wall])
  const toMelbourneTime = (time: string) =>
    Temporal.PlainDateTime.from(time).toZonedDateTime('UTC').withTimeZone('Australia/Melbourne').toPlainDateTime()
  assert.equal(
    (await api.get(`/customers/${customerId}`)).json.data.updateTimeStamp,
    toMelbourneTime(ownTimestamp).toString().replace('T', ' '),
    "Tillbridge's own times are right",
  )
  const stale = `/customers/search?limit=1&after_cursor=${encodeURIComponent(cursor)}`
  await waitUntil(async () => (await api.get(stale)).status === 400, 'a client starts over', 5_000)
  assert.equal((await api.get(`/changes?kinds=shipment&after_cursor=${encodeURIComponent(since)}`)).status, 410)
  const [checkpoint] = await api.db.rows(sql`select from sync_state where sync = 'ecommerce-variants'`)
  assert.ok(checkpoint, 'checkpoints of the e-commerce platform must stay')
})

test('a change of the connection corrects earlier and later times', async () => {
  await syncAll('Europe/London')
  assertNewestOnly(await findWrongInLists({ readIn: 'Europe/London', shownIn: 'Australia/Melbourne' }))
  await syncAll('Australia/Melbourne')
  assertNewestOnly(await findWrongInLists({ readIn: 'Australia/Melbourne', shownIn: 'Australia/Melbourne' }))
  const [id = 0] = persons.keys()
  simulator.change({ kind: 'edit-person', id, fields: { surname: 'Changed' } })
  await syncAll('Australia/Melbourne')
  const { data } = (await api.get(`/customers/${id}`)).json
  const zone = 'Australia/Melbourne'
  assert.deepEqual(
    [data.surname, data.updateTimeStamp],
    ['Changed', convert(getPersonUpdated(String(id)) ?? 0, { readIn: zone, shownIn: zone })],
  )
  assert.equal((await listRuns('customers'))[0]?.full, false)
})
