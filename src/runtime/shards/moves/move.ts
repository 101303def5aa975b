import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../../database/db.ts'
import { waitForWriteLocks } from '../../../store/lists/wait-for-writers.ts'
import { clockOf, hasPassed } from '../../../store/moves/clocks.ts'
import { type Comparison, compareAll } from '../../../store/moves/compare.ts'
import { countsOf } from '../../../store/moves/compare-table.ts'
import { finish, knownMs, type Places } from '../../../store/moves/finish.ts'
import {
  aliveMs,
  type Move,
  noteCopySlots,
  stayAlive,
  switchBack,
  switchFromControl,
  switchOver,
} from '../../../store/moves/moves.ts'
import {
  awaitService,
  breakOffJobs,
  busyJobs,
  drain,
  filesUnderWay,
  letGo,
  letRead,
  shutWriters,
} from '../../../store/moves/pause-writes.ts'
import {
  type Copying,
  copyFilled,
  copying,
  movedTables,
  nameOfMove,
  publish,
  slotsOfCopy,
  subscribe,
  unpublish,
} from '../../../store/moves/replication.ts'
import { carryRest } from '../../../store/moves/request-log-copy.ts'
import { type Emptied, empty } from '../../../store/service-deletion/purge.ts'
import { readServiceOfJob } from '../../../store/tenancy/services.ts'
import { failpoint } from '../../../testing/failpoints.ts'
import { because, endedBy, takeBack } from './undo.ts'

/** Output and logging of a move. */
interface Telling {
  onCopied: (progress: Copying & { of: number }) => void
  /** The service is served at the target. `pausedMs`: for how long nothing could be written. */
  onSwitched: (pausedMs: number) => void
  onEmptied: Emptied
  /** Something is waited for. */
  onWaiting: (what: string) => void
}

/** Milliseconds that writes are shut for, at most. */
const shutMs = 4_000
/**
 * A look compares what was written since the look before. Writes are shut once one takes no more than so many milliseconds; and how many
 * looks there are at most.
 */
const quickMs = 1_500
const looksAtMost = 20
/** Milliseconds for jobs to end, and then to notice that they were aborted. */
const drainMs = 8_000
const breakOffMs = 7_000
const lookMs = 200

/**
 * Moves a service that `beginMove` has recorded. `at` is the source's address as the target's server reaches it. If the move fails, the
 * error says where the service is and which steps are left.
 */
export async function moveService(
  places: Places,
  move: Move,
  at: string,
  telling: Telling,
  asked: AbortSignal,
): Promise<void> {
  const lost = new AbortController()
  const beat = setInterval(() => {
    stayAlive(places.control, move).then(
      isMine => isMine || lost.abort(new Error('The move was taken for dead, and another process has ended it.')),
      () => {},
    )
  }, aliveMs)
  const signal = AbortSignal.any([asked, lost.signal])
  const known = delay(knownMs)
  try {
    let shutAt = 0
    try {
      const tables = await copy(places, move, at, telling, signal)
      await known
      await overTo(places, move, tables, telling, signal, () => {
        shutAt = performance.now()
      })
    } catch (error) {
      if (lost.signal.aborted) throw lost.signal.reason
      await takeBack(places, move, error as Error, lost.signal)
    }
    const onOpen = () => telling.onSwitched(performance.now() - shutAt)
    await finish(places, move, { signal: lost.signal, onOpen, onRows: telling.onEmptied }).catch(error => {
      throw because(error, `${move.name} is in ${move.target} now; what is left to do ${endedBy(move)}`)
    })
  } finally {
    clearInterval(beat)
  }
}

/** Copies all rows, and has the target follow. */
async function copy(
  { control, source, target }: Places,
  move: Move,
  at: string,
  telling: Telling,
  signal: AbortSignal,
) {
  if (!(await readServiceOfJob(source, move.serviceId)))
    throw new Error(`${move.name} is not in ${move.source ?? 'the control database'} (tillbridge doctor).`)
  if (!(await awaitService(target, move)))
    throw new Error(`${move.target} has a service of the name ${move.name} or the number ${move.serviceId} already.`)
  // Deletes rows that a restored backup may have left at the target.
  await empty(target, { id: move.serviceId }, undefined, signal)
  const tables = await movedTables(source)
  const name = await nameOfMove(source, move)
  const counts = await published(source, move, name, tables)
  const of = [...counts.values()].reduce((sum, rows) => sum + rows, 0)
  await subscribe(target, name, at)
  if (!(await noteCopySlots(control, move, await slotsOfCopy(target, name))))
    throw new Error('Another process has taken the move over.')
  await copyFilled(target, name)
  for (;;) {
    signal.throwIfAborted()
    const now = await copying(target, name, counts)
    telling.onCopied({ ...now, of })
    if (now.faults) throw new Error(`PostgreSQL of ${move.target} cannot copy from the source; its log says why.`)
    if (now.tables && now.ready === now.tables) break
    await delay(lookMs, undefined, { signal })
  }
  failpoint('service_copied')
  return tables
}

