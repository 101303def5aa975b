import { setTimeout as delay } from 'node:timers/promises'
import { perObject, singleFlight } from '../../concurrency/single-flight.ts'
import type { Db } from '../../database/db.ts'
import { kinds } from '../../domain/changes.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import { type ChangesPage, readChanges } from './changes.ts'
import { readCurrentPositions } from './newest.ts'
import type { ChangesRequest } from './page.ts'
import { type FeedPositions, mayHaveChanges } from './positions.ts'

/** Between two looks at a service whose changes somebody waits for. */
const lookMs = 250
/** Looks that go on once nobody waits any more: who was told asks again. */
const looksBehind = 4

/** How long somebody waits. */
interface Wait {
  timeoutMs: number
  /** Ends the wait before. */
  signal: AbortSignal
}

/**
 * What whoever goes on to wait is told first, as in `changesAfter`. Who has been told everything joins those who wait, and nothing is
 * asked for it: they are told of what has come since the last look with the next one, as all are.
 */
export async function readFirstChanges(
  db: Db,
  service: Service,
  positions: FeedPositions,
  asked: ChangesRequest,
): Promise<ChangesPage | undefined> {
  const newest = watched.get(db)?.get(service.id)?.newest
  if (newest && !mayHaveChanges(positions, newest)) return { changes: [], hasMore: false, positions }
  return readTogether(db, service, positions, asked)
}

/**
 * What comes behind what a reader was told, once there is something; nothing where the wait ends before. Nobody holds a connection
 * meanwhile. Undefined where the reader has to begin anew, as in `changesAfter`.
 */
export async function waitForChanges(
  db: Db,
  service: Service,
  { hasMore, positions }: Pick<ChangesPage, 'hasMore' | 'positions'>,
  asked: ChangesRequest,
  { timeoutMs: ms, signal: over }: Wait,
): Promise<ChangesPage | undefined> {
  const ends = performance.now() + ms
  let told: ChangesPage | undefined = { changes: [], hasMore, positions }
  while (told && !told.changes.length) {
    if (
      !told.hasMore &&
      !(await isBeyond(db, service, told.positions, { timeoutMs: ends - performance.now(), signal: over }))
    )
      break
    told = await readTogether(db, service, told.positions, asked)
  }
  return told
}

const reads = perObject<Db>(singleFlight)

/** Readers that have received everything have the same positions, so one query reads a new change for all of them. */
const readTogether = (
  db: Db,
  service: Service,
  positions: FeedPositions,
  asked: ChangesRequest,
): Promise<ChangesPage | undefined> =>
  reads(db)(JSON.stringify([service.id, asked, [...positions]]), () => readChanges(db, service, positions, asked))

interface Waiter {
  positions: FeedPositions
  /** Told whether there is something, once. */
  tell: (isBeyond: boolean) => void
}

/** A service that somebody waits for. */
interface Watched {
  waiters: Set<Waiter>
  /** What was newest at the last look; undefined before the first one, and where it failed. */
  newest?: FeedPositions | undefined
}
const watched = new WeakMap<Db, Map<number, Watched>>()

/** Waits until something may be told beyond these positions; whether there is, before the wait ends. */
async function isBeyond(
  db: Db,
  service: Service,
  positions: FeedPositions,
  { timeoutMs: ms, signal: over }: Wait,
): Promise<boolean> {
  if (over.aborted || ms <= 0) return false
  const { promise, resolve: tell } = Promise.withResolvers<boolean>()
  const { waiters } = watchedOf(db, service)
  const waiter = { positions, tell }
  const end = () => tell(false)
  const timer = setTimeout(end, ms)
  over.addEventListener('abort', end)
  waiters.add(waiter)
  const told = await promise
  waiters.delete(waiter)
  over.removeEventListener('abort', end)
  clearTimeout(timer)
  return told
}

/** A service is looked at as long as anybody waits for it, and a little longer, once for all in this process. */
function watchedOf(db: Db, service: Service): Watched {
  const services = watched.get(db) ?? new Map<number, Watched>()
  watched.set(db, services)
  const known = services.get(service.id)
  if (known) return known
  const begun: Watched = { waiters: new Set() }
  services.set(service.id, begun)
  void look(db, service, begun, () => services.delete(service.id))
  return begun
}

async function look(db: Db, service: Service, watched: Watched, nobodyWaits: () => void) {
  const { waiters } = watched
  for (let left = looksBehind; left; left = waiters.size ? looksBehind : left - 1) {
    await delay(lookMs, undefined, { ref: false })
    // While the database is away there is nothing new.
    watched.newest = await ignoreError(readCurrentPositions(db, service, kinds), 'change feed is polled again')
    if (watched.newest)
      for (const { positions, tell } of waiters) if (mayHaveChanges(positions, watched.newest)) tell(true)
  }
  nobodyWaits()
}
