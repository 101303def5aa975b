import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../src/database/db.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import { createWebhook } from '../../src/webhooks/create-webhook.ts'
import type { Bench } from '../rig/bench.ts'
import type { LoadedDatabase } from '../rig/database.ts'
import { startService } from '../rig/processes.ts'
import { formatTenths, formatWhole, getMedian, type Section } from '../rig/report.ts'

const name = 'bench-webhooks'
/** Half of the endpoints are healthy, a quarter don't exist and a quarter never respond. */
const endpoints = 200
const liveCount = endpoints / 2
const rounds = 10
/** Nothing listens on this port. */
const deadUrl = 'http://127.0.0.1:1024/hooks'
const timeoutMs = 600_000

/** Starts an endpoint that accepts all deliveries, except those to `/hanging`, to which it never responds. */
async function startReceiver() {
  let onDelivery: (path: string, body: string) => void = () => {}
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk)).on('error', () => {})
    request.on('end', () => {
      const path = request.url ?? ''
      if (path.startsWith('/hanging')) return
      response.writeHead(204).end()
      onDelivery(path, Buffer.concat(chunks).toString())
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Calls `isAll` with each delivery. Resolves when `isAll` returns true. Throws after `timeoutMs`. */
    waitForAll: (isAll: (path: string, body: string) => boolean) =>
      new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('Deliveries are missing.')), timeoutMs)
        onDelivery = (path, body) => {
          if (!isAll(path, body)) return
          clearTimeout(timer)
          resolve()
        }
      }),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>

/**
 * Measures the lag of healthy endpoints while half of the endpoints fail, and the rate at which one endpoint receives all customers.
 */
export async function measureWebhooks(bench: Bench, loaded: LoadedDatabase): Promise<Section> {
  const { db } = loaded
  await db.run(sql`delete from service where name = ${name}`)
  const created = await addService(db, name, {})
  if (!created) throw new Error(`the service ${name} already exists`)
  const receiver = await startReceiver()
  const service = await startService(bench.directory, {
    DATABASE_URL: loaded.url,
    WEBHOOK_NETWORKS: '127.0.0.0/8',
    LOG_LEVEL: 'fatal',
  })
  try {
    bench.say(`  ${endpoints} endpoints`)
    const lags = await measureLiveLags(loaded, created, receiver)
    await db.run(sql`delete from webhook where service_id = ${created.id}`)
    bench.say(`  ${formatWhole(loaded.size.customers)} customers`)
    const fullDelivery = await measureFullDelivery(loaded, receiver)
    return buildSection(loaded, lags, fullDelivery)
  } finally {
    await service.stop()
    receiver.close()
    await db.run(sql`delete from service where name = ${name}`)
  }
}

const addWebhook = ({ db, keys }: LoadedDatabase, service: Service, url: string, fromBeginning = false) =>
  db.transaction(tx => createWebhook(tx, keys, service, { url, kinds: ['customer'], fromBeginning }))

/** Returns, for each round, the milliseconds from the commit of a change until the last live endpoint has it. */
async function measureLiveLags(loaded: LoadedDatabase, service: Service, receiver: Receiver) {
  for (let i = 0; i < liveCount; i++) {
    await addWebhook(loaded, service, `${receiver.url}/live${i}`)
    await addWebhook(loaded, service, i % 2 ? deadUrl : `${receiver.url}/hanging${i}`)
  }
  const lags: number[] = []
  for (let round = 0; round < rounds; round++) {
    const id = `round-${round}`
    const receivedPaths = new Set<string>()
    const allReceived = receiver.waitForAll(
      (path, body) => body.includes(`"${id}"`) && receivedPaths.add(path).size === liveCount,
    )
    await upsertCustomers(loaded.db, service, [{ id, firstname: 'Ann' }])
    const committed = performance.now()
    await allReceived
    lags.push(performance.now() - committed)
    await delay(500)
  }
  return lags
}

/** Measures the delivery of all customers to one endpoint. */
async function measureFullDelivery(loaded: LoadedDatabase, receiver: Receiver) {
  const receivedIds = new Set<string>()
  let deliveries = 0
  const allReceived = receiver.waitForAll((_, body) => {
    deliveries++
    for (const [, id = ''] of body.matchAll(/"id":"([^"]+)"/g)) receivedIds.add(id)
    return receivedIds.size >= loaded.size.customers
  })
  const began = performance.now()
  const { id } = await addWebhook(loaded, loaded.service, `${receiver.url}/fast`, true)
  await allReceived
  const seconds = (performance.now() - began) / 1_000
  await loaded.db.run(sql`delete from webhook where service_id = ${loaded.service.id} and webhook_id = ${id}`)
  return { deliveries, seconds }
}

function buildSection(
  { size }: LoadedDatabase,
  lags: readonly number[],
  { deliveries, seconds }: { deliveries: number; seconds: number },
): Section {
  const slowest = Math.max(...lags)
  const maxDeliveries = Math.ceil(size.customers * (5_100 / 500_000))
  return {
    title: 'Webhooks',
    about: `One process serves and runs the jobs. All endpoints are in another process on the same machine. There are ${endpoints} endpoints of one service: ${liveCount / 2} don't exist and ${liveCount / 2} never respond. A record is changed. The lag is the time from its commit until the last of the ${liveCount} others has it. Then all customers are sent to one endpoint that responds at once.`,
    tables: [
      {
        caption: `Lag of the slowest of ${liveCount} live endpoints`,
        head: ['rounds', 'median ms', 'longest ms'],
        rows: [[String(lags.length), formatWhole(getMedian(lags)), formatWhole(slowest)]],
      },
      {
        caption: 'All changes to one fast endpoint',
        head: ['customers', 'deliveries', 'deliveries/s', 'customers/s', 'seconds'],
        rows: [
          [
            ...[formatWhole(size.customers), formatWhole(deliveries), formatTenths(deliveries / seconds)],
            ...[formatWhole(size.customers / seconds), formatTenths(seconds)],
          ],
        ],
      },
    ],
    targets: [
      {
        label: 'lag of the live endpoints',
        expected: '< 2 s',
        actual: `${formatWhole(slowest)} ms`,
        met: slowest < 2_000,
      },
      {
        label: `${formatWhole(size.customers)} customers sent`,
        expected: `≤ ${formatWhole(maxDeliveries)} deliveries (500,000 in 5,100)`,
        actual: formatWhole(deliveries),
        met: deliveries <= maxDeliveries,
      },
    ],
  }
}
