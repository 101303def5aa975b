import { openUpstream } from '../../src/backoffice/apparel21/queries/upstream.ts'
import { feedsOf } from '../../src/backoffice/apparel21/syncs/syncs.ts'
import type { Keys } from '../../src/crypto/keys.ts'
import type { Database } from '../../src/database/db.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { setBackOffice } from '../../src/store/backoffice/connections.ts'
import { upsertGateways } from '../../src/store/tenancy/gateways.ts'
import { syncFeed } from '../../src/sync/sync.ts'

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
