import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { pino } from 'pino'
import { randomFor } from '../../seed/random.ts'
import { sql } from '../../src/database/db.ts'
import { defaultConnection, fixedFields } from '../../src/domain/ecommerce/connection-settings.ts'
import { reconcileStock } from '../../src/ecommerce/reconciliation/reconcile.ts'
import { upsertProducts } from '../../src/store/catalog/products.ts'
import { upsertStores } from '../../src/store/catalog/stores.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { setConnection } from '../../src/store/ecommerce/connections.ts'
import { countLevels } from '../../src/store/ecommerce/status.ts'
import { upsertStock } from '../../src/store/inventory/stock.ts'
import { addJob } from '../../src/store/jobs/jobs.ts'
import { upsertGateways } from '../../src/store/tenancy/gateways.ts'
import { check } from '../support/expectations/check.ts'
import { openInstallation } from '../support/installation.ts'
import { fetchFromAny, sendRaw } from '../support/operations/client.ts'
import { parseInteger } from '../support/options.ts'
import { report, say } from '../support/report.ts'
import { readCpuSeconds, readMemory } from '../support/usage.ts'
import { startDelayingProxy } from './delaying-proxy.ts'
import { startMedusa } from './medusa.ts'
import { fulfilOrder, sellUnits } from './orders.ts'
import { seedMedusa } from './seed.ts'

const { levels, locations, kills, seed, keep } = new Command('npm run scenario -- medusa')
  .description(
    'Installs a real Medusa once, connects it, and pushes the stock of every item at every location. Then changes stock while either side is\nkilled, and requires after each kill that every level of Medusa is right, and that a comparison finds no drift.',
  )
  .option('--levels <number>', 'levels, a multiple of --locations', parseInteger, 100_000)
  .option('--locations <number>', 'stock locations', parseInteger, 50)
  .option('--kills <number>', 'kills; half of them kill Medusa, half both workers of Tillbridge', parseInteger, 6)
  .option('--seed <number>', 'repeats the changes of an earlier run', parseInteger, 1)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run scenario -- medusa\n  npm run scenario -- medusa --levels 2000 --locations 10\n',
  )
  .parse()
  .opts<{ levels: number; locations: number; kills: number; seed: number; keep?: boolean }>()

const variantCount = Math.ceil(levels / locations)
const random = randomFor(`medusa ${seed}`)
const log = pino({ level: 'silent' })
const signal = AbortSignal.timeout(2 * 3_600_000)
/** A retry waits up to a minute, and the circuit breaker too. */
const quietTimeoutMs = 600_000
const firstPushTimeoutMs = 3_600_000

/** Stops everything that was started, also if the set-up fails. */
await using cleanup = new AsyncDisposableStack()
const directory = mkdtempSync(join(tmpdir(), 'tillbridge-medusa-'))
chmodSync(directory, 0o711)
// If a run fails, its logs stay.
let isFinished = false
cleanup.defer(() => void (isFinished && rmSync(directory, { recursive: true, force: true })))
const medusa = await startMedusa(directory, say)
cleanup.defer(() => medusa.stop())
const proxy = await startDelayingProxy(medusa.url)
cleanup.defer(() => proxy.close())
const shop = await seedMedusa(medusa, { locations, variants: variantCount, units: 3 })
say(`${shop.variants.length} variants at ${locations} locations`)
const storeIds = shop.locations.map((_, at) => `S${at + 1}`)
/** The units that our stores can sell, by SKU and store. */
const stock = new Map<string, number>()
const toKey = (sku: string, storeId: string) => `${sku} ${storeId}`

