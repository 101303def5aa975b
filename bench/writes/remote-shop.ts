import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { connectBackOffice } from '../../scenarios/support/back-office-connection.ts'
import { startSimulatorProcess } from '../../simulator/control/process.ts'
import { sql } from '../../src/database/db.ts'
import { addAccount } from '../../src/store/accounts/accounts.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import type { LoadedDatabase } from '../rig/database.ts'
import { startService } from '../rig/processes.ts'
import { createQuantile } from '../rig/quantile.ts'
import { type Client, createClient } from './client.ts'

/** A service in front of a simulated Apparel21, and another service in the same process. */
export type RemoteShop = Awaited<ReturnType<typeof openRemoteShop>>

export async function openRemoteShop(directory: string, loaded: LoadedDatabase, concurrency: number) {
  const { db, keys } = loaded
  const simulator = await startSimulatorProcess()
  const names = { shop: `remote-${randomUUID()}`, neighbour: `neighbour-${randomUUID()}` }
  // The runs sell more units than the stores have.
  const settings = { currency: 'AUD', writesPerMinute: 'off', readsPerMinute: 'off', oversell: 'allow' } as const
  const service = await addService(db, names.shop, { ...settings, giftCardSku: '9001', voucherType: 'GV_EMAIL' })
  const other = await addService(db, names.neighbour, settings)
  if (!service || !other) throw new Error('the services already exist')
  await connectBackOffice(db, keys, service, { url: simulator.url, concurrency, gateways: ['visa'] })
  const running = await startService(directory, { DATABASE_URL: loaded.url, RUN_JOBS: 'false', LOG_LEVEL: 'fatal' })
  const createAccountClient = async (name: string, owner: typeof service) =>
    createClient(running, name, (await addAccount(db, keys, name, owner, 'maintainer')) ?? '')
  const [client, neighbour] = [
    await createAccountClient(names.shop, service),
    await createAccountClient(names.neighbour, other),
  ]
  const [item] = await db.rows<{ sku: string; price: string }>(
    sql`select sku, round(price, 2)::text as price from variant where service_id = ${service.id} and price > 0 limit 1`,
  )
  const customers = await db.rows<{ id: string }>(
    sql`select id from customer where service_id = ${service.id} and email is not null limit 200`,
  )
  if (!item || !customers.length) throw new Error('the simulator has nothing to sell or no customers')
  return {
    running,
    simulator,
    client,
    item,
    customerIds: customers.map(({ id }) => id),
    measureNeighbour: (seconds: number) => measureNewCustomers(neighbour, 8, seconds),
    async stop() {
      client.end()
      neighbour.end()
      await running.stop()
      await simulator.stop()
      for (const { id } of [service, other]) await db.run(sql`delete from service where service_id = ${id}`)
      for (const name of Object.values(names)) await db.run(sql`delete from account where username = ${name}`)
    },
  }
}

/** A seller of one item to several shoppers. */
export interface Seller {
  client: Client
  item: { sku: string; price: string }
  customerIds: readonly string[]
}

/** The results of a measurement of orders. Times are milliseconds. */
export interface OrderResults {
  perSecond: number
  p50: number
  p99: number
  /** Responses with status 503. */
  rejected: number
  /** Responses with neither 201 nor 503. */
  other: number
}

export const address = {
  addressLine1: '111 Collins St',
  city: 'Melbourne',
  state: 'VIC',
  postcode: '3000',
  country: 'Australia',
}
/** Seconds until all clients have started. */
export const warmSeconds = 2

/** Draws the milliseconds until a rejected shopper retries. Spreads the retries over a second after `Retry-After`. */
const drawRetryMs = () => 1_000 + Math.random() * 1_000

/** Runs this many shoppers, each of whom places the next order after a response. */
export async function measureOrders(
  { client, item, customerIds }: Seller,
  clients: number,
  seconds: number,
): Promise<OrderResults> {
  const times: number[] = []
  const counts = { rejected: 0, other: 0 }
  const begin = performance.now() + warmSeconds * 1_000
  const end = begin + seconds * 1_000
  await Promise.all(
    Array.from({ length: clients }, async (_, i) => {
      // Spreads the shoppers, because shoppers that begin at the same time would stay synchronous.
      await delay(Math.random() * 1_000 * (warmSeconds / 2))
      while (performance.now() < end) {
        const from = performance.now()
        const status = await client.send('POST', '/orders', {
          customerId: customerIds[i % customerIds.length],
          billingAddress: address,
          deliveryAddress: address,
          lines: [{ sku: item.sku, quantity: 1 }],
          payments: [{ gateway: 'visa', amount: item.price }],
        })
        const now = performance.now()
        if (now < begin || now > end) continue
        if (status === 201) times.push(now - from)
        else if (status === 503) counts.rejected++
        else counts.other++
        if (status === 503) await delay(drawRetryMs())
      }
    }),
  )
  const quantile = createQuantile(times)
  return { ...counts, perSecond: times.length / seconds, p50: quantile(0.5), p99: quantile(0.99) }
}

/** Starts look-ups of vouchers by this many clients. Returns a function that stops them. */
export function startLookUps({ client }: Pick<Seller, 'client'>, clients: number) {
  let isRunning = true
  const allClients = Promise.all(
    Array.from({ length: clients }, async (_, i) => {
      while (isRunning) {
        const status = await client.send('POST', '/vouchers/lookup', { number: String(6_000_001 + i), pin: '1234' })
        await delay(status === 503 ? drawRetryMs() : 100)
      }
    }),
  )
  return async () => {
    isRunning = false
    await allClients
  }
}

/** Creates customers with this many clients. Returns the 99th percentile of the times in milliseconds. */
export async function measureNewCustomers(client: Client, clients: number, seconds: number): Promise<number> {
  const times: number[] = []
  const end = performance.now() + seconds * 1_000
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < end) {
        const from = performance.now()
        const contact = { email: `${randomUUID()}@example.com` }
        const status = await client.send('POST', '/customers', { firstname: 'Ann', surname: 'Bench', contact })
        if (status !== 201) throw new Error(`a new customer was rejected with status ${status}`)
        times.push(performance.now() - from)
        await delay(50)
      }
    }),
  )
  return createQuantile(times)(0.99)
}
