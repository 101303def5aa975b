import { createUpstream } from '../../src/backoffice/apparel21/queries/upstream.ts'
import { buildSyncs } from '../../src/backoffice/apparel21/syncs/syncs.ts'
import type { Keys } from '../../src/crypto/keys.ts'
import type { Database } from '../../src/database/db.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { setBackOffice } from '../../src/store/backoffice/connections.ts'
import { upsertGateways } from '../../src/store/tenancy/gateways.ts'
import { runSync } from '../../src/sync/sync.ts'

/** Syncs that orders are validated with. */
const neededSyncs = ['references', 'stores', 'products', 'customers']

/** Connects a service to a simulated Apparel21, adds payment gateways, and runs the syncs that selling needs. */
export async function connectBackOffice(
  db: Database,
  keys: Keys,
  service: Service,
  { url, concurrency, gateways }: { url: string; concurrency?: number; gateways: readonly string[] },
): Promise<void> {
  const limit = concurrency !== undefined && { concurrency: String(concurrency) }
  await setBackOffice(db, keys, service, { driver: 'apparel21', url, country: 'AU', ...limit })
  await upsertGateways(
    db,
    service,
    gateways.map(name => ({ name })),
  )
  const { client, release } = createUpstream({ url, countryCode: 'AU', timeZone: 'Australia/Melbourne' })
  for (const sync of buildSyncs(client, release)) if (neededSyncs.includes(sync.name)) await runSync(db, service, sync)
  client.close()
}