const installation = await openInstallation({
  workers: 2,
  environment: { LOG_LEVEL: 'error' },
  // A worker that loses Medusa logs it.
  isUnexpected: line => /"level":60/.test(line),
  settings: { currency: 'EUR', fulfilment: 'manual' },
  async prepare(installed) {
    await upsertStores(
      installed.db,
      installed.service,
      storeIds.map((storeId, at) => ({ storeId, storeNumber: String(at + 1), name: `Store ${at + 1}` })),
    )
    await upsertProducts(
      installed.db,
      installed.service,
      shop.variants.map(({ sku }) => ({
        product: { productId: sku, productCode: sku, name: sku },
        colour: { productId: sku, colourId: 'X', code: 'X' },
        variant: { skuId: sku, productId: sku, colourId: 'X', sizeCode: 'M', price: '10.00' },
      })),
    )
    await upsertCustomers(installed.db, installed.service, [{ id: '1', firstname: 'John', surname: 'Smith' }])
    await upsertGateways(installed.db, installed.service, [{ name: 'paypal' }])
  },
})
cleanup.defer(() => installation.close())
const { db, keys, service, credentials, apis, workers } = installation

/** Sets the stock of some SKUs at all stores, as an import does: to `units`, or to random quantities. */
async function setStock(skus: readonly string[], units?: number) {
  const rows = skus.flatMap(sku =>
    storeIds.map(storeId => {
      const freeStock = units ?? random.integer(0, 40)
      stock.set(toKey(sku, storeId), freeStock)
      return { storeId, skuId: sku, freeStock }
    }),
  )
  for (let at = 0; at < rows.length; at += 5_000) await upsertStock(db, service, rows.slice(at, at + 5_000))
  return rows.length
}

/** Waits until no level is due or in flight, three times in a row. */
async function waitUntilQuiet(timeoutMs = quietTimeoutMs) {
  const startedAt = performance.now()
  for (let quiet = 0; quiet < 3; await delay(500)) {
    const { due, inFlight } = await countLevels(db, service)
    // The change feed is read up to a second later.
    quiet = due + inFlight === 0 ? quiet + 1 : 0
    if (performance.now() - startedAt > timeoutMs)
      throw new Error(`${due} levels are due and ${inFlight} are in flight after ${timeoutMs / 1_000} s`)
  }
}

/** Compares all levels like the nightly job, but without its margin of a minute, because nothing else changes the levels. */
async function reconcile() {
  await db.run(sql`update ecommerce_level set known_at = known_at - interval '1 hour' where service_id = ${service.id}`)
  const result = await reconcileStock(db, keys, service, log, { signal, isEmbedded: true })
  if (!result) throw new Error('the connection is missing')
  return result.counts
}

/** Reads all levels from Medusa. Returns those whose quantity differs from our stock. */
async function findWrongLevels(): Promise<string[]> {
  const wrong: string[] = []
  const skusByItem = new Map(shop.variants.map(({ inventoryItemId, sku }) => [inventoryItemId, sku]))
  const storesByLocation = new Map(shop.locations.map((id, at) => [id, storeIds[at] ?? '']))
  let levelCount = 0
  for (let offset = 0; offset < variantCount; offset += 100) {
    const fields = 'id,location_levels.location_id,location_levels.stocked_quantity'
    const { inventory_items } = await medusa.request<{
      inventory_items: { id: string; location_levels: { location_id: string; stocked_quantity: number }[] }[]
    }>('GET', `/admin/inventory-items?order=id&limit=100&offset=${offset}&fields=${fields}`)
    for (const { id, location_levels } of inventory_items)
      for (const { location_id, stocked_quantity } of location_levels) {
        levelCount++
        const key = toKey(skusByItem.get(id) ?? '', storesByLocation.get(location_id) ?? '')
        if (stock.get(key) !== stocked_quantity) wrong.push(`${key}: ${stocked_quantity} not ${stock.get(key)}`)
      }
  }
  if (levelCount !== variantCount * locations) wrong.push(`${levelCount} levels instead of ${variantCount * locations}`)
  return wrong
}

