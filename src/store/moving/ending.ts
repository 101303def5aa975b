import { setTimeout as delay } from 'node:timers/promises'
import { type Database, sql } from '../../db.ts'
import { failpoint } from '../../failpoints.ts'
import { trustMs } from '../../sign-in.ts'
import { type Emptied, empty } from '../ending/emptying.ts'
import { end } from '../ending/ending.ts'
import { carryLog } from './carrying.ts'
import { endMove, type Move, sinceSwitch, stayAlive, switchedAt, switchOver } from './moves.ts'
import { nameOfMove, unpublish, unsubscribe } from './replication.ts'
import { isLetGo, keepArriving, letWrite, openAgain } from './shutting.ts'

/** The databases of a move. */
export interface Places {
  control: Database
  source: Database
  target: Database
}

/** Milliseconds from the beginning of a move until each process knows of it, and asks the control database where the service is. */
export const knownMs = trustMs + 200
/** Milliseconds after which nothing that was asked for at the source is under way there: its rows may go. */
const lingerMs = 10_000

/** Takes all back that was done before the switch: the service is at the source, and nothing of it at the target. */
export async function undo({ control, source, target }: Places, move: Move, signal: AbortSignal) {
  await openAgain(source, move)
  const name = await nameOfMove(source, move)
  await keepArriving(target, move)
  await unsubscribe(target, name)
  await unpublish(source, name)
  const isComing = sql`service_id = ${move.serviceId} and moving = 'arriving'`
  if (await target.row(sql`select true as "is" from service where ${isComing}`)) {
    await empty(target, { id: move.serviceId }, () => {}, signal)
    await target.run(sql`delete from service where ${isComing}`)
  }
  await endMove(control, move)
}

/** Does all that follows the switch: the target is opened, and what is left at the source goes. */
export async function finish(
  { control, source, target }: Places,
  move: Move,
  { signal, onOpen = () => {}, onRows = () => {} }: { signal: AbortSignal; onOpen?: () => void; onRows?: Emptied },
) {
  const id = move.serviceId
  const passed = async (ms: number) => {
    const left = ms - (await sinceSwitch(control, move))
    if (left > 0) await delay(left, undefined, { signal })
  }
  await letWrite(target, move)
  onOpen()
  failpoint('service_opened')
  const name = await nameOfMove(source, move)
  await unsubscribe(target, name)
  await unpublish(source, name)
  await passed(lingerMs)
  await carryLog({ source, target }, move, signal)
  if (source === control) {
    // Accounts are written here for ever: answers about them stay, and go with all others within a day, and lines about them wait in the
    // audit for being handed on.
    await empty(source, { id }, onRows, signal, {
      tables: ['account_use', 'service_move', 'audit', 'idempotent_answer'],
    })
    const at = await switchedAt(control, move)
    await source.run(sql`delete from audit where service_id = ${id} and changed_at < ${at ?? '-infinity'}::timestamptz`)
  } else {
    await empty(source, { id }, onRows, signal)
    await end(source, { id })
  }
  await endMove(control, move)
}

/** Ends a move that somebody has left half done: forward where it was switched, or was about to be; back otherwise. */
export async function settleMove(places: Places, move: Move, signal: AbortSignal): Promise<'finished' | 'undone'> {
  const beat = setInterval(() => void stayAlive(places.control, move).catch(() => {}), 1_000)
  try {
    const isBorder = move.state === 'copying' && move.source !== null && (await isLetGo(places.source, move))
    if (isBorder) await switchOver(places.control, move)
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