/**
 * Publishes the tables and returns their row counts. A row that is added to an empty table before the slot exists would be neither
 * copied nor replicated. If that happened, it starts again.
 */
async function published(source: Database, move: Move, name: string, tables: readonly string[]) {
  for (;;) {
    const counts = await countsOf(source, move, tables)
    const filled = tables.filter(table => counts.get(table))
    const empty = tables.filter(table => !counts.get(table))
    await publish(source, name, move, { filled, empty })
    const now = await countsOf(source, move, empty)
    if (![...now.values()].some(rows => rows > 0)) return counts
    await unpublish(source, name)
  }
}

/** Shuts the service, compares, and switches. */
async function overTo(
  places: Places,
  move: Move,
  tables: string[],
  telling: Telling,
  signal: AbortSignal,
  onShut: () => void,
) {
  const { control, source, target } = places
  telling.onWaiting('All rows are compared, while they are written.')
  const comparison = await compareAll(places, move, tables, signal)
  failpoint('service_compared')
  await quiet(places, move, comparison, telling, signal)
  await untilQuick(comparison, signal)
  failpoint('service_drained')
  onShut()
  const until = await shutWriters(source, move, shutMs)
  if (until === undefined) throw new Error(`${move.name} is not there any more.`)
  failpoint('service_paused')
  // Abandons the wait before the pause ends.
  const timely = AbortSignal.any([signal, AbortSignal.timeout(shutMs - 300)])
  try {
    await waitForWriteLocks(source, { id: move.serviceId }, timely)
    const written = await clockOf(source)
    await Promise.all([comparison.look(timely), carryRest({ source, target }, move)])
    const wrong = comparison.wrong()
    if (wrong.length) throw new Error(`Not all rows of ${wrong.join(', ')} came over as they were.`)
    timely.throwIfAborted()
    // A reader must not see an earlier `asOf` at the target than at the source.
    while (!(await hasPassed(target, written))) await delay(20, undefined, { signal: timely })
  } catch (error) {
    if (timely.aborted && !signal.aborted)
      throw new Error(`Within ${shutMs / 1_000} s not all was there: writes would have paused for too long.`, {
        cause: error,
      })
    throw error
  }
  await letRead(target, move)
  const tooLate = () => new Error('The switch came too late: writes were let in again at the source.')
  if (source === control) {
    if (!(await switchFromControl(control, move, until))) throw tooLate()
  } else {
    if (!(await letGo(source, move, until))) throw tooLate()
    failpoint('service_moved_away')
    if (await hasPassed(source, until)) throw tooLate()
    if (!(await switchOver(control, move))) throw new Error('Another process has taken the move over.')
  }
  if (source === control && (await hasPassed(control, until))) {
    await switchBack(control, move)
    throw tooLate()
  }
  failpoint('service_switched')
}

/** Waits until few changes are left. Throws if that never happens. */
async function untilQuick(comparison: Comparison, signal: AbortSignal) {
  let tookMs = Number.POSITIVE_INFINITY
  for (let looks = 0; tookMs > quickMs; looks++) {
    if (looks === looksAtMost)
      throw new Error(
        `So much is written that the target is ${(tookMs / 1_000).toFixed(1)} s behind, and writes would pause for too long: move it when there is less to do.`,
      )
    const began = performance.now()
    await comparison.look(signal)
    tookMs = performance.now() - began
  }
}

/** Waits until no file is read, and no job done, for the service. */
async function quiet({ source }: Places, move: Move, comparison: Comparison, telling: Telling, signal: AbortSignal) {
  for (let files = await filesUnderWay(source, move); files.length; files = await filesUnderWay(source, move)) {
    telling.onWaiting(`An import is under way (${files.join(', ')}): it is waited for.`)
    // Keeps the WAL from piling up.
    await comparison.look(signal)
    await delay(2_000, undefined, { signal })
  }
  if (!(await drain(source, move))) throw new Error(`${move.name} moves already, or is being removed.`)
  const patience = performance.now() + drainMs
  while ((await busyJobs(source, move)) > 0 && performance.now() < patience) await delay(lookMs, undefined, { signal })
  if (await breakOffJobs(source, move)) await delay(breakOffMs, undefined, { signal })
}