/** Measures Medusa's endpoint alone: four batches at a time from a client that only writes. Returns levels per second. */
async function measureEndpointRate(): Promise<number> {
  const sample = shop.variants.slice(0, Math.ceil(4_000 / locations))
  const rows = sample.flatMap(({ inventoryItemId }) =>
    shop.locations.map(location_id => ({ inventory_item_id: inventoryItemId, location_id, stocked_quantity: 4 })),
  )
  const batches = Array.from({ length: Math.ceil(rows.length / 500) }, (_, at) => rows.slice(at * 500, at * 500 + 500))
  const startedAt = performance.now()
  const write = async () => {
    for (let batch = batches.pop(); batch; batch = batches.pop())
      await medusa.request('POST', '/admin/inventory-items/location-levels/batch', { update: batch })
  }
  await Promise.all([write(), write(), write(), write()])
  return rows.length / ((performance.now() - startedAt) / 1_000)
}

/**
 * Lets Medusa execute a write after the worker has abandoned it and has set the levels to newer quantities. Nothing shows such a write until the
 * next comparison.
 */
async function executeLateWrite() {
  const [variant] = shop.variants
  if (!variant) throw new Error('the shop is empty')
  const failures: string[] = []
  const expect = (name: string, actual: number, expected: number) =>
    void (actual !== expected && failures.push(`${name}: ${actual} not ${expected}`))
  const holding = proxy.holdNextWrite()
  await setStock([variant.sku], 41)
  const heldWrite = await holding
  await setStock([variant.sku], 42)
  await heldWrite.abandoned
  await waitUntilQuiet()
  expect('wrong levels after the write was abandoned', (await findWrongLevels()).length, 0)
  expect('status of the late write', await heldWrite.execute(), 200)
  expect('wrong levels after the late write', (await findWrongLevels()).length, locations)
  expect('drift', (await reconcile()).drifted, locations)
  await waitUntilQuiet()
  expect('drift after the push', (await reconcile()).drifted, 0)
  expect('wrong levels after the push', (await findWrongLevels()).length, 0)
  say(`Late write: ${failures.join('; ') || 'corrected'}`)
  return { failures, levels: locations }
}

/** Sells units at Medusa, places the order in Tillbridge, and fulfils it at Medusa. Returns the quantities that were wrong. */
async function fulfilSoldUnits(): Promise<string[]> {
  const variant = shop.variants.at(-1)
  const [location] = shop.locations
  const [storeId] = storeIds
  if (!variant || location === undefined || storeId === undefined) throw new Error('the shop is empty')
  const failures: string[] = []
  async function expectLevel(when: string, stocked: number, reserved: number) {
    const { inventory_levels } = await medusa.request<{
      inventory_levels: { location_id: string; stocked_quantity: number; reserved_quantity: number }[]
    }>('GET', `/admin/inventory-items/${variant?.inventoryItemId}/location-levels?limit=1000`)
    const level = inventory_levels.find(({ location_id }) => location_id === location)
    const actual = `${level?.stocked_quantity} stocked, ${level?.reserved_quantity} reserved`
    if (actual !== `${stocked} stocked, ${reserved} reserved`) failures.push(`${when}: ${actual}`)
  }
  await setStock([variant.sku], 10)
  await waitUntilQuiet()
  const sold = await sellUnits(medusa, variant, location, 2)
  const address = { contactName: 'John Smith', addressLine1: 'Marktplatz 1', city: 'Bremen', country: 'Germany' }
  const { status, text } = await sendRaw(fetchFromAny(apis, random), credentials, {
    method: 'POST',
    path: '/orders',
    body: {
      customerId: '1',
      billingAddress: address,
      deliveryAddress: address,
      pickupStoreNumber: '1',
      lines: [{ sku: variant.sku, quantity: sold.units }],
      payments: [{ gateway: 'paypal', amount: (10 * sold.units).toFixed(2) }],
      ecommerceOrderId: sold.orderId,
    },
    key: 'sold-at-medusa',
  })
  if (status !== 201) throw new Error(`POST /orders: ${status} ${text}`)
  // The job reads the order at Medusa.
  const countCommitted = async () =>
    (
      await db.row<{ units: number }>(
        sql`select coalesce(sum(units), 0)::integer as units from ecommerce_commitment where service_id = ${service.id} and order_id = ${sold.orderId}`,
      )
    )?.units
  for (let waits = 0; (await countCommitted()) !== sold.units; waits++) {
    if (waits > 300) throw new Error('the units of the order were not read')
    await delay(200)
  }
  await waitUntilQuiet()
  // 8 units are free and 2 are reserved.
  await expectLevel('after the sale', 10, 2)
  await fulfilOrder(medusa, sold)
  await expectLevel('after the fulfilment', 8, 0)
  await reconcile()
  await waitUntilQuiet()
  await expectLevel('after the comparison', 8, 0)
  // The store has sold one more unit. The order is still open in Tillbridge, so 7 of 9 units can be sold.
  await setStock([variant.sku], 9)
  await waitUntilQuiet()
  await expectLevel('after the next push', 7, 0)
  say(`Fulfilled order: ${failures.join('; ') || 'subtracted once'}`)
  return failures
}

