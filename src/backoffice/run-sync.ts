import type { Database } from '../database/db.ts'
import type { SyncDefinition } from '../domain/sync/port.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { findNeverSynced } from '../store/sync/schedule.ts'
import { recordSource } from '../store/sync/status.ts'
import { runSync, type SyncOptions, type SyncResult } from '../sync/sync.ts'
import type { Driver } from './port/driver.ts'

/** The syncs that must have succeeded once before a sync can run. All drivers use the same names of syncs. */
const prerequisites: Readonly<Record<string, readonly string[]>> = {
  stock: ['stores', 'products'],
  'reward-accounts': ['reward-programs', 'customers'],
  transactions: ['stores', 'products', 'customers'],
}

type SyncOutcome = { result: SyncResult } | { waitsFor: readonly string[] } | { busy: true }

/**
 * Runs one sync of a service, unless another run has its lease or a prerequisite has never succeeded. Without prerequisites, rows would be
 * lost: stock of unknown products is skipped, and isn't fetched again before the next full sync.
 */
export async function runSyncIfReady(
  db: Database,
  service: Service,
  { source, timeZone, syncs }: Pick<Driver, 'source' | 'timeZone' | 'syncs'>,
  sync: SyncDefinition,
  options: SyncOptions = {},
): Promise<SyncOutcome> {
  await db.transaction(tx => recordSource(tx, service, { source, timeZone }))
  const requiredSyncs = (prerequisites[sync.name] ?? []).filter(name => syncs.some(other => other.name === name))
  const waitsFor = await findNeverSynced(db, service, requiredSyncs)
  if (waitsFor.length) return { waitsFor }
  const result = await runSync(db, service, sync, options)
  return result ? { result } : { busy: true }
}
