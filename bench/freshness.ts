import { Agent } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { connectBackOffice } from '../scenarios/support/back-office-connection.ts'
import { startSimulatorProcess } from '../simulator/control/process.ts'
import { sql } from '../src/database/db.ts'
import type { Service } from '../src/domain/tenancy/service-settings.ts'
import { addAccount } from '../src/store/accounts/accounts.ts'
import { addService } from '../src/store/tenancy/services.ts'
import { type Account, fetchText } from './following/follower.ts'
import type { Bench } from './rig/bench.ts'
import type { LoadedDatabase } from './rig/database.ts'
import { type RunningService, startService } from './rig/processes.ts'
import { createQuantile } from './rig/quantile.ts'
import { formatTenths, formatWhole, type Section } from './rig/report.ts'
import type { StockSize } from './sync.ts'
import { createClient } from './writes/client.ts'
import { address } from './writes/remote-shop.ts'

const name = 'bench-freshness'
/** Assumed seconds of a call of the back office, because no figures are published. StockChanged reads all stores, the other calls read one record. */
const latencies = { '/StockChanged': 2, '/Persons/*': 0.3, '/Freestock/*': 0.3 }
const orders = 30
/** Milliseconds between two sales, and between two requests for changes. */
const [saleMs, pollMs] = [500, 200]
/** Maximum seconds until the last change arrives, and until all initial syncs have finished. */
const [lastSeconds, initialSeconds] = [240, 1_200]
const targets = { sale: 75, shipment: 120 }

/** Measures the seconds from a till sale and from a shipment in the back office until the change feed has it, with the default intervals. */
export async function measureFreshness(
  bench: Bench,
  loaded: LoadedDatabase,
  { stores, skus }: StockSize,
): Promise<Section> {
  const { db, keys } = loaded
  const simulator = await startSimulatorProcess([
    '--stores',
    String(stores),
    '--skus',
    String(skus),
    '--persons',
    '200',
  ])
  await db.run(sql`delete from service where name = ${name}`)
  await db.run(sql`delete from account where username = ${name}`)
  const settings = { currency: 'AUD', writesPerMinute: 'off', readsPerMinute: 'off', oversell: 'allow' } as const
  const service = await addService(db, name, settings)
  const password = service && (await addAccount(db, keys, name, service, 'maintainer'))
  if (!service || !password) throw new Error(`the service or the account ${name} already exists`)
  bench.say('  first syncs')
  await connectBackOffice(db, keys, service, { url: simulator.url, gateways: ['visa'] })
  const running = await startService(bench.directory, { DATABASE_URL: loaded.url, LOG_LEVEL: 'fatal' })
  const account = { username: name, password, serviceName: name }
  const client = createClient(running, name, password)
  try {
    await waitUntilSynced(loaded, service)
    const orderIds = await placeOrders(loaded, service, client)
    const stockedItems = await db.rows<{ skuId: string; storeId: string }>(sql`
      select s.sku_id as "skuId", s.store_id as "storeId" from stock s join store t on t.service_id = s.service_id and t.store_id = s.store_id and t.kind = 'store'
       where s.service_id = ${service.id} and s.free_stock > 5 order by random() limit 10000`)
    const rows = (
      await db.row<{ n: number }>(sql`select count(*)::integer as n from stock where service_id = ${service.id}`)
    )?.n
    for (const [path, seconds] of Object.entries(latencies))
      await simulator.remote.addFault({ kind: 'latency', path, seconds })
    bench.say(`  sales and shipments for ${bench.rounds} minutes`)
    const follower = await followChanges(running, account)
    const end = performance.now() + bench.rounds * 60_000
    const shipEveryMs = (bench.rounds * 60_000) / orders
    for (let shippedAt = performance.now(); performance.now() < end; await delay(saleMs)) {
      const sale = stockedItems.pop()
      if (sale) {
        follower.expect('sale', `${sale.storeId}-${sale.skuId}`)
        await simulator.remote.change({
          kind: 'sell-stock',
          skuId: Number(sale.skuId),
          storeId: Number(sale.storeId),
          quantity: 1,
        })
      }
      if (performance.now() < shippedAt + shipEveryMs) continue
      shippedAt += shipEveryMs
      const orderId = orderIds.pop()
      if (orderId === undefined) continue
      follower.expect('shipment', orderId)
      await simulator.remote.change({ kind: 'despatch-order', id: Number(orderId) })
    }
    bench.say('  the last changes')
    return toSection(await follower.end(), { minutes: bench.rounds, rows: rows ?? 0 })
  } finally {
    client.end()
    await running.stop()
    await simulator.stop()
    await db.run(sql`delete from service where name = ${name}`)
    await db.run(sql`delete from account where username = ${name}`)
  }
}

/** Waits until every sync has finished once. */
async function waitUntilSynced({ db }: LoadedDatabase, { id }: Service) {
  for (const end = performance.now() + initialSeconds * 1_000; performance.now() < end; await delay(1_000)) {
    const state = await db.row<{ isDone: boolean | null; all: number }>(sql`
      select bool_and(finished_at is not null) as "isDone", count(*)::integer as all from sync_state where service_id = ${id}`)
    if (state?.isDone && state.all >= 9) return
  }
  throw new Error(`The initial syncs took more than ${initialSeconds} s.`)
}