/** Returns the time of the newest write of a level at Medusa. */
async function findNewestWriteTime(): Promise<string> {
  const { inventoryItemId } = shop.variants[0] ?? { inventoryItemId: '' }
  const { inventory_levels } = await medusa.request<{ inventory_levels: { updated_at: string }[] }>(
    'GET',
    `/admin/inventory-items/${inventoryItemId}/location-levels?limit=1000&fields=updated_at`,
  )
  return (
    inventory_levels
      .map(({ updated_at }) => updated_at)
      .toSorted()
      .at(-1) ?? ''
  )
}

const secondsSince = (startedAt: number) => (performance.now() - startedAt) / 1_000
const endpointRate = await measureEndpointRate()
say(`The endpoint alone: ${Math.round(endpointRate)} levels/s`)
for (const [at, storeId] of storeIds.entries()) {
  const body = { ecommerceLocationId: shop.locations[at] ?? '' }
  const send = fetchFromAny(apis, random)
  const { status, text } = await sendRaw(send, credentials, {
    method: 'PUT',
    path: `/mappings/stores/${storeId}`,
    body,
    key: `map-${storeId}`,
  })
  if (status >= 300) throw new Error(`PUT /mappings/stores/${storeId}: ${status} ${text}`)
}
const syncBegun = performance.now()
const connection = { ...defaultConnection, ...fixedFields.medusa, driver: 'medusa', url: proxy.url } as const
await db.transaction(async tx => {
  await setConnection(tx, keys, service, { ...connection, stockPush: 'dryRun' }, medusa.token)
  await addJob(tx, null, 'schedule-syncs', {})
})
const countItems = async () =>
  (
    await db.row<{ count: number }>(
      sql`select count(*)::integer as count from ecommerce_item where service_id = ${service.id} and kind in ('stores', 'skus')`,
    )
  )?.count
while ((await countItems()) !== variantCount + locations) {
  await delay(200)
  if (secondsSince(syncBegun) > 600) throw new Error('the syncs did not read all items within 600 s')
}
const syncSeconds = secondsSince(syncBegun)
say(`Syncs: ${syncSeconds.toFixed(1)} s`)

await setStock(shop.variants.map(({ sku }) => sku))
const dryRun = await reconcile()
await db.transaction(tx => setConnection(tx, keys, service, { ...connection, stockPush: 'on' }, medusa.token))
const pushBegun = performance.now()
while ((await countLevels(db, service)).due === 0) {
  await delay(50)
  if (secondsSince(pushBegun) > 60) throw new Error('no level became due')
}
await waitUntilQuiet(firstPushTimeoutMs)
const pushSeconds = secondsSince(pushBegun) - 1.5
const rate = (dryRun.rising + dryRun.falling + dryRun.fallingToZero) / pushSeconds
say(`First push: ${pushSeconds.toFixed(1)} s, ${Math.round(rate)} levels/s`)
const afterPush = await findWrongLevels()
const reconcileBegun = performance.now()
const cleanReconciliation = await reconcile()
const reconcileSeconds = secondsSince(reconcileBegun)

