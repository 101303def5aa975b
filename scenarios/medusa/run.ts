import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { pino } from 'pino'
import { randomFor } from '../../seed/random.ts'
import { sql } from '../../src/database/db.ts'
import { defaultConnection, fixedFields } from '../../src/domain/ecommerce/connection-settings.ts'
import { openPlatform } from '../../src/ecommerce/connections.ts'
import { reconcileStock } from '../../src/ecommerce/reconciliation/reconcile.ts'
import { upsertProducts } from '../../src/store/catalog/products.ts'
import { upsertStores } from '../../src/store/catalog/stores.ts'
import { setConnection } from '../../src/store/ecommerce/connections.ts'
import { countLevels } from '../../src/store/ecommerce/status.ts'
import { upsertStock } from '../../src/store/inventory/stock.ts'
import { addJob } from '../../src/store/jobs/jobs.ts'
import { check } from '../support/expectations/check.ts'
import { openInstallation } from '../support/installation.ts'
import { fetchFromAny, sendRaw } from '../support/operations/client.ts'
import { integer } from '../support/options.ts'
import { report, say } from '../support/report.ts'
import { cpuSeconds, memory } from '../support/usage.ts'
import { startMedusa } from './medusa.ts'
import { sellUnits } from './orders.ts'
import { seedMedusa } from './seed.ts'

const { levels, locations, kills, seed, keep } = new Command('npm run scenario -- medusa')
  .description(
    'Installs a real Medusa once, connects it, and pushes the stock of every item at every location. Then changes stock while either side is\nkilled, and requires after each kill that every level of Medusa is right, and that a comparison finds no drift.',
  )
  .option('--levels <number>', 'levels, a multiple of --locations', integer, 100_000)
  .option('--locations <number>', 'stock locations', integer, 50)
  .option('--kills <number>', 'kills; half of them kill Medusa, half both workers of Tillbridge', integer, 6)
  .option('--seed <number>', 'repeats the changes of an earlier run', integer, 1)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run scenario -- medusa\n  npm run scenario -- medusa --levels 2000 --locations 10\n',
  )
  .parse()
  .opts<{ levels: number; locations: number; kills: number; seed: number; keep?: boolean }>()

const variants = Math.ceil(levels / locations)
const random = randomFor(`medusa ${seed}`)
const log = pino({ level: 'silent' })
const signal = AbortSignal.timeout(2 * 3_600_000)
/** A retry waits up to a minute, and the circuit breaker too. */
const quietTimeoutMs = 600_000

const directory = mkdtempSync(join(tmpdir(), 'tillbridge-medusa-'))
chmodSync(directory, 0o711)
const medusa = await startMedusa(directory, say)
const shop = await seedMedusa(medusa, { locations, variants, units: 3 })
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
  settings: { currency: 'EUR' },
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
  },
})
const { db, keys, service, credentials, apis, workers } = installation

/** Sets the stock of some SKUs at all stores, as an import does. */
async function setStock(skus: readonly string[]) {
  const rows = skus.flatMap(sku =>
    storeIds.map(storeId => {
      const freeStock = random.integer(0, 40)
      stock.set(toKey(sku, storeId), freeStock)
      return { storeId, skuId: sku, freeStock }
    }),
  )
  for (let at = 0; at < rows.length; at += 5_000) await upsertStock(db, service, rows.slice(at, at + 5_000))
  return rows.length
}

/** Waits until no level is due or in flight, three times in a row. */
async function waitUntilQuiet() {
  const begun = performance.now()
  for (let quiet = 0; quiet < 3; await delay(500)) {
    const { due, inFlight } = await countLevels(db, service)
    // The change feed is read up to a second later.
    quiet = due + inFlight === 0 ? quiet + 1 : 0
    if (performance.now() - begun > quietTimeoutMs)
      throw new Error(`${due} levels are due and ${inFlight} are in flight after ${quietTimeoutMs / 1_000} s`)
  }
}

/** Compares all levels as the nightly job does. Its margin of a minute doesn't apply: nothing else changes them. */
async function reconcile() {
  await db.run(sql`update ecommerce_level set known_at = known_at - interval '1 hour' where service_id = ${service.id}`)
  const result = await reconcileStock(db, keys, service, log, { signal, isEmbedded: true })
  if (!result) throw new Error('the connection is missing')
  return result.counts
}

/** Reads all levels from Medusa, and returns those whose quantity isn't the one of our stores. */
async function findWrongLevels(): Promise<string[]> {
  const wrong: string[] = []
  const skuOf = new Map(shop.variants.map(({ inventoryItemId, sku }) => [inventoryItemId, sku]))
  const storeOf = new Map(shop.locations.map((id, at) => [id, storeIds[at] ?? '']))
  let read = 0
  for (let offset = 0; offset < variants; offset += 100) {
    const fields = 'id,location_levels.location_id,location_levels.stocked_quantity'
    const { inventory_items } = await medusa.request<{
      inventory_items: { id: string; location_levels: { location_id: string; stocked_quantity: number }[] }[]
    }>('GET', `/admin/inventory-items?order=id&limit=100&offset=${offset}&fields=${fields}`)
    for (const { id, location_levels } of inventory_items)
      for (const { location_id, stocked_quantity } of location_levels) {
        read++
        const key = toKey(skuOf.get(id) ?? '', storeOf.get(location_id) ?? '')
        if (stock.get(key) !== stocked_quantity) wrong.push(`${key}: ${stocked_quantity} not ${stock.get(key)}`)
      }
  }
  if (read !== variants * locations) wrong.push(`${read} levels instead of ${variants * locations}`)
  return wrong
}

