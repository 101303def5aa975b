import type { Database } from '../database/db.ts'
import { DatabaseAway } from '../database/errors.ts'
import type { Feed, Portion, PullEnd, PullRequest, ReferenceKey, Visit } from '../domain/sync/port.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'
import { note } from '../import/pipeline/counts.ts'
import { databaseNow } from '../store/lists/change-timestamp.ts'
import { unknownReferences } from '../store/sync/lookups.ts'
import { openOrders } from '../store/sync/open-orders.ts'
import { addAllVisits, dueVisits, staleVisits } from '../store/sync/refreshes.ts'
import { removeUnseen } from '../store/sync/remove-unseen.ts'
import { beginRun, type Hold, takenOver } from '../store/sync/runs.ts'
import { beat, countSeen, failFeed, finishFeed, holdFeed, lookAtSeen, type Tally } from '../store/sync/sync.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import { put, type Run } from './batches.ts'
import { extentOf } from './sync-mode.ts'

export interface SyncOptions {
  /** Read everything, whatever is known. */
  full?: boolean
  /** Breaks the run off; the next one begins where it did. */
  signal?: AbortSignal
  onProgress?: (tally: Readonly<Tally>) => void
}

/** What a run has come to. */
export interface SyncResult extends Tally {
  /** It has read everything, and not only what changed. */
  isFull: boolean
  /** It has asked for nothing (`PullEnd`): what there is is as old as before. */
  isIdle: boolean
  /** Everything could not be read so many times in a row, and is tried again after so many seconds: these are changes alone. */
  wholeFailures?: number
  wholeInSeconds?: number
}

/** Milliseconds between two beats: several to the time after which a run is taken to be dead. */
const beatMs = 15_000
const missedWhole = 'times everything could not be read: these are changes alone'
/** Records that a run visits at most, unless it is to visit all. */
const mostVisits = 5_000

/**
 * Reads a feed and puts what it brings into the store: what changed since the last run that ended well, or everything where there is no
 * mark, where `full` says so, or where it is time (`extentOf`). Undefined where another run has the feed. The mark moves when all is in: a run
 * that fails or is killed is repeated by the next one, which changes nothing that is in already, and goes on with a first load. A run that has read everything, and
 * seen all of it, takes away what was not there (`removeUnseen`).
 */
export async function syncFeed(
  db: Database,
  service: Service,
  feed: Feed,
  { full = false, signal, onProgress = () => {} }: SyncOptions = {},
): Promise<SyncResult | undefined> {
  const held = await holdFeed(db, service, feed.name)
  if (!held) return
  const hold: Hold = { feed: feed.name, run: held.run }
  const tally: Tally = { read: 0, inserted: 0, changed: 0, removed: 0, refused: 0, notes: {} }
  const lost = new AbortController()
  const keep = async () => {
    if (!(await beat(db, service, hold, tally))) lost.abort(takenOver())
    lost.signal.throwIfAborted()
    onProgress(tally)
  }
  // An answer may take longer than a run may be silent. A beat that is missed is found out by the next portion.
  const beats = setInterval(() => void ignoreError(keep(), 'heartbeat is sent again'), beatMs)
  const { isFull, wholeInSeconds } = full ? { isFull: true } : extentOf(feed, held)
  try {
    await beginRun(db, service, hold, isFull)
    const signals = AbortSignal.any([lost.signal, ...(signal ? [signal] : [])])
    const since = isFull ? undefined : held.since
    const run: Run = {
      db,
      service,
      feed,
      hold,
      tally,
      keep,
      isFull,
      since,
      signal: signals,
      inserted: new Map(),
      loads: new Map(),
    }
    const end = await pull(run)
    for (const first of run.loads.values()) await first?.end()
    const { since: mark, isIdle = false } = end
    if (wholeInSeconds !== undefined && !isIdle) note(tally.notes, missedWhole, held.wholeFailures)
    await finishFeed(db, service, hold, {
      since: mark,
      isFull,
      // Who has asked for everything is not served by changes.
      asked: isFull || !held.asksWhole ? held.asked : null,
      wholeEvery: isIdle ? feed.fullEverySeconds : undefined,
    })
    return {
      ...tally,
      isFull,
      isIdle,
      ...(wholeInSeconds !== undefined && { wholeInSeconds, wholeFailures: held.wholeFailures }),
    }
  } catch (error) {
    const isStopped = signal?.aborted === true
    const fault = isStopped ? 'The run was stopped.' : faultOf(error)
    await ignoreError(failFeed(db, service, hold, { fault, isWhole: isFull && !isStopped }), 'sync lease expires')
    throw error
  } finally {
    clearInterval(beats)
  }
}

function faultOf(error: unknown) {
  if (error instanceof ApiError) return `${error.code}: ${error.message}`
  return error instanceof DatabaseAway ? error.message : 'internal_error'
}

async function pull(run: Run): Promise<PullEnd> {
  const { db, service, feed, hold, tally, keep, isFull, since, signal } = run
  let end: PullEnd = {}
  let isUnclear = false
  const request: PullRequest = {
    since: since ?? undefined,
    settings: service.settings,
    unknownReferences: async (wanted: readonly ReferenceKey[]) =>
      wanted.length ? unknownReferences(db, service, wanted) : [],
    openOrders: () => openOrders(db, service),
    moment: () => databaseNow(db),
    visits: visitsOf(run),
    signal,
  }
  async function putAll(portions: AsyncIterable<Portion>) {
    for await (const portion of portions) {
      signal.throwIfAborted()
      const newer = await put(portion, run)
      if (portion.isUnclear) isUnclear = true
      end = portion.end ?? end
      await keep()
      if (newer.length && feed.again) await putAll(feed.again(newer, request))
    }
  }
  await putAll(feed.pull(request))
  if (end.total && (await countSeen(db, service, hold, end.total.list)) < end.total.atLeast)
    throw new ApiError('back_office_error', 'The back office returned fewer records than it announced.')
  if (!isFull || !feed.whole) return end
  if (isUnclear) note(tally.notes, 'some records could not be told apart: nothing was taken away')
  else {
    await lookAtSeen(db)
    for (const list of feed.whole) await remove(list)
  }
  // The run is told of with its notes.
  await keep()
  return end

  async function remove(list: NonNullable<Feed['whole']>[number]) {
    const onSome = async (removed: number) => {
      tally.removed += removed
      await keep()
    }
    const thoseThere = async (ids: readonly string[]) => (await feed.thoseThere?.(ids, signal)) ?? []
    const { kept } = await removeUnseen(db, service, { hold, list, thoseThere, onSome })
    if (kept) note(tally.notes, `of the list ${list} are gone, more than half of it: nothing was taken away`, kept)
  }
}

/** What a feed has to visit: all, or what is due and what was not visited for long. */
async function* visitsOf({ db, service, feed: { name, revisitSeconds }, isFull }: Run): AsyncGenerator<Visit> {
  if (revisitSeconds === undefined) return
  if (isFull) await addAllVisits(db, service, name)
  else await staleVisits(db, service, name, revisitSeconds, mostVisits)
  let given = 0
  for (let after = ''; ; ) {
    const some = await dueVisits(db, service, name, after, 200)
    for (const visit of some) {
      if (!isFull && given++ >= mostVisits) return
      yield visit
    }
    const last = some.at(-1)
    if (!last) return
    after = last.id
  }
}
