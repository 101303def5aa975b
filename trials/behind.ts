import { openUpstream } from '../src/backoffice/apparel21/lookup/upstream.ts'
import { feedsOf } from '../src/backoffice/apparel21/pull/feeds.ts'
import { syncFeed } from '../src/backoffice/sync/sync.ts'
import type { Database } from '../src/db.ts'
import type { Keys } from '../src/secrets.ts'
import type { Service } from '../src/settings.ts'
import { setBackOffice } from '../src/store/running/back-office.ts'
import { upsertGateways } from '../src/store/running/gateways.ts'

/** What orders need to be judged here. */
const needed = ['references', 'stores', 'products', 'customers']

/** Puts a service in front of a simulated Apparel21, which its customers then buy from: gateways, and the feeds that selling needs. */
export async function putBehind(
  db: Database,
  keys: Keys,
  service: Service,
  { url, concurrency, gateways }: { url: string; concurrency?: number; gateways: readonly string[] },
): Promise<void> {
  const isBounded = concurrency !== undefined && { concurrency: String(concurrency) }
  await setBackOffice(db, keys, service, { driver: 'apparel21', url, country: 'AU', ...isBounded })
  await upsertGateways(
    db,
    service,
    gateways.map(name => ({ name })),
  )
  const { client, release } = openUpstream({ url, countryCode: 'AU', timeZone: 'Australia/Melbourne' })
  for (const feed of feedsOf(client, release)) if (needed.includes(feed.name)) await syncFeed(db, service, feed)
  client.close()
}
