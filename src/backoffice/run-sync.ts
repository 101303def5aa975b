import type { Database } from '../database/db.ts'
import type { SyncDefinition } from '../domain/sync/port.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { findNeverSynced } from '../store/sync/schedule.ts'
import { recordSource } from '../store/sync/status.ts'
import { runSync, type SyncOptions, type SyncResult } from '../sync/sync.ts'
import type { Driver } from './port/driver.ts'

/** What a sync says nothing without, by the names that every driver gives its syncs. */
const needs: Readonly<Record<string, readonly string[]>> = {
  stock: ['stores', 'products'],
  'reward-accounts': ['reward-programs', 'customers'],
  transactions: ['stores', 'products', 'customers'],
}

/** What became of a sync that was to be pulled. */
type SyncOutcome = { result: SyncResult } | { waitsFor: readonly string[] } | { busy: true }

/**
 * Pulls one sync of a service, unless another run has it, or what it needs was never pulled: stock of products that nobody knows yet
 * would be left out, and not be asked for again before everything is.
 */
export async function runSyncIfReady(
  db: Database,
  service: Service,
  { source, syncs }: Pick<Driver, 'source' | 'syncs'>,
  sync: SyncDefinition,
  options: SyncOptions = {},
): Promise<SyncOutcome> {
  await db.transaction(tx => recordSource(tx, service, source))
  const needed = (needs[sync.name] ?? []).filter(name => syncs.some(other => other.name === name))
  const waitsFor = await findNeverSynced(db, service, needed)
  if (waitsFor.length) return { waitsFor }
  const result = await runSync(db, service, sync, options)
  return result ? { result } : { busy: true }
}
