import type { Database } from '../database/db.ts'
import type { PlatformSyncName } from '../domain/ecommerce/connection-settings.ts'
import { getItemKey, kindBySync } from '../domain/ecommerce/items.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { endEvents, listMerges, listOpenEvents } from '../store/ecommerce/events.ts'
import { findContainedItems, moveMergedCustomers, removePlatformItems } from '../store/ecommerce/items.ts'
import type { EventPort } from './port/events.ts'

/** Events of one run. The next run continues. */
const maxEvents = 5_000

/**
 * Removes the items that the platform has deleted, as far as events named them, and moves the mappings of merged customers. A read by ID
 * decides: an event can be late, replayed or false. Returns the number of removed items and moved mappings.
 */
export async function applyEvents(
  db: Database,
  service: Service,
  platform: Pick<EventPort, 'findExisting' | 'maxIds'>,
  sync: PlatformSyncName,
  signal: AbortSignal,
): Promise<number> {
  const kind = kindBySync[sync]
  const events = await listOpenEvents(db, service, sync, maxEvents)
  if (!events.length) return 0
  const subjects = [...new Set(events.map(({ subjectId }) => subjectId))]
  const items = await findContainedItems(db, service, kind, subjects)
  const eventIds = events.map(({ id }) => id)
  const merges = kind === 'customers' ? findTargets(await listMerges(db, service), new Set(eventIds)) : new Map()
  const ids = [...new Set([...items.map(({ platformId }) => platformId), ...[...merges].flat(2)])]
  const existing = new Set<string>()
  for (let at = 0; at < ids.length; at += platform.maxIds)
    for (const id of await platform.findExisting(ids.slice(at, at + platform.maxIds), signal)) existing.add(id)
  const missing = items.filter(({ platformId }) => !existing.has(platformId)).map(({ itemKey }) => itemKey)
  return db.transaction(async tx => {
    let changed = missing.length ? await removePlatformItems(tx, service, kind, missing, true) : 0
    for (const [target, merged] of merges) {
      const deleted = merged.filter((id: string) => !existing.has(id))
      if (deleted.length && existing.has(target))
        changed += await moveMergedCustomers(tx, service, deleted.map(getItemKey), getItemKey(target))
    }
    await endEvents(tx, service, eventIds)
    return changed
  })
}

interface Merge {
  id: string
  subjectId: string
  successorId: string
}

/**
 * Returns the customers that were merged into each kept customer, directly or through others, for the targets that new events concern. The
 * order of the events doesn't matter.
 */
function findTargets(merges: readonly Merge[], newIds: ReadonlySet<string>): Map<string, string[]> {
  const successors = new Map(merges.map(({ subjectId, successorId }) => [subjectId, successorId]))
  const resolve = (id: string) => {
    let last = id
    // A false event can form a circle.
    for (let steps = 0; steps <= successors.size && successors.has(last); steps++) last = successors.get(last) ?? last
    return last
  }
  const affected = new Set(merges.filter(({ id }) => newIds.has(id)).map(({ subjectId }) => resolve(subjectId)))
  const targets = new Map<string, string[]>()
  for (const subject of successors.keys()) {
    const target = resolve(subject)
    if (affected.has(target)) targets.set(target, [...(targets.get(target) ?? []), subject])
  }
  return targets
}
