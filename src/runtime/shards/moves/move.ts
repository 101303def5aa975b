import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../../database/db.ts'
import { waitForWriteLocks } from '../../../store/lists/wait-for-writers.ts'
import { hasPassed, readClock } from '../../../store/moves/clocks.ts'
import { type Comparison, startComparison } from '../../../store/moves/compare.ts'
import { countRows } from '../../../store/moves/compare-table.ts'
import { finishMove, type MoveDatabases, propagationMs } from '../../../store/moves/finish.ts'
import {
  heartbeatIntervalMs,
  type Move,
  recordCopySlots,
  sendHeartbeat,
  switchFromControl,
  switchToTarget,
  undoSwitch,
} from '../../../store/moves/moves.ts'
import {
  abortJobs,
  allowReads,
  countRunningJobs,
  insertIncomingService,
  listRunningImports,
  markMovedAway,
  pauseWrites,
  startDraining,
} from '../../../store/moves/pause-writes.ts'
import {
  type CopyProgress,
  getMoveName,
  listMovedTables,
  publish,
  readCopyProgress,
  readCopySlots,
  startCopy,
  subscribe,
  unpublish,
} from '../../../store/moves/replication.ts'
import { copyRemainingRows } from '../../../store/moves/request-log-copy.ts'
import { type OnPurged, purgeRows } from '../../../store/service-deletion/purge.ts'
import { readServiceOfJob } from '../../../store/tenancy/services.ts'
import { failpoint } from '../../../testing/failpoints.ts'
import { addToMessage, describeRemedy, undoFailedMove } from './undo.ts'

/** Output and logging of a move. */
interface MoveReporter {
  onCopied: (progress: CopyProgress & { of: number }) => void
  /** The service is served at the target. `pausedMs`: for how long nothing could be written. */
  onSwitched: (pausedMs: number) => void
  onPurged: OnPurged
  /** Something is waited for. */
  onWaiting: (what: string) => void
}

/** Milliseconds that writes are shut for, at most. */
const maxPauseMs = 4_000
/**
 * A look compares what was written since the look before. Writes are shut once one takes no more than so many milliseconds; and how many
 * looks there are at most.
 */
const maxUpdateMs = 1_500
const maxUpdates = 20
/** Milliseconds for jobs to end, and then to notice that they were aborted. */
const drainMs = 8_000
const abortMs = 7_000
const pollIntervalMs = 200

/**
 * Moves a service that `beginMove` has recorded. `at` is the source's address as the target's server reaches it. If the move fails, the
 * error says where the service is and which steps are left.
 */
export async function moveService(
  places: MoveDatabases,
  move: Move,
  at: string,
  telling: MoveReporter,
  asked: AbortSignal,
): Promise<void> {
  const lost = new AbortController()
  const beat = setInterval(() => {
    sendHeartbeat(places.control, move).then(
      isMine => isMine || lost.abort(new Error('The move was taken for dead, and another process has ended it.')),
      () => {},
    )
  }, heartbeatIntervalMs)
  const signal = AbortSignal.any([asked, lost.signal])
  const known = delay(propagationMs)
  try {
    let shutAt = 0
    try {
      const tables = await copyService(places, move, at, telling, signal)
      await known
      await switchService(places, move, tables, telling, signal, () => {
        shutAt = performance.now()
      })
    } catch (error) {
      if (lost.signal.aborted) throw lost.signal.reason
      await undoFailedMove(places, move, error as Error, lost.signal)
    }
    const onOpen = () => telling.onSwitched(performance.now() - shutAt)
    await finishMove(places, move, { signal: lost.signal, onOpen, onRows: telling.onPurged }).catch(error => {
      throw addToMessage(error, `${move.name} is in ${move.target} now; what is left to do ${describeRemedy(move)}`)
    })
  } finally {
    clearInterval(beat)
  }
}

/** Copies all rows, and has the target follow. */
async function copyService(
  { control, source, target }: MoveDatabases,
  move: Move,
  at: string,
  telling: MoveReporter,
  signal: AbortSignal,
) {
  if (!(await readServiceOfJob(source, move.serviceId)))
    throw new Error(`${move.name} is not in ${move.source ?? 'the control database'} (tillbridge doctor).`)
  if (!(await insertIncomingService(target, move)))
    throw new Error(`${move.target} has a service of the name ${move.name} or the number ${move.serviceId} already.`)
  // Deletes rows that a restored backup may have left at the target.
  await purgeRows(target, { id: move.serviceId }, undefined, signal)
  const tables = await listMovedTables(source)
  const name = await getMoveName(source, move)
  const counts = await publishTables(source, move, name, tables)
  const of = [...counts.values()].reduce((sum, rows) => sum + rows, 0)
  await subscribe(target, name, at)
  if (!(await recordCopySlots(control, move, await readCopySlots(target, name))))
    throw new Error('Another process has taken the move over.')
  await startCopy(target, name)
  for (;;) {
    signal.throwIfAborted()
    const now = await readCopyProgress(target, name, counts)
    telling.onCopied({ ...now, of })
    if (now.errors) throw new Error(`PostgreSQL of ${move.target} cannot copy from the source; its log says why.`)
    if (now.tables && now.ready === now.tables) break
    await delay(pollIntervalMs, undefined, { signal })
  }
  failpoint('service_copied')
  return tables
}