/** Measures the endpoint alone: the same batches, four at a time, from a client that only writes. Returns levels per second. */
async function measureEndpoint(): Promise<number> {
  const sample = shop.variants.slice(0, Math.ceil(4_000 / locations))
  const rows = sample.flatMap(({ inventoryItemId }) =>
    shop.locations.map(location_id => ({ inventory_item_id: inventoryItemId, location_id, stocked_quantity: 4 })),
  )
  const batches = Array.from({ length: Math.ceil(rows.length / 200) }, (_, at) => rows.slice(at * 200, at * 200 + 200))
  const begun = performance.now()
  const write = async () => {
    for (let batch = batches.pop(); batch; batch = batches.pop())
      await medusa.request('POST', '/admin/inventory-items/location-levels/batch', { update: batch })
  }
  await Promise.all([write(), write(), write(), write()])
  return rows.length / ((performance.now() - begun) / 1_000)
}

const seconds = (begun: number) => (performance.now() - begun) / 1_000
let failed = false
try {
  const endpointRate = await measureEndpoint()
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
  const connection = { ...defaultConnection, ...fixedFields.medusa, driver: 'medusa', url: medusa.url } as const
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
  while ((await countItems()) !== variants + locations) {
    await delay(200)
    if (seconds(syncBegun) > 600) throw new Error('the syncs did not read all items within 600 s')
  }
  const syncSeconds = seconds(syncBegun)
  say(`Syncs: ${syncSeconds.toFixed(1)} s`)

  await setStock(shop.variants.map(({ sku }) => sku))
  const dryRun = await reconcile()
  await db.transaction(tx => setConnection(tx, keys, service, { ...connection, stockPush: 'on' }, medusa.token))
  const pushBegun = performance.now()
  while ((await countLevels(db, service)).due === 0) {
    await delay(50)
    if (seconds(pushBegun) > 60) throw new Error('no level became due')
  }
  await waitUntilQuiet()
  const pushSeconds = seconds(pushBegun) - 1.5
  const rate = (dryRun.rising + dryRun.falling + dryRun.fallingToZero) / pushSeconds
  say(`First push: ${pushSeconds.toFixed(1)} s, ${Math.round(rate)} levels/s`)
  const afterPush = await findWrongLevels()
  const reconcileBegun = performance.now()
  const clean = await reconcile()
  const reconcileSeconds = seconds(reconcileBegun)

  const wrongAfterKills: string[] = []
  const driftAfterKills: string[] = []
  const found: number[] = []
  let levelsChanged = 0
  for (let kill = 1; kill <= kills; kill++) {
    const part = shop.variants.filter(() => random.integer(0, 3) === 0).map(({ sku }) => sku)
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
    found.push(first.drifted)
    await waitUntilQuiet()
    const second = await reconcile()
    if (second.drifted) driftAfterKills.push(`kill ${kill}: ${second.drifted} levels`)
    const wrong = await findWrongLevels()
    wrongAfterKills.push(...wrong.map(level => `kill ${kill}: ${level}`))
    say(
      `Kill ${kill} (${isMedusa ? 'Medusa' : 'both workers'}): found ${first.drifted}, then ${second.drifted}, wrong ${wrong.length}`,
    )
  }

  const { orderId, units } = await sellUnits(medusa, shop)
  const opened = await openPlatform(db, keys, service, log)
  const committed = (await opened?.platform.inventory.readCommitments([orderId], signal)) ?? []
  const committedUnits = committed.flatMap(({ lines }) => lines.map(line => line.units))

  const writesBefore = await newestWrite()
  await delay(10_000)
  report('medusa', {
    command: `medusa --levels ${levels} --locations ${locations} --kills ${kills}`,
    keep,
    measurements: [
      ['variants, locations, levels', `${variants}, ${locations}, ${variants * locations}`],
      ['syncs of locations and variants, s', syncSeconds.toFixed(1)],
      ['first push, s', pushSeconds.toFixed(1)],
      ['first push, levels/s', Math.round(rate)],
      ["Medusa's endpoint alone, levels/s", Math.round(endpointRate)],
      ['comparison of all levels, s', reconcileSeconds.toFixed(1)],
      ['kills of Medusa, of both workers', `${Math.ceil(kills / 2)}, ${Math.floor(kills / 2)}`],
      ['levels changed around the kills', levelsChanged],
      ['drift that the first comparison after each kill found', found.join(', ')],
      ['CPU of Medusa, s', cpuSeconds(medusa.pid).toFixed(1)],
      ['memory of Medusa, MB', Math.round(memory(medusa.pid).now)],
    ],
    checks: [
      check('the first push sets every level', afterPush, variants * locations),
      check('a comparison after it finds no drift', clean.drifted ? [String(clean.drifted)] : [], clean.compared),
      check('after each kill, every level of Medusa is right', wrongAfterKills, kills),
      check('after each kill, a comparison finds no drift', driftAfterKills, kills),
      check(
        'the reservations of an order are its committed units',
        committedUnits.join() === String(units) ? [] : [`${committedUnits} not ${units}`],
        1,
      ),
      check(
        'nothing is written to Medusa in 10 s of quiet',
        (await newestWrite()) === writesBefore ? [] : ['a write'],
        1,
      ),
      check('no process of Tillbridge failed', installation.log),
    ],
  })
} catch (error) {
  failed = true
  throw error
} finally {
  await installation.close()
  await medusa.stop()
  if (!failed) rmSync(directory, { recursive: true, force: true })
}

/** The time of the newest write of a level at Medusa. */
async function newestWrite(): Promise<string> {
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
