import { setTimeout as delay } from 'node:timers/promises'
import { type Database, sql } from '../../database/db.ts'
import { authCacheTtlMs } from '../../domain/accounts.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import { failpoint } from '../../testing/failpoints.ts'
import { end } from '../service-deletion/deletion.ts'
import { type Emptied, empty } from '../service-deletion/purge.ts'
import { tablesThatStay } from '../shards/control-tables.ts'
import {
  aliveMs,
  copySlots,
  endMove,
  type Move,
  sinceSwitch,
  stateOf,
  stayAlive,
  switchedAt,
  switchOver,
} from './moves.ts'
import { isLetGo, keepArriving, letWrite, openAgain } from './pause-writes.ts'
import { nameOfMove, unpublish, unsubscribe } from './replication.ts'
import { carryLog } from './request-log-copy.ts'

/** The databases of a move. */
export interface Places {
  control: Database
  source: Database
  target: Database
}

/** Milliseconds from the beginning of a move until each process knows of it, and asks the control database where the service is. */
export const knownMs = authCacheTtlMs + 200
/** Milliseconds after which nothing that was asked for at the source is under way there: its rows may go. */
const lingerMs = 10_000

/** How far the move is. Throws where another process has taken it over: that one does what is to be done. */
export async function requireMine(control: Database, move: Move) {
  const state = await stateOf(control, move)
  if (!state) throw new Error('The move was taken for dead, and another process has ended it, or is about to.')
  return state
}

/** Has the service served at the source as ever, and the source keep nothing for a target that is away. */
async function retreat({ control, source }: Pick<Places, 'control' | 'source'>, move: Move) {
  await requireMine(control, move)
  await openAgain(source, move)
  await keepNothing({ control, source }, move)
}

/** Ends what the source publishes for a move, and what of its log it keeps. */
async function keepNothing({ control, source }: Pick<Places, 'control' | 'source'>, move: Move) {
  await unpublish(source, await nameOfMove(source, move), await copySlots(control, move))
}

/** Takes all back that was done before the switch: the service is at the source, and nothing of it at the target. Throws where it is switched. */
export async function undo({ control, source, target }: Places, move: Move, signal: AbortSignal) {
  if ((await requireMine(control, move)) === 'switched')
    throw new Error(`${move.name} is in ${move.target} by now: nothing is undone.`)
  await openAgain(source, move)
  try {
    await keepArriving(target, move)
    await requireMine(control, move)
    await unsubscribe(target, await nameOfMove(source, move))
  } finally {
    await requireMine(control, move)
    await keepNothing({ control, source }, move)
  }
  const isComing = sql`service_id = ${move.serviceId} and move_state = 'incoming'`
  if (await target.row(sql`select true as "is" from service where ${isComing}`)) {
    await empty(target, { id: move.serviceId }, undefined, signal)
    await target.run(sql`delete from service where ${isComing}`)
  }
  await endMove(control, move)
}

/** Does all that follows the switch: the target is opened, and what is left at the source goes. */
export async function finish(
  { control, source, target }: Places,
  move: Move,
  { signal, onOpen = () => {}, onRows }: { signal: AbortSignal; onOpen?: () => void; onRows?: Emptied },
) {
  const id = move.serviceId
  await requireMine(control, move)
  const passed = async (ms: number) => {
    const left = ms - (await sinceSwitch(control, move))
    if (left > 0) await delay(left, undefined, { signal })
  }
  await letWrite(target, move)
  onOpen()
  failpoint('service_opened')
  await unsubscribe(target, await nameOfMove(source, move))
  await keepNothing({ control, source }, move)
  await passed(lingerMs)
  await requireMine(control, move)
  await carryLog({ source, target }, move, signal)
  if (source === control) {
    await empty(source, { id }, onRows, signal, tablesThatStay)
    const at = await switchedAt(control, move)
    await source.run(sql`delete from audit where service_id = ${id} and changed_at < ${at ?? '-infinity'}::timestamptz`)
  } else {
    await empty(source, { id }, onRows, signal)
    await end(source, { id })
  }
  await endMove(control, move)
}

/**
 * Ends a move that was left half done: forward where it was switched, or was about to be; else back. Without `target`, which is away, a
 * service that is still at the source is opened again there; the rest is left, and nothing returned.
 */
export async function settleMove(
  { control, source, target }: Omit<Places, 'target'> & { target: Database | undefined },
  move: Move,
  signal: AbortSignal,
): Promise<'finished' | 'undone' | undefined> {
  const beat = setInterval(() => void ignoreError(stayAlive(control, move), 'heartbeat is sent again'), aliveMs)
  try {
    const isBorder = move.state === 'copying' && move.source !== null && (await isLetGo(source, move))
    if (!target) return move.state === 'switched' ? undefined : void (await retreat({ control, source }, move))
    const places = { control, source, target }
    if (isBorder) await switchOver(control, move)
    if (isBorder || move.state === 'switched') {
      await finish(places, move, { signal })
      return 'finished'
    }
    await undo(places, move, signal)
    return 'undone'
  } finally {
    clearInterval(beat)
  }
}