/**
 * Publishes the tables and returns their row counts. A row that is added to an empty table before the slot exists would be neither
 * copied nor replicated. If that happened, it starts again.
 */
async function publishTables(source: Database, move: Move, name: string, tables: readonly string[]) {
  for (;;) {
    const counts = await countRows(source, move, tables)
    const filled = tables.filter(table => counts.get(table))
    const empty = tables.filter(table => !counts.get(table))
    await publish(source, name, move, { filled, empty })
    const now = await countRows(source, move, empty)
    if (![...now.values()].some(rows => rows > 0)) return counts
    await unpublish(source, name)
  }
}

/** Shuts the service, compares, and switches. */
async function switchService(
  places: MoveDatabases,
  move: Move,
  tables: string[],
  telling: MoveReporter,
  signal: AbortSignal,
  onShut: () => void,
) {
  const { control, source, target } = places
  telling.onWaiting('All rows are compared, while they are written.')
  const comparison = await startComparison(places, move, tables, signal)
  failpoint('service_compared')
  await drainService(places, move, comparison, telling, signal)
  await catchUp(comparison, signal)
  failpoint('service_drained')
  onShut()
  const until = await pauseWrites(source, move, maxPauseMs)
  if (until === undefined) throw new Error(`${move.name} is not there any more.`)
  failpoint('service_paused')
  // Abandons the wait before the pause ends.
  const timely = AbortSignal.any([signal, AbortSignal.timeout(maxPauseMs - 300)])
  try {
    await waitForWriteLocks(source, { id: move.serviceId }, timely)
    const written = await readClock(source)
    await Promise.all([comparison.update(timely), copyRemainingRows({ source, target }, move)])
    const wrong = comparison.differentTables()
    if (wrong.length) throw new Error(`Not all rows of ${wrong.join(', ')} came over as they were.`)
    timely.throwIfAborted()
    // A reader must not see an earlier `asOf` at the target than at the source.
    while (!(await hasPassed(target, written))) await delay(20, undefined, { signal: timely })
  } catch (error) {
    if (timely.aborted && !signal.aborted)
      throw new Error(`Within ${maxPauseMs / 1_000} s not all was there: writes would have paused for too long.`, {
        cause: error,
      })
    throw error
  }
  await allowReads(target, move)
  const tooLate = () => new Error('The switch came too late: writes were let in again at the source.')
  if (source === control) {
    if (!(await switchFromControl(control, move, until))) throw tooLate()
  } else {
    if (!(await markMovedAway(source, move, until))) throw tooLate()
    failpoint('service_moved_away')
    if (await hasPassed(source, until)) throw tooLate()
    if (!(await switchToTarget(control, move))) throw new Error('Another process has taken the move over.')
  }
  if (source === control && (await hasPassed(control, until))) {
    await undoSwitch(control, move)
    throw tooLate()
  }
  failpoint('service_switched')
}

/** Waits until few changes are left. Throws if that never happens. */
async function catchUp(comparison: Comparison, signal: AbortSignal) {
  let tookMs = Number.POSITIVE_INFINITY
  for (let looks = 0; tookMs > maxUpdateMs; looks++) {
    if (looks === maxUpdates)
      throw new Error(
        `So much is written that the target is ${(tookMs / 1_000).toFixed(1)} s behind, and writes would pause for too long: move it when there is less to do.`,
      )
    const began = performance.now()
    await comparison.update(signal)
    tookMs = performance.now() - began
  }
}

/** Waits until no file is read, and no job done, for the service. */
async function drainService(
  { source }: MoveDatabases,
  move: Move,
  comparison: Comparison,
  telling: MoveReporter,
  signal: AbortSignal,
) {
  for (
    let files = await listRunningImports(source, move);
    files.length;
    files = await listRunningImports(source, move)
  ) {
    telling.onWaiting(`An import is under way (${files.join(', ')}): it is waited for.`)
    // Keeps the WAL from piling up.
    await comparison.update(signal)
    await delay(2_000, undefined, { signal })
  }
  if (!(await startDraining(source, move))) throw new Error(`${move.name} moves already, or is being removed.`)
  const patience = performance.now() + drainMs
  while ((await countRunningJobs(source, move)) > 0 && performance.now() < patience)
    await delay(pollIntervalMs, undefined, { signal })
  if (await abortJobs(source, move)) await delay(abortMs, undefined, { signal })
}
