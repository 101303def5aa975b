import type { Keys } from '../crypto/keys.ts'
import type { Database } from '../database/db.ts'
import type { PlatformSyncName } from '../domain/ecommerce/connection-settings.ts'
import { kindOfSync } from '../domain/ecommerce/items.ts'
import { PlatformFailure } from '../domain/ecommerce/platform-failure.ts'
import type { SyncDefinition } from '../domain/sync/port.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { type Alert, raiseAlert, resolveAlert } from '../store/alerts/alerts.ts'
import { finishPlatformSync } from '../store/ecommerce/items.ts'
import { runSync, type SyncOptions, type SyncResult } from '../sync/sync.ts'
import { openPlatform } from './connections.ts'
import type { CallLog } from './port/platform.ts'

/** The alerts of failures that a person must fix. Credentials concern all syncs, a scope concerns one. */
const getAlerts = (name: PlatformSyncName) =>
  ({
    denied: { kind: 'ecommerce_denied', subject: '' },
    scope: { kind: 'scope_missing', subject: name },
  }) as const satisfies Record<string, Pick<Alert, 'kind' | 'subject'>>

/** The result of a sync, with its definition. Undefined result: another run has the lease. */
interface PlatformSyncRun {
  sync: SyncDefinition
  result: SyncResult | undefined
}

/**
 * Runs a sync of the platform of a service, and checks the mappings afterwards if something changed. Rejected credentials and missing
 * scopes raise an alert, and a successful run resolves it. Returns undefined if the service has no connection.
 */
export async function runPlatformSync(
  db: Database,
  keys: Keys,
  service: Service,
  name: PlatformSyncName,
  log: CallLog,
  options: SyncOptions = {},
): Promise<PlatformSyncRun | undefined> {
  const alerts = getAlerts(name)
  try {
    const opened = await openPlatform(db, keys, service, log)
    const sync = opened?.platform.syncs.find(each => each.name === name)
    if (!sync) return
    const result = await runSync(db, service, sync, options)
    if (result) {
      const hasChanged = result.inserted + result.changed + result.removed > 0
      await finishPlatformSync(db, service, kindOfSync[name], { isFull: result.isFull, hasChanged })
      for (const alert of Object.values(alerts)) await resolveAlert(db, service.id, alert)
    }
    return { sync, result }
  } catch (error) {
    if (error instanceof PlatformFailure && (error.kind === 'denied' || error.kind === 'scope'))
      await raiseAlert(db, service.id, { ...alerts[error.kind], detail: error.message })
    throw error
  }
}
