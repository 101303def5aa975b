import type { Database } from '../database/db.ts'
import type { Feed } from '../domain/sync/port.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { neverPulled } from '../store/sync/schedule.ts'
import { noteSource } from '../store/sync/status.ts'
import { type SyncOptions, type SyncResult, syncFeed } from '../sync/sync.ts'
import type { Driver } from './port/driver.ts'

/** What a feed says nothing without, by the names that every driver gives its feeds. */
const needs: Readonly<Record<string, readonly string[]>> = {
  stock: ['stores', 'products'],
  'reward-accounts': ['reward-programs', 'customers'],
  transactions: ['stores', 'products', 'customers'],
}

/** What became of a feed that was to be pulled. */
type PullOutcome = { result: SyncResult } | { waitsFor: readonly string[] } | { busy: true }

/**
 * Pulls one feed of a service, unless another run has it, or what it needs was never pulled: stock of products that nobody knows yet
 * would be left out, and not be asked for again before everything is.
 */
export async function pullFeed(
  db: Database,
  service: Service,
  { source, feeds }: Pick<Driver, 'source' | 'feeds'>,
  feed: Feed,
  options: SyncOptions = {},
): Promise<PullOutcome> {
  await db.transaction(tx => noteSource(tx, service, source))
  const needed = (needs[feed.name] ?? []).filter(name => feeds.some(other => other.name === name))
  const waitsFor = await neverPulled(db, service, needed)
  if (waitsFor.length) return { waitsFor }
  const result = await syncFeed(db, service, feed, options)
  return result ? { result } : { busy: true }
}
