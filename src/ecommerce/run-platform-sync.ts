import type { Keys } from '../crypto/keys.ts'
import type { Database } from '../database/db.ts'
import type { PlatformSyncName } from '../domain/ecommerce/connection-settings.ts'
import { kindBySync } from '../domain/ecommerce/items.ts'
import type { SyncDefinition } from '../domain/sync/port.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { finishPlatformSync } from '../store/ecommerce/items.ts'
import { runSync, type SyncOptions, type SyncResult } from '../sync/sync.ts'
import { applyEvents } from './apply-events.ts'
import { openPlatform } from './connections.ts'
import { alertPlatformFailure } from './platform-alerts.ts'
import type { CallLog } from './port/platform.ts'

const eventsTimeoutMs = 120_000

/** The result of a sync, with its definition. Undefined result: another run has the lease. */
interface PlatformSyncRun {
  sync: SyncDefinition
  result: SyncResult | undefined
}

/**
 * Runs a sync of the platform of a service after the events that concern it, and checks the mappings afterwards if something changed.
 * Rejected credentials and missing scopes raise an alert, and a successful run resolves it. Returns undefined if the service has no
 * connection.
 */
export async function runPlatformSync(
  db: Database,
  keys: Keys,
  service: Service,
  name: PlatformSyncName,
  log: CallLog,
  options: SyncOptions = {},
): Promise<PlatformSyncRun | undefined> {
  return alertPlatformFailure(db, service, name, async () => {
    const opened = await openPlatform(db, keys, service, log)
    const sync = opened?.platform.syncs.find(definition => definition.name === name)
    if (!opened || !sync) return
    const signal = options.signal ?? AbortSignal.timeout(eventsTimeoutMs)
    const { events } = opened.platform
    const applied = events ? await applyEvents(db, service, events, name, signal) : 0
    const result = await runSync(db, service, sync, options)
    if (result || applied) {
      const hasChanged = applied > 0 || (result !== undefined && result.inserted + result.changed + result.removed > 0)
      await finishPlatformSync(db, service, kindBySync[name], { isFull: result?.isFull ?? false, hasChanged })
    }
    return { sync, result }
  })
}
