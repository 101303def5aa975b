import { setTimeout as delay } from 'node:timers/promises'
import { type Database, sql } from '../../database/db.ts'
import { authCacheTtlMs } from '../../domain/accounts.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import { failpoint } from '../../testing/failpoints.ts'
import { deleteService } from '../service-deletion/deletion.ts'
import { type OnPurged, purgeRows } from '../service-deletion/purge.ts'
import { retainedTables } from '../shards/control-tables.ts'
import {
  endMove,
  findCopySlots,
  findSwitchTime,
  getMsSinceSwitch,
  heartbeatIntervalMs,
  type Move,
  readMoveState,
  sendHeartbeat,
  switchToTarget,
} from './moves.ts'
import { allowWrites, isMovedAway, rejectReads, resumeAtSource } from './pause-writes.ts'
import { getMoveName, unpublish, unsubscribe } from './replication.ts'
import { copyRequestLog } from './request-log-copy.ts'

export interface MoveDatabases {
  control: Database
  source: Database
  target: Database
}

/** Milliseconds until all processes have noticed a move. After that they read the service's shard from the control database. */
export const propagationMs = authCacheTtlMs + 200
/** Milliseconds after the switch until no request at the source is still running, so its rows can be deleted. */
const lingerMs = 10_000

/** Returns the state of the move. Throws if another process has taken it over. */
export async function requireOwnership(control: Database, move: Pick<Move, 'serviceId' | 'owner'>) {
  const state = await readMoveState(control, move)
  if (!state)
    throw new Error('Another process has taken over the move, because this one did not send heartbeats in time.')
  return state
}

/** Resumes the service at the source and stops replication, because the target is unavailable. */
async function serveAtSource({ control, source }: Pick<MoveDatabases, 'control' | 'source'>, move: Move) {
  await requireOwnership(control, move)
  await resumeAtSource(source, move)
  await stopReplication({ control, source }, move)
}

/** Drops the publications and replication slots of a move, so that the source no longer keeps WAL for it. */
async function stopReplication({ control, source }: Pick<MoveDatabases, 'control' | 'source'>, move: Move) {
  await unpublish(source, await getMoveName(source, move), await findCopySlots(control, move))
}

const isMoveToShard = (move: Move<string | null>): move is Move => move.target !== null

/**
 * Ends a restore in place. Resumes writes, unless its transaction was committed, which has done that. Waits for a transaction that is still
 * running.
 */
export async function undoRestore(
  { control, source }: Pick<MoveDatabases, 'control' | 'source'>,
  restore: Move<string | null>,
) {
  await resumeAtSource(source, restore)
  await endMove(control, restore)
}

/** Undoes a move before its switch: resumes the service at the source and deletes its rows at the target. Throws after the switch. */
export async function undoMove({ control, source, target }: MoveDatabases, move: Move, signal: AbortSignal) {
  if ((await requireOwnership(control, move)) === 'switched')
    throw new Error(`The move of ${move.name} can't be undone: it is already served from ${move.target}.`)
  await resumeAtSource(source, move)
  try {
    await rejectReads(target, move)
    await requireOwnership(control, move)
    await unsubscribe(target, await getMoveName(source, move))
  } finally {
    await requireOwnership(control, move)
    await stopReplication({ control, source }, move)
  }
  const isIncoming = sql`service_id = ${move.serviceId} and move_state = 'incoming'`
  if (await target.row(sql`select true as "is" from service where ${isIncoming}`)) {
    await purgeRows(target, { id: move.serviceId }, undefined, signal)
    await target.run(sql`delete from service where ${isIncoming}`)
  }
  await endMove(control, move)
}

/** Finishes a move after its switch: allows writes at the target, and deletes the rows at the source. */
export async function finishMove(
  { control, source, target }: MoveDatabases,
  move: Move,
  { signal, onOpen = () => {}, onRows }: { signal: AbortSignal; onOpen?: () => void; onRows?: OnPurged },
) {
  const id = move.serviceId
  await requireOwnership(control, move)
  await allowWrites(target, move)
  onOpen()
  failpoint('service_opened')
  await unsubscribe(target, await getMoveName(source, move))
  await stopReplication({ control, source }, move)
  await delay(Math.max(0, lingerMs - (await getMsSinceSwitch(control, move))), undefined, { signal })
  await requireOwnership(control, move)
  await copyRequestLog({ source, target }, move, signal)
  if (source === control) {
    await purgeRows(source, { id }, onRows, signal, retainedTables)
    const at = await findSwitchTime(control, move)
    await source.run(sql`delete from audit where service_id = ${id} and changed_at < ${at ?? '-infinity'}::timestamptz`)
  } else {
    await purgeRows(source, { id }, onRows, signal)
    await deleteService(source, { id })
  }
  await endMove(control, move)
}

/**
 * Ends an abandoned move: finishes it if it was switched or about to be, otherwise undoes it. Without `target`, because the target is
 * unavailable, resumes a service that is still at the source, and returns undefined. An abandoned restore has only a write pause to end.
 */
export async function recoverMove(
  { control, source, target }: Omit<MoveDatabases, 'target'> & { target: Database | undefined },
  move: Move<string | null>,
  signal: AbortSignal,
): Promise<'finished' | 'undone' | undefined> {
  if (!isMoveToShard(move)) {
    await undoRestore({ control, source }, move)
    return 'undone'
  }
  const beat = setInterval(
    () => void ignoreError(sendHeartbeat(control, move), 'heartbeat is sent again'),
    heartbeatIntervalMs,
  )
  try {
    const isAtSwitch = move.state === 'copying' && move.source !== null && (await isMovedAway(source, move))
    if (!target) return move.state === 'switched' ? undefined : void (await serveAtSource({ control, source }, move))
    const databases = { control, source, target }
    if (isAtSwitch) await switchToTarget(control, move)
    if (isAtSwitch || move.state === 'switched') {
      await finishMove(databases, move, { signal })
      return 'finished'
    }
    await undoMove(databases, move, signal)
    return 'undone'
  } finally {
    clearInterval(beat)
  }
}