/** Places orders of one unit. Returns their IDs. */
async function placeOrders({ db }: LoadedDatabase, { id }: Service, client: ReturnType<typeof createClient>) {
  const [item] = await db.rows<{ sku: string; price: string }>(
    sql`select sku, round(price, 2)::text as price from variant where service_id = ${id} and price > 0 limit 1`,
  )
  const customers = await db.rows<{ id: string }>(
    sql`select id from customer where service_id = ${id} and email is not null order by id limit ${orders}`,
  )
  const ids: string[] = []
  for (const customer of customers) {
    const order = await client.write<{ id: string }>('POST', '/orders', {
      customerId: customer.id,
      billingAddress: address,
      deliveryAddress: address,
      lines: [{ sku: item?.sku, quantity: 1 }],
      payments: [{ gateway: 'visa', amount: item?.price }],
    })
    ids.push(order.id)
  }
  return ids
}

type Kind = keyof typeof targets
interface Change {
  kind: string
  id: string
  record?: { orderId: string }
}

/** Follows stock and shipments by polling, and measures the seconds until each expected change. */
async function followChanges(running: RunningService, account: Account) {
  const agent = new Agent({ keepAlive: true })
  const expected = { sale: new Map<string, number>(), shipment: new Map<string, number>() }
  const seconds: Record<Kind, number[]> = { sale: [], shipment: [] }
  let cursor = ''
  let endAt = Number.POSITIVE_INFINITY
  async function readPage() {
    const after = cursor && `&after_cursor=${encodeURIComponent(cursor)}`
    const path = `/changes?kinds=inventory,shipment&records=true&limit=1000${after}`
    const { data, meta } = JSON.parse(await fetchText(running, account, path, agent)) as {
      data: Change[]
      meta: { endCursor: string; hasNextPage: boolean }
    }
    cursor = meta.endCursor
    for (const { kind, id, record } of data)
      recordArrival(kind === 'inventory' ? 'sale' : 'shipment', kind === 'inventory' ? id : (record?.orderId ?? ''))
    return meta.hasNextPage
  }
  function recordArrival(kind: Kind, key: string) {
    const begin = expected[kind].get(key)
    if (begin === undefined) return
    expected[kind].delete(key)
    seconds[kind].push((performance.now() - begin) / 1_000)
  }
  const isComplete = () => expected.sale.size + expected.shipment.size === 0
  while (await readPage());
  const following = (async () => {
    while (performance.now() < endAt && !(endAt < Number.POSITIVE_INFINITY && isComplete()))
      if (!(await readPage())) await delay(pollMs)
  })()
  return {
    expect: (kind: Kind, key: string) => void expected[kind].set(key, performance.now()),
    /** Waits for the last changes. A missing change counts as infinite seconds. */
    async end() {
      endAt = performance.now() + lastSeconds * 1_000
      await following
      agent.destroy()
      for (const kind of ['sale', 'shipment'] as const)
        seconds[kind].push(...Array.from(expected[kind], () => Number.POSITIVE_INFINITY))
      return seconds
    },
  }
}

function toSection(seconds: Record<Kind, number[]>, { minutes, rows }: { minutes: number; rows: number }): Section {
  const labels = { sale: 'till sale → change feed', shipment: 'shipped → change feed' }
  const quantiles = { sale: createQuantile(seconds.sale), shipment: createQuantile(seconds.shipment) }
  const measured = { sale: quantiles.sale(0.99), shipment: Math.max(...seconds.shipment) }
  return {
    title: 'Freshness',
    about: `\`tillbridge start\` with the default intervals in front of an Apparel21 (the simulator) with ${formatWhole(rows)} rows of stock, for ${minutes} minutes. The simulator takes ${Object.entries(
      latencies,
    )
      .map(([path, latency]) => `${latency} s for \`${path}\``)
      .join(', ')}, and needs the machine too. A client polls \`GET /changes\` every ${pollMs} ms.`,
    tables: [
      {
        caption: 'Seconds',
        head: ['change', 'changes', 'p50', 'p99', 'longest'],
        rows: (['sale', 'shipment'] as const).map(kind => [
          labels[kind],
          String(seconds[kind].length),
          ...[quantiles[kind](0.5), quantiles[kind](0.99), Math.max(...seconds[kind])].map(formatTenths),
        ]),
      },
    ],
    targets: [
      {
        label: `${labels.sale}, p99`,
        expected: `at most ${targets.sale} s`,
        actual: `${formatTenths(measured.sale)} s`,
        met: measured.sale <= targets.sale,
      },
      {
        label: `${labels.shipment}, longest`,
        expected: `at most ${targets.shipment} s`,
        actual: `${formatTenths(measured.shipment)} s`,
        met: measured.shipment <= targets.shipment,
      },
    ],
  }
}
