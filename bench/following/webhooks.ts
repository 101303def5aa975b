import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../src/database/db.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import { createWebhook } from '../../src/webhooks/create-webhook.ts'
import type { Bench } from '../rig/bench.ts'
import type { Loaded } from '../rig/database.ts'
import { startService } from '../rig/processes.ts'
import { median, type Section, tenths, whole } from '../rig/report.ts'

const name = 'bench-webhooks'
/** Half of them are healthy, a quarter doesn't exist and a quarter never responds. */
const endpoints = 200
const live = endpoints / 2
const rounds = 10
/** Nothing listens on this port. */
const dead = 'http://127.0.0.1:1024/hooks'
const timeoutMs = 600_000

/** An endpoint that accepts all deliveries, except those to `/hanging`, which it never answers. */
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
    /** Receives each delivery until `isAll` returns true for the last one. */
    untilAll: (isAll: (path: string, body: string) => boolean) =>
      new Promise<void>((resolve, reject) => {
        const late = setTimeout(() => reject(new Error('Not all deliveries came.')), timeoutMs)
        onDelivery = (path, body) => {
          if (!isAll(path, body)) return
          clearTimeout(late)
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
 * Measures how soon endpoints receive changes while half of them fail, and how fast one endpoint receives everything.
 */
export async function measureWebhooks(bench: Bench, loaded: Loaded): Promise<Section> {
  const { db } = loaded
  await db.run(sql`delete from service where name = ${name}`)
  const created = await addService(db, name, {})
  if (!created) throw new Error('it was just deleted')
  const receiver = await startReceiver()
  const service = await startService(bench.directory, {
    DATABASE_URL: loaded.url,
    WEBHOOK_NETWORKS: '127.0.0.0/8',
    LOG_LEVEL: 'fatal',
  })
  try {
    bench.say(`  ${endpoints} endpoints`)
    const lags = await lagOfLive(loaded, created, receiver)
    await db.run(sql`delete from webhook where service_id = ${created.id}`)
    bench.say(`  ${whole(loaded.size.customers)} customers`)
    const reported = await everything(loaded, receiver)
    return sectionOf(loaded, lags, reported)
  } finally {
    await service.stop()
    receiver.close()
    await db.run(sql`delete from service where name = ${name}`)
  }
}

const addHook = ({ db, keys }: Loaded, service: Service, url: string, fromBeginning = false) =>
  db.transaction(tx => createWebhook(tx, keys, service, { url, kinds: ['customer'], fromBeginning }))

/** Milliseconds from the commit of a change until the last of the live endpoints has it, round by round. */
async function lagOfLive(loaded: Loaded, service: Service, receiver: Receiver) {
  for (let i = 0; i < live; i++) {
    await addHook(loaded, service, `${receiver.url}/live${i}`)
    await addHook(loaded, service, i % 2 ? dead : `${receiver.url}/hanging${i}`)
  }
  const lags: number[] = []
  for (let round = 0; round < rounds; round++) {
    const id = `round-${round}`
    const reported = new Set<string>()
    const all = receiver.untilAll((path, body) => body.includes(`"${id}"`) && reported.add(path).size === live)
    await upsertCustomers(loaded.db, service, [{ id, firstname: 'Ann' }])
    const committed = performance.now()
    await all
    lags.push(performance.now() - committed)
    await delay(500)
  }
  return lags
}

/** Sends all customers to one endpoint. */
async function everything(loaded: Loaded, receiver: Receiver) {
  const seen = new Set<string>()
  let deliveries = 0
  const all = receiver.untilAll((_, body) => {
    deliveries++
    for (const [, id = ''] of body.matchAll(/"id":"([^"]+)"/g)) seen.add(id)
    return seen.size >= loaded.size.customers
  })
  const began = performance.now()
  const { id } = await addHook(loaded, loaded.service, `${receiver.url}/fast`, true)
  await all
  const seconds = (performance.now() - began) / 1_000
  await loaded.db.run(sql`delete from webhook where service_id = ${loaded.service.id} and webhook_id = ${id}`)
  return { deliveries, seconds }
}

function sectionOf(
  { size }: Loaded,
  lags: readonly number[],
  { deliveries, seconds }: { deliveries: number; seconds: number },
): Section {
  const slowest = Math.max(...lags)
  const maxDeliveries = Math.ceil(size.customers * (5_100 / 500_000))
  return {
    title: 'Webhooks',
    about: `One process serves and runs the jobs. All endpoints are in another process on the same machine. There are ${endpoints} endpoints of one service: ${live / 2} don't exist and ${live / 2} never respond. A record is changed. The lag is the time from its commit until the last of the ${live} others has it. Then all customers are sent to one endpoint that responds at once.`,
    tables: [
      {
        caption: `Lag of the slowest of ${live} live endpoints`,
        head: ['rounds', 'median ms', 'longest ms'],
        rows: [[String(lags.length), whole(median(lags)), whole(slowest)]],
      },
      {
        caption: 'All changes to one fast endpoint',
        head: ['customers', 'deliveries', 'deliveries/s', 'customers/s', 'seconds'],
        rows: [
          [
            ...[whole(size.customers), whole(deliveries), tenths(deliveries / seconds)],
            ...[whole(size.customers / seconds), tenths(seconds)],
          ],
        ],
      },
    ],
    targets: [
      { label: 'lag of the live endpoints', expected: '< 2 s', actual: `${whole(slowest)} ms`, met: slowest < 2_000 },
      {
        label: `${whole(size.customers)} customers sent`,
        expected: `≤ ${whole(maxDeliveries)} deliveries (500,000 in 5,100)`,
        actual: whole(deliveries),
        met: deliveries <= maxDeliveries,
      },
    ],
  }
}
