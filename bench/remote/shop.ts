import { randomUUID } from 'node:crypto'
import { addAccount, addService } from '../../src/accounts.ts'
import { openUpstream } from '../../src/backoffice/apparel21/lookup/upstream.ts'
import { feedsOf } from '../../src/backoffice/apparel21/pull/feeds.ts'
import { syncFeed } from '../../src/backoffice/sync/sync.ts'
import { sql } from '../../src/db.ts'
import { setBackOffice } from '../../src/store/running/back-office.ts'
import { upsertGateways } from '../../src/store/running/gateways.ts'
import type { Loaded } from '../database.ts'
import { startService } from '../service.ts'
import { startSimulatorProcess } from '../simulator.ts'
import { type Client, clientOf, customers } from './clients.ts'

/** A service in front of a simulator of Apparel21, and another tenant in the same process. */
export type RemoteShop = Awaited<ReturnType<typeof openRemoteShop>>

const feeds = ['references', 'stores', 'products', 'customers']

export async function openRemoteShop(directory: string, loaded: Loaded, concurrency: number) {
  const { db, keys } = loaded
  const simulator = await startSimulatorProcess()
  const names = { shop: `remote-${randomUUID()}`, neighbour: `neighbour-${randomUUID()}` }
  const settings = { currency: 'AUD', writesPerMinute: 'off', readsPerMinute: 'off' } as const
  const service = await addService(db, names.shop, { ...settings, giftCardSku: '9001', voucherType: 'GV_EMAIL' })
  const other = await addService(db, names.neighbour, settings)
  if (!service || !other) throw new Error('their names are new')
  await setBackOffice(db, keys, service, {
    driver: 'apparel21',
    url: simulator.url,
    country: 'AU',
    concurrency: String(concurrency),
  })
  await upsertGateways(db, service, [{ name: 'visa' }])
  const upstream = openUpstream({ url: simulator.url, countryCode: 'AU', timeZone: 'Australia/Melbourne' })
  for (const feed of feedsOf(upstream.client, upstream.release))
    if (feeds.includes(feed.name)) await syncFeed(db, service, feed)
  upstream.client.close()
  const running = await startService(directory, { DATABASE_URL: loaded.url, JOBS: 'off', LOG_LEVEL: 'fatal' })
  const sign = async (name: string, of: typeof service): Promise<Client> =>
    clientOf(running, name, (await addAccount(db, keys, name, of, 'maintainer')) ?? '')
  const [client, neighbour] = [await sign(names.shop, service), await sign(names.neighbour, other)]
  const [sold] = await db.rows<{ sku: string; price: string }>(
    sql`select sku, round(price, 2)::text as price from variant where service_id = ${service.id} and price > 0 limit 1`,
  )
  const people = await db.rows<{ id: string }>(
    sql`select id from customer where service_id = ${service.id} and email is not null limit 200`,
  )
  if (!sold || !people.length) throw new Error('the simulator sells something to somebody')
  return {
    running,
    simulator,
    client,
    sold,
    people: people.map(({ id }) => id),
    neighbour: (seconds: number) => customers(neighbour, 8, seconds),
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