const wrongAfterKills: string[] = []
const driftAfterKills: string[] = []
const driftFound: number[] = []
let levelsChanged = 0
/** Around each kill, one in `variantsPerChange` variants changes: about 5,000 levels, and at most a quarter of all. */
const variantsPerChange = Math.max(4, Math.round(levels / 5_000))
for (let kill = 1; kill <= kills; kill++) {
  const part = shop.variants.filter(() => random.integer(1, variantsPerChange) === 1).map(({ sku }) => sku)
  levelsChanged += await setStock(part)
  await delay(random.integer(300, 2_500))
  const isMedusa = kill % 2 === 1
  if (isMedusa) {
    await medusa.kill()
    levelsChanged += await setStock(part.slice(0, 20))
    await delay(random.integer(0, 2_000))
    await medusa.start()
  } else for (const worker of workers) worker.kill()
  await waitUntilQuiet()
  const first = await reconcile()
  driftFound.push(first.drifted)
  await waitUntilQuiet()
  const second = await reconcile()
  if (second.drifted) driftAfterKills.push(`kill ${kill}: ${second.drifted} levels`)
  const wrong = await findWrongLevels()
  wrongAfterKills.push(...wrong.map(level => `kill ${kill}: ${level}`))
  say(
    `Kill ${kill} (${isMedusa ? 'Medusa' : 'both workers'}): found ${first.drifted}, then ${second.drifted}, wrong ${wrong.length}`,
  )
}

const lateWrite = await executeLateWrite()
const orderFailures = await fulfilSoldUnits()

const writesBefore = await findNewestWriteTime()
await delay(10_000)
report('medusa', {
  command: `medusa --levels ${levels} --locations ${locations} --kills ${kills}`,
  keep,
  measurements: [
    ['variants, locations, levels', `${variantCount}, ${locations}, ${variantCount * locations}`],
    ['syncs of locations and variants, s', syncSeconds.toFixed(1)],
    ['first push, s', pushSeconds.toFixed(1)],
    ['first push, levels/s', Math.round(rate)],
    ["Medusa's endpoint alone, levels/s", Math.round(endpointRate)],
    ['comparison of all levels, s', reconcileSeconds.toFixed(1)],
    ['kills of Medusa, of both workers', `${Math.ceil(kills / 2)}, ${Math.floor(kills / 2)}`],
    ['levels changed around the kills', levelsChanged],
    ['drift that the first comparison after each kill found', driftFound.join(', ')],
    ['CPU of Medusa, s', readCpuSeconds(medusa.pid).toFixed(1)],
    ['memory of Medusa, MB', Math.round(readMemory(medusa.pid).now)],
  ],
  checks: [
    check('the first push sets every level', afterPush, variantCount * locations),
    check(
      'a comparison after it finds no drift',
      cleanReconciliation.drifted ? [String(cleanReconciliation.drifted)] : [],
      cleanReconciliation.compared,
    ),
    check('after each kill, every level of Medusa is right', wrongAfterKills, kills),
    check('after each kill, a comparison finds no drift', driftAfterKills, kills),
    check('an abandoned write that Medusa executes later is found and corrected', lateWrite.failures, lateWrite.levels),
    check('an order and its fulfilment at Medusa are subtracted once', orderFailures, 4),
    check(
      'nothing is written to Medusa in 10 s of quiet',
      (await findNewestWriteTime()) === writesBefore ? [] : ['a write'],
      1,
    ),
    check('no process of Tillbridge failed', installation.log),
  ],
})
isFinished = true
