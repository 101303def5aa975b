import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { openBackOffices } from '../src/backoffice/back-offices.ts'
import { raw, type Sql, sql } from '../src/database/db.ts'
import { type ConnectionSettings, defaultConnection } from '../src/domain/ecommerce/connection-settings.ts'
import type { Service } from '../src/domain/tenancy/service-settings.ts'
import { getEventPath } from '../src/ecommerce/connections.ts'
import { runPlatformSync } from '../src/ecommerce/run-platform-sync.ts'
import { pushStock } from '../src/ecommerce/stock-push/push.ts'
import { buildBackOfficeJobs, jobs } from '../src/jobs/jobs.ts'
import { startWorker } from '../src/jobs/worker.ts'
import { setConnection } from '../src/store/ecommerce/connections.ts'
import { startPush } from '../src/store/ecommerce/push-state.ts'
import { upsertStock } from '../src/store/inventory/stock.ts'
import { addService } from '../src/store/tenancy/services.ts'
import type { Bench } from './rig/bench.ts'
import { runCommand } from './rig/command.ts'
import type { LoadedDatabase } from './rig/database.ts'
import { sendEvents } from './rig/events.ts'
import { startService } from './rig/processes.ts'
import { createQuantile } from './rig/quantile.ts'
import { formatTenths, formatWhole, type Section } from './rig/report.ts'

const name = 'bench-platform'
const locations = 5
const changesPerSecond = 50
const changeSeconds = 20
const driftShare = 0.01
const eventsPerSecond = 200
const eventSeconds = 20
const main = fileURLToPath(new URL('../simulator/shopify/main.ts', import.meta.url))
const log = pino({ level: 'silent' })

/** Measures the stock push and its comparison with a simulated Shopify shop in a separate process. */
export async function measurePlatform(
  bench: Bench,
  loaded: LoadedDatabase,
  { variants }: { variants: number },
): Promise<Section> {
  const { db, keys } = loaded
  const levels = variants * locations
  const shop = await startShop(['--variants', String(variants), '--locations', String(locations), '--customers', '0'])
  await db.run(sql`delete from service where name = ${name}`)
  const service = await addService(db, name, { currency: 'AUD' })
  if (!service) throw new Error(`the service ${name} already exists`)
  const signal = AbortSignal.timeout(3_600_000)
  const connect = (settings: Partial<ConnectionSettings>) =>
    db.transaction(tx =>
      setConnection(
        tx,
        keys,
        service,
        { ...defaultConnection, url: shop.url, clientId: shop.clientId, ...settings },
        shop.secret,
      ),
    )
  const reconcile = () => runCommand(bench, loaded, ['ecommerce', 'reconcile', name])
  const push = async () => {
    const began = performance.now()
    while ((await pushStock(db, keys, service, log, { signal, isEmbedded: true })).state === 'unfinished');
    return (performance.now() - began) / 1_000
  }
  const running = await startService(bench.directory, { DATABASE_URL: loaded.url, RUN_JOBS: 'false' })
  try {
    await connect({ stockPush: 'dryRun', events: 'on' })
    bench.say(`  reads ${formatWhole(variants)} variants`)
    for (const sync of ['ecommerce-locations', 'ecommerce-variants'] as const)
      await runPlatformSync(db, keys, service, sync, log)
    await fillStock(db, service)
    bench.say('  first comparison')
    const first = await reconcile()
    bench.say(`  ${formatWhole(first.seconds)} s; comparison again`)
    // A comparison skips levels that changed in the last minute, and reads them one by one.
    const ageLevels = () =>
      db.run(sql`update ecommerce_level set known_at = known_at - interval '1 hour' where service_id = ${service.id}`)
    await ageLevels()
    const again = await reconcile()
    bench.say(`  ${formatWhole(again.seconds)} s, ${formatWhole(again.peak)} MB; writes all levels`)
    await startPush(db, service)
    const events = { path: getEventPath(service), secret: shop.secret, ratePerSecond: eventsPerSecond }
    const [written, responses] = await Promise.all([push(), sendEvents(running, { ...events, seconds: eventSeconds })])
    const getResponseQuantile = createQuantile(responses)
    bench.say(`  ${formatWhole(written)} s; ${driftShare * 100} % drift`)
    await ageLevels()
    const drifted = await changeLevels(db, service, shop, Math.round(levels * driftShare))
    const compared = await reconcile()
    const corrected = await push()
    bench.say(
      `  ${formatWhole(compared.seconds)} s and ${formatWhole(corrected)} s; ${changesPerSecond} changes a second`,
    )
    const lags = await measureLags(loaded, service, variants)
    const getLagQuantile = createQuantile(lags)
    const { throttled, calls } = await shop.read()
    const state = `${formatWhole(throttled)} of ${formatWhole(calls)}`
    return {
      title: 'Stock push',
      about: `A simulated Shopify shop with ${formatWhole(levels)} levels in a process of its own, which also needs the machine. Its bucket has 2,000 points and restores 100 a second. Comparisons run as \`tillbridge ecommerce reconcile\`; peak is the most memory that the process had.`,
      tables: [
        {
          caption: 'Runs',
          head: ['run', 'seconds', 'peak MB'],
          rows: [
            ['first comparison', formatTenths(first.seconds), formatWhole(first.peak)],
            ['comparison again', formatTenths(again.seconds), formatWhole(again.peak)],
            ['all levels written', formatTenths(written), '-'],
            [
              `comparison with ${formatWhole(drifted)} changed levels`,
              formatTenths(compared.seconds),
              formatWhole(compared.peak),
            ],
            ['their correction', formatTenths(corrected), '-'],
          ],
        },
        {
          caption: `From the commit of a stock change to the recorded result, at ${changesPerSecond} changes a second`,
          head: ['changes', 'p50 s', 'p99 s'],
          rows: [[formatWhole(lags.length), formatTenths(getLagQuantile(0.5)), formatTenths(getLagQuantile(0.99))]],
        },
        {
          caption: `Responses to events, at ${eventsPerSecond} events a second while all levels are written`,
          head: ['events', 'p50 ms', 'p99 ms'],
          rows: [
            [
              formatWhole(responses.length),
              formatTenths(getResponseQuantile(0.5)),
              formatTenths(getResponseQuantile(0.99)),
            ],
          ],
        },
      ],
      targets: [
        buildTarget(`${formatWhole(levels)} levels compared`, 60, again.seconds, 's'),
        buildTarget('memory of a comparison', 300, Math.max(first.peak, again.peak, compared.peak), 'MB'),
        buildTarget(`${formatWhole(levels)} levels written`, 210, written, 's'),
        buildTarget('1 % drift found and corrected', 90, compared.seconds + corrected, 's'),
        buildTarget('stock change set on the platform, p99', 3, getLagQuantile(0.99), 's'),
        buildTarget('response to an event during the push, p99', 100, getResponseQuantile(0.99), 'ms'),
        { label: 'throttled calls', expected: '< 0.1 %', actual: state, met: throttled * 1_000 < calls },
      ],
    }
  } finally {
    await running.stop()
    await shop.stop()
    await db.run(sql`delete from service where name = ${name}`)
  }
}

