import { setTimeout as delay } from 'node:timers/promises'
import type { Db } from '../../db.ts'
import { kinds } from '../../domain/changes.ts'
import type { Service } from '../../settings.ts'
import { changesAfter, type Told } from './feed.ts'
import { placesNow } from './newest.ts'
import type { Asked } from './page.ts'
import type { Places } from './places.ts'

/** Between two looks at a service whose changes somebody waits for. */
const lookMs = 250

/** How long somebody waits. */
export interface Wait {
  ms: number
  /** Ends the wait before. */
  over: AbortSignal
}

/**
 * What comes behind what a reader was told, once there is something; nothing where the wait ends before. Nobody holds a connection
 * meanwhile. Undefined where the reader has to begin anew, as in `changesAfter`.
 */
export async function changesBehind(
  db: Db,
  service: Service,
  { hasMore, places }: Pick<Told, 'hasMore' | 'places'>,
  asked: Asked,
  { ms, over }: Wait,
): Promise<Told | undefined> {
  const ends = performance.now() + ms
  let told: Told | undefined = { changes: [], hasMore, places }
  while (told && !told.changes.length) {
    if (!told.hasMore && !(await isBeyond(db, service, told.places, { ms: ends - performance.now(), over }))) break
    told = await readTogether(db, service, told.places, asked)
  }
  return told
}

const reads = new WeakMap<Db, Map<string, Promise<Told | undefined>>>()

/** Who has been told everything stands where all others do: a change is read once for all of them. */
function readTogether(db: Db, service: Service, places: Places, asked: Asked): Promise<Told | undefined> {
  const underWay = reads.get(db) ?? new Map<string, Promise<Told | undefined>>()
  reads.set(db, underWay)
  const question = JSON.stringify([service.id, asked, [...places]])
  const known = underWay.get(question)
  if (known) return known
  const read = changesAfter(db, service, places, asked).finally(() => underWay.delete(question))
  underWay.set(question, read)
  return read
}

interface Waiter {
  places: Places
  /** Told whether there is something, once. */
  tell: (isBeyond: boolean) => void
}
const waiting = new WeakMap<Db, Map<number, Set<Waiter>>>()

/** Waits until something may be told beyond these places; whether there is, before the wait ends. */
async function isBeyond(db: Db, service: Service, places: Places, { ms, over }: Wait): Promise<boolean> {
  if (over.aborted || ms <= 0) return false
  const { promise, resolve: tell } = Promise.withResolvers<boolean>()
  const waiters = waitersOf(db, service)
  const waiter = { places, tell }
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

/** Who waits for a service. It is looked at as long as there is anybody, once for all in this process. */
function waitersOf(db: Db, service: Service): Set<Waiter> {
  const services = waiting.get(db) ?? new Map<number, Set<Waiter>>()
  waiting.set(db, services)
  const known = services.get(service.id)
  if (known) return known
  const waiters = new Set<Waiter>()
  services.set(service.id, waiters)
  void look(db, service, waiters, () => services.delete(service.id))
  return waiters
}

async function look(db: Db, service: Service, waiters: ReadonlySet<Waiter>, nobodyWaits: () => void) {
  do {
    await delay(lookMs)
    // While the database is away there is nothing new.
    const now = waiters.size ? await placesNow(db, service, kinds).catch(() => undefined) : undefined
    if (now) for (const { places, tell } of waiters) if (lieBeyond(now, places)) tell(true)
  } while (waiters.size)
  nobodyWaits()
}

const lieBeyond = (now: Places, places: Places) =>
  [...places].some(
    ([kind, { changed, removed }]) => (now.get(kind)?.changed[0] ?? 0) > Math.max(changed[0], removed[0]),
  )
