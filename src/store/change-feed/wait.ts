/**
 * Long polling of the change feed. One poller per service and process watches for changes as long as requests wait.
 * Waiting requests hold no database connection, and readers with the same positions share a query.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { singleFlight } from '../../concurrency/single-flight.ts'
import { perObject } from '../../concurrency/ttl-cache.ts'
import type { Db } from '../../database/db.ts'
import { changeKinds } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import { type ChangesPage, readChanges } from './changes.ts'
import { readCurrentPositions } from './newest.ts'
import type { ChangesRequest } from './page.ts'
import { type FeedPositions, mayHaveChanges } from './positions.ts'

const pollIntervalMs = 250
/** Polls after the last request has stopped waiting: clients that have received changes return soon. */
const extraPolls = 4

interface Wait {
  timeoutMs: number
  /** Ends the wait early. */
  signal: AbortSignal
}

/**
 * Reads the first page of a client that is going to wait, as `readChanges` does. If the last poll found nothing after these positions,
 * returns an empty page without a query: the next poll reports changes since then.
 */
export async function readFirstChanges(
  db: Db,
  service: Service,
  positions: FeedPositions,
  request: ChangesRequest,
): Promise<ChangesPage | undefined> {
  const newest = watchedServices(db).get(service.id)?.newest
  if (newest && !mayHaveChanges(positions, newest)) return { changes: [], hasMore: false, positions }
  return readShared(db, service, positions, request)
}

/**
 * Waits for changes after a page and reads them. Returns an empty page if the wait ends first, and undefined if the reader must begin again,
 * as `readChanges` does.
 */
export async function waitForChanges(
  db: Db,
  service: Service,
  { hasMore, positions }: Pick<ChangesPage, 'hasMore' | 'positions'>,
  request: ChangesRequest,
  { timeoutMs, signal }: Wait,
): Promise<ChangesPage | undefined> {
  const deadline = performance.now() + timeoutMs
  let page: ChangesPage | undefined = { changes: [], hasMore, positions }
  while (page && !page.changes.length) {
    const remaining = { timeoutMs: deadline - performance.now(), signal }
    if (!page.hasMore && !(await waitUntilNewer(db, service, page.positions, remaining))) break
    page = await readShared(db, service, page.positions, request)
  }
  return page
}

const reads = perObject((_: Db) => singleFlight())

/** Readers that have received everything have the same positions, so one query reads a new change for all of them. */
const readShared = (
  db: Db,
  service: Service,
  positions: FeedPositions,
  request: ChangesRequest,
): Promise<ChangesPage | undefined> =>
  reads(db)(JSON.stringify([service.id, request, [...positions]]), () => readChanges(db, service, positions, request))

interface Waiter {
  positions: FeedPositions
  /** Ends the wait. `hasNewer`: whether there may be newer changes. */
  resolve: (hasNewer: boolean) => void
}

interface WatchedService {
  waiters: Set<Waiter>
  /** Positions at the last poll. Undefined before the first poll, and if the last one failed. */
  newest?: FeedPositions | undefined
}
/** The watched services of each database, by ID. */
const watchedServices = perObject((_: Db) => new Map<number, WatchedService>())

/** Waits until there may be changes after these positions. Returns false if the wait ends first. */
async function waitUntilNewer(
  db: Db,
  service: Service,
  positions: FeedPositions,
  { timeoutMs, signal }: Wait,
): Promise<boolean> {
  if (signal.aborted || timeoutMs <= 0) return false
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const { waiters } = watchService(db, service)
  const waiter = { positions, resolve }
  const end = () => resolve(false)
  const timer = setTimeout(end, timeoutMs)
  signal.addEventListener('abort', end)
  waiters.add(waiter)
  const hasNewer = await promise
  waiters.delete(waiter)
  signal.removeEventListener('abort', end)
  clearTimeout(timer)
  return hasNewer
}

/** Returns the watched service, and starts its poller if necessary. */
function watchService(db: Db, service: Service): WatchedService {
  const services = watchedServices(db)
  const existing = services.get(service.id)
  if (existing) return existing
  const watched: WatchedService = { waiters: new Set() }
  services.set(service.id, watched)
  void pollChanges(db, service, watched, () => services.delete(service.id))
  return watched
}

/** Polls a service while requests wait, and `extraPolls` times more. Then calls `stop`. */
async function pollChanges(db: Db, service: Service, watched: WatchedService, stop: () => void) {
  const { waiters } = watched
  for (let remaining = extraPolls; remaining; remaining = waiters.size ? extraPolls : remaining - 1) {
    await delay(pollIntervalMs, undefined, { ref: false })
    // While the database is unavailable, there is nothing new.
    watched.newest = await ignoreError(readCurrentPositions(db, service, changeKinds), 'change feed is polled again')
    if (!watched.newest) continue
    for (const { positions, resolve } of waiters) if (mayHaveChanges(positions, watched.newest)) resolve(true)
  }
  stop()
}