const buildTarget = (label: string, maximum: number, actual: number, unit: string) => ({
  label,
  expected: `≤ ${maximum} ${unit}`,
  actual: `${formatTenths(actual)} ${unit}`,
  met: actual <= maximum,
})

/** Starts a simulated shop in a separate process. */
async function startShop(args: readonly string[]) {
  const child = spawn(process.execPath, [main, '--port', '0', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  let output = ''
  const [, url = '', clientId = '', secret = ''] = await new Promise<RegExpExecArray>((resolve, reject) => {
    child.stdout.on('data', chunk => {
      output += chunk
      const connection = /url=(\S+) clientId=(\S+)\s+client secret (\S+)/.exec(output)
      if (connection) resolve(connection)
    })
    ended.then(([code]) => reject(new Error(`The simulator ended with code ${code}.`)))
  })
  const request = async (path: string, body?: object) => {
    const response = await fetch(`${url}/_simulator/${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return (await response.json()) as Record<string, number>
  }
  return {
    url,
    clientId,
    secret,
    change: (change: object) => request('changes', change),
    async read() {
      const { throttled = 0, calls = 0 } = await request('state')
      return { throttled, calls }
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Maps a store to each location and a SKU to each variant, with stock everywhere. */
async function fillStock(db: LoadedDatabase['db'], { id }: Service) {
  const service = sql`${id}::integer`
  const items = (kind: string) => sql`from ecommerce_item e where e.service_id = ${service} and e.kind = ${kind}`
  const rows: Record<string, Sql> = {
    'store (service_id, store_id, changed_at, record, store_number, name, ecommerce_location_id)': sql`
      select ${service}, 's' || item_key, now(), '{}', item_key, name, ecommerce_id ${items('stores')}`,
    'product (service_id, product_id, changed_at, record, product_code, name)': sql`
      select ${service}, 'p' || item_key, now(), '{}', item_key, 'Product' ${items('skus')}`,
    'colour (service_id, product_id, colour_id)': sql`select ${service}, 'p' || item_key, 'black' ${items('skus')}`,
    'variant (service_id, sku_id, product_id, colour_id, sku, size_code, original_price, price)': sql`
      select ${service}, ecommerce_id, 'p' || item_key, 'black', ecommerce_id, 'M', 10, 10 ${items('skus')}`,
    'stock (service_id, store_id, sku_id, changed_at, record, free_stock)': sql`
      select ${service}, s.store_id, e.ecommerce_id, now(), json_build_object('id', s.store_id || '-' || e.ecommerce_id)::text, 30
        from store s, ecommerce_item e where s.service_id = ${service} and e.service_id = ${service} and e.kind = 'skus'`,
  }
  await db.transaction(async tx => {
    // The rows are generated consistently, so foreign keys need no check.
    await tx.run(sql`set local session_replication_role = replica`)
    for (const [columns, source] of Object.entries(rows)) await tx.run(sql`insert into ${raw(columns)} ${source}`)
  })
  await db.run(sql`analyze store, variant, stock, ecommerce_item`)
}

/** Changes `count` levels on the platform, as the merchant does. Returns the number of changed levels. */
async function changeLevels(
  db: LoadedDatabase['db'],
  service: Service,
  shop: Awaited<ReturnType<typeof startShop>>,
  count: number,
) {
  const levels = await db.rows<{ itemId: string; locationId: string }>(sql`
    select item_id as "itemId", location_id as "locationId" from ecommerce_level
     where service_id = ${service.id} order by md5(item_id || location_id) limit ${count}`)
  const toNumber = (id: string) => Number(id.split('/').at(-1))
  for (let at = 0; at < levels.length; at += 50)
    await Promise.all(
      levels.slice(at, at + 50).map(({ itemId, locationId }) =>
        shop.change({
          kind: 'count',
          itemId: toNumber(itemId),
          locationId: toNumber(locationId),
          available: 5,
        }),
      ),
    )
  return levels.length
}

/** Changes one SKU after the other while a worker pushes. Returns the seconds from each commit to the recorded result. */
async function measureLags({ db, keys }: LoadedDatabase, service: Service, variants: number): Promise<number[]> {
  const [store] = await db.rows<{ id: string }>(
    sql`select store_id as id from store where service_id = ${service.id} order by 1 limit 1`,
  )
  if (!store) throw new Error('the service has no store')
  const offices = await openBackOffices({ db, keys, defaults: { driver: 'embedded' }, log })
  const worker = startWorker({ db, keys, log, mailTransport: { send: async () => {} } }, {
    'push-stock': buildBackOfficeJobs(offices)['push-stock'],
    'schedule-stock-push': jobs['schedule-stock-push'],
  } as never)
  const committed = new Map<string, number>()
  const began = performance.now()
  for (let change = 0; change < Math.min(changesPerSecond * changeSeconds, variants); change++) {
    await delay(Math.max(0, began + (change * 1_000) / changesPerSecond - performance.now()))
    const skuId = `SIM-${String(change + 1).padStart(6, '0')}`
    await upsertStock(db, service, [{ storeId: store.id, skuId, freeStock: 29 }])
    committed.set(skuId, Date.now())
  }
  await delay(10_000)
  await worker.stop(10_000)
  offices.close()
  const results = await db.rows<{ sku: string; at: Date; onHand: number }>(sql`
    select i.ecommerce_id as sku, l.known_at as at, l.known_on_hand as "onHand"
      from store s
      join ecommerce_item p on p.service_id = s.service_id and p.kind = 'stores' and p.ecommerce_id = s.ecommerce_location_id
      join ecommerce_level l on l.service_id = s.service_id and l.location_id = p.platform_id
      join ecommerce_item i on i.service_id = s.service_id and i.kind = 'skus' and i.inventory_item_id = l.item_id
     where s.service_id = ${service.id} and s.store_id = ${store.id} and i.ecommerce_id = any(${[...committed.keys()]})`)
  return results.map(({ sku, at, onHand }) =>
    onHand === 29 ? (at.getTime() - (committed.get(sku) ?? Number.NaN)) / 1_000 : Number.POSITIVE_INFINITY,
  )
}
