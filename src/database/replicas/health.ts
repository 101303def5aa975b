import type { Db } from '../db.ts'
import { type Position, positionIn, type Reached, reached } from './lsn.ts'
import type { Lag, Trail } from './lsn-history.ts'

/** Whether a replica is asked, and if not, why. */
type State = 'unknown' | 'ready' | 'away' | 'behind' | 'no_standby' | 'another_log' | 'behind_pooler'

export interface Standing {
  state: State
  lag?: Lag | undefined
  /** What was met where it is away. */
  fault?: unknown
}

/** A replica that is further behind, in seconds, does not answer: what was erased or set is seen no later than that. */
const mostBehindSeconds = 30

/** What a server says of itself, over a connection that the server's process `pid` has greeted. */
export interface Looked extends Reached {
  /** Whether each statement may come to another server: a pooler is in between, and nobody has told us. */
  isLent: boolean
}

/** How far whoever answers over a connection has come (`together`). */
export async function reachedBy(db: Db, pid: number | undefined): Promise<Looked> {
  const found = await db.row<Reached & { pid: number }>(reached)
  if (!found) throw new Error('a server has one control file')
  return { ...found, isLent: pid !== undefined && pid !== found.pid }
}

/** How a server stands, judged by what it says of itself and by what is known of the primary. */
export function standingOf({ isStandby, isLent, position }: Looked, trail: Trail): Standing {
  if (isLent) return { state: 'behind_pooler' }
  if (!isStandby) return { state: 'no_standby' }
  if (!trail.isKnown() || position === null) return { state: 'unknown' }
  const lag = trail.lagAt(positionIn(position))
  if (!lag) return { state: 'another_log' }
  if (lag.seconds > mostBehindSeconds) return { state: 'behind', lag }
  return { state: lag.isAtLeast ? 'unknown' : 'ready', lag }
}

/** In words. */
export function whyOf({ state, lag, fault }: Standing): string {
  if (state === 'away') return `it cannot be reached: ${(fault as Error).message}`
  if (state === 'behind') return `it is ${lag?.seconds.toFixed(0)} s behind, and ${mostBehindSeconds} s are the most`
  if (state === 'behind_pooler')
    return 'a pooler lends its connections for a transaction at a time, which DATABASE_POOLER=transaction tells'
  if (state === 'no_standby') return 'it is no standby'
  if (state === 'another_log')
    return 'it follows another primary than the one that DATABASE_URL leads to, or another timeline of it, or is another database of it'
  if (lag) return `it has not come to where the primary was ${lag.seconds.toFixed(0)} s ago: ${lag.bytes} bytes`
  return 'it does not tell whose log it receives: its role needs `grant pg_read_all_stats`, or it receives nothing now'
}

/** Whether whoever is there has all that lies before a position. */
export const isAt = (there: Position | undefined, wanted: Position) =>
  there?.log === wanted.log && there.at >= wanted.at
