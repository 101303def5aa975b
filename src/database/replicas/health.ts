import type { Db } from '../db.ts'
import { parsePosition, type ReplayState, replayState, type WalPosition } from './lsn.ts'
import type { Lag, LsnHistory } from './lsn-history.ts'

/** Whether a replica is asked, and if not, why. */
type State = 'unknown' | 'ready' | 'away' | 'behind' | 'no_standby' | 'another_log' | 'behind_pooler'

export interface ReplicaHealth {
  state: State
  lag?: Lag | undefined
  /** What was met where it is away. */
  fault?: unknown
}

/** A replica that is further behind, in seconds, does not answer: what was erased or set is seen no later than that. */
const maxLagSeconds = 30

/** What a server says of itself, over a connection that the server's process `pid` has greeted. */
export interface ReplicaProbe extends ReplayState {
  /** Whether each statement may come to another server: a pooler is in between, and nobody has told us. */
  isLent: boolean
}

/** How far whoever answers over a connection has come (`together`). */
export async function reachedBy(db: Db, pid: number | undefined): Promise<ReplicaProbe> {
  const found = await db.row<ReplayState & { pid: number }>(replayState)
  if (!found) throw new Error('a server has one control file')
  return { ...found, isLent: pid !== undefined && pid !== found.pid }
}

/** How a server stands, judged by what it says of itself and by what is known of the primary. */
export function assessHealth({ isStandby, isLent, position }: ReplicaProbe, trail: LsnHistory): ReplicaHealth {
  if (isLent) return { state: 'behind_pooler' }
  if (!isStandby) return { state: 'no_standby' }
  if (!trail.isKnown() || position === null) return { state: 'unknown' }
  const lag = trail.lagAt(parsePosition(position))
  if (!lag) return { state: 'another_log' }
  if (lag.seconds > maxLagSeconds) return { state: 'behind', lag }
  return { state: lag.isAtLeast ? 'unknown' : 'ready', lag }
}

/** In words. */
export function describeHealth({ state, lag, fault }: ReplicaHealth): string {
  if (state === 'away') return `it cannot be reached: ${(fault as Error).message}`
  if (state === 'behind') return `it is ${lag?.seconds.toFixed(0)} s behind, and ${maxLagSeconds} s are the most`
  if (state === 'behind_pooler')
    return 'a pooler lends its connections for a transaction at a time, which DATABASE_POOLER=transaction tells'
  if (state === 'no_standby') return 'it is no standby'
  if (state === 'another_log')
    return 'it follows another primary than the one that DATABASE_URL leads to, or another timeline of it, or is another database of it'
  if (lag) return `it has not come to where the primary was ${lag.seconds.toFixed(0)} s ago: ${lag.bytes} bytes`
  return 'it does not tell whose log it receives: its role needs `grant pg_read_all_stats`, or it receives nothing now'
}

/** Whether whoever is there has all that lies before a position. */
export const hasReached = (there: WalPosition | undefined, wanted: WalPosition) =>
  there?.log === wanted.log && there.at >= wanted.at
