import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../../database/db.ts'
import { readDatabaseTime } from '../../../store/lists/change-timestamp.ts'
import { waitForWriteLocks } from '../../../store/lists/wait-for-writers.ts'
import { hasPassed, reachListTime } from '../../../store/moves/clocks.ts'
import { type Comparison, startComparison } from '../../../store/moves/compare.ts'
import { countRows } from '../../../store/moves/compare-table.ts'
import { drainService } from '../../../store/moves/drain.ts'
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
import { allowReads, insertIncomingService, markMovedAway, pauseWrites } from '../../../store/moves/pause-writes.ts'
import {
  type CopyProgress,
  getMoveName,
  listMovedTables,
  publish,
  readCopyProgress,
  readCopySlots,
  requireSlot,
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
  /** Called with the progress of the copy, and the total number of rows. */
  onCopied: (progress: CopyProgress & { total: number }) => void
  /** Called when the service is served at the target. `pausedMs`: duration of the write pause. */
  onSwitched: (pausedMs: number) => void
  onPurged: OnPurged
  /** Called with the reason for a wait. */
  onWaiting: (message: string) => void
}

/** Maximum milliseconds of the write pause. */
const maxPauseMs = 4_000
/**
 * An update compares the rows that were written since the previous one. Writes are paused once an update takes at most `maxUpdateMs`. The
 * move fails after `maxUpdates`.
 */
const maxUpdateMs = 1_500
const maxUpdates = 20
const pollIntervalMs = 200

const createTakenOverError = () => new Error('Another process has taken over the move.')

/**
 * Moves a service that `beginMove` has recorded. `connectionString`: the source as the target's server reaches it. If the move fails, the
 * error says where the service is and which steps are left.
 */
export async function moveService(
  databases: MoveDatabases,
  move: Move,
  connectionString: string,
  reporter: MoveReporter,
  stopSignal: AbortSignal,
): Promise<void> {
  const lost = new AbortController()
  const beat = setInterval(() => {
    sendHeartbeat(databases.control, move).then(
      isOwner => isOwner || lost.abort(createTakenOverError()),
      () => {},
    )
  }, heartbeatIntervalMs)
  const signal = AbortSignal.any([stopSignal, lost.signal])
  const propagated = delay(propagationMs)
  try {
    let pausedAt = 0
    try {
      const tables = await copyService(databases, move, connectionString, reporter, signal)
      await propagated
      await switchService(databases, move, tables, reporter, signal, () => {
        pausedAt = performance.now()
      })
    } catch (error) {
      if (lost.signal.aborted) throw lost.signal.reason
      await undoFailedMove(databases, move, error as Error, lost.signal)
    }
    const onOpen = () => reporter.onSwitched(performance.now() - pausedAt)
    await finishMove(databases, move, { signal: lost.signal, onOpen, onRows: reporter.onPurged }).catch(error => {
      throw addToMessage(
        error,
        `${move.name} is served from ${move.target} now. The remaining steps ${describeRemedy(move)}`,
      )
    })
  } finally {
    clearInterval(beat)
  }
}

/** Copies all rows and replicates later changes to the target. */
async function copyService(
  { control, source, target }: MoveDatabases,
  move: Move,
  connectionString: string,
  reporter: MoveReporter,
  signal: AbortSignal,
) {
  if (!(await readServiceOfJob(source, move.serviceId)))
    throw new Error(`${move.name} is not in ${move.source ?? 'the control database'} (tillbridge doctor).`)
  if (!(await insertIncomingService(target, move)))
    throw new Error(`${move.target} already has a service with the name ${move.name} or the number ${move.serviceId}.`)
  // Deletes rows that a restored backup may have left at the target.
  await purgeRows(target, { id: move.serviceId }, undefined, signal)
  const tables = await listMovedTables(source)
  const name = await getMoveName(source, move)
  const counts = await publishTables(source, move, name, tables)
  const total = [...counts.values()].reduce((sum, rows) => sum + rows, 0)
  await subscribe(source, target, name, connectionString)
  if (!(await recordCopySlots(control, move, await readCopySlots(target, name)))) throw createTakenOverError()
  await startCopy(target, name)
  for (;;) {
    signal.throwIfAborted()
    await requireSlot(source, name)
    const progress = await readCopyProgress(target, name, counts)
    reporter.onCopied({ ...progress, total })
    if (progress.errors)
      throw new Error(`PostgreSQL of ${move.target} can't copy from the source. Its log has the cause.`)
    if (progress.tables && progress.ready === progress.tables) break
    await delay(pollIntervalMs, undefined, { signal })
  }
  failpoint('service_copied')
  return tables
}

/**
 * Publishes the tables and returns their row counts. A row that is added to an empty table before the slot exists would be neither
 * copied nor replicated. If a row was added, publishes again.
 */
async function publishTables(source: Database, move: Move, name: string, tables: readonly string[]) {
  for (;;) {
    const counts = await countRows(source, move, tables)
    const filled = tables.filter(table => counts.get(table))
    const empty = tables.filter(table => !counts.get(table))
    await publish(source, name, move, { filled, empty })
    const newCounts = await countRows(source, move, empty)
    if (![...newCounts.values()].some(rows => rows > 0)) return counts
    await unpublish(source, name)
  }
}

/** Compares the rows, pauses writes, and switches the service to the target. */
async function switchService(
  databases: MoveDatabases,
  move: Move,
  tables: string[],
  reporter: MoveReporter,
  signal: AbortSignal,
  onPause: () => void,
) {
  const { control, source, target } = databases
  reporter.onWaiting('Comparing all rows.')
  const comparison = await startComparison(databases, move, tables, signal)
  failpoint('service_compared')
  // Updates keep the WAL from piling up.
  const whileImporting = () => comparison.update(signal)
  await drainService(source, move, { onWaiting: reporter.onWaiting, whileImporting, signal })
  await catchUp(comparison, signal)
  failpoint('service_drained')
  onPause()
  const until = await pauseWrites(source, move, maxPauseMs)
  if (until === undefined) throw new Error(`Service ${move.name} no longer exists.`)
  failpoint('service_paused')
  // Abandons the wait before the pause ends.
  const timely = AbortSignal.any([signal, AbortSignal.timeout(maxPauseMs - 300)])
  try {
    await waitForWriteLocks(source, { id: move.serviceId }, timely)
    const written = await readDatabaseTime(source)
    await Promise.all([comparison.update(timely), copyRemainingRows({ source, target }, move)])
    const different = comparison.differentTables()
    if (different.length) throw new Error(`The copied rows of ${different.join(', ')} differ from the source.`)
    timely.throwIfAborted()
    // A reader must not see an earlier `asOf` at the target than at the source.
    while (!(await reachListTime(target, written))) await delay(20, undefined, { signal: timely })
  } catch (error) {
    if (timely.aborted && !signal.aborted)
      throw new Error(
        `The target did not catch up within ${maxPauseMs / 1_000} s, and writes can't be paused for longer. Try again.`,
        { cause: error },
      )
    throw error
  }
  await allowReads(target, move)
  const createTooLateError = () =>
    new Error('The switch came too late, because the write pause at the source had ended.')
  if (source === control) {
    if (!(await switchFromControl(control, move, until))) throw createTooLateError()
    failpoint('service_switch_recorded')
  } else {
    if (!(await markMovedAway(source, move, until))) throw createTooLateError()
    failpoint('service_moved_away')
    if (await hasPassed(source, until)) throw createTooLateError()
    if (!(await switchToTarget(control, move))) throw createTakenOverError()
  }
  if (source === control && (await hasPassed(control, until))) {
    throw (await undoSwitch(control, move)) ? createTooLateError() : createTakenOverError()
  }
  failpoint('service_switched')
}

/** Waits until few changes are left. Throws if that never happens. */
async function catchUp(comparison: Comparison, signal: AbortSignal) {
  let updateMs = Number.POSITIVE_INFINITY
  for (let updates = 0; updateMs > maxUpdateMs; updates++) {
    if (updates === maxUpdates)
      throw new Error(
        `The target stays ${(updateMs / 1_000).toFixed(1)} s behind, because too much is being written. Move the service at a quieter time.`,
      )
    const startedAt = performance.now()
    await comparison.update(signal)
    updateMs = performance.now() - startedAt
  }
}
