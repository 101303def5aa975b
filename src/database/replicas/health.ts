import type { Db } from '../db.ts'
import { type Lsn, parseLsn, type ReplayState, replayState } from './lsn.ts'
import type { Lag, LsnHistory } from './lsn-history.ts'

/** The state of a replica. Only a `ready` one answers reads. */
type State = 'unknown' | 'ready' | 'unreachable' | 'behind' | 'no_standby' | 'another_log' | 'behind_pooler'

export interface ReplicaHealth {
  state: State
  lag?: Lag | undefined
  /** The error, if the state is `unreachable`. */
  error?: unknown
}

/** Maximum lag in seconds. It bounds how long a read can return erased or outdated data. */
const maxLagSeconds = 30

/** The state that a server reports of itself. */
export interface ReplicaProbe extends ReplayState {
  /** True if an undeclared pooler can send each statement to another server. */
  isLent: boolean
}

/** Reads the state of the server behind a connection whose server process is `pid` (`Database.withConnection`). */
export async function probeServer(db: Db, pid: number | undefined): Promise<ReplicaProbe> {
  const row = await db.row<ReplayState & { pid: number }>(replayState)
  if (!row) throw new Error('the query of the replay state returned no row')
  return { ...row, isLent: pid !== undefined && pid !== row.pid }
}

/** Compares the state of a replica with the LSN history of the primary. */
export function assessHealth({ isStandby, isLent, lsn }: ReplicaProbe, history: LsnHistory): ReplicaHealth {
  if (isLent) return { state: 'behind_pooler' }
  if (!isStandby) return { state: 'no_standby' }
  if (!history.isKnown() || lsn === null) return { state: 'unknown' }
  const lag = history.lagAt(parseLsn(lsn))
  if (!lag) return { state: 'another_log' }
  if (lag.seconds > maxLagSeconds) return { state: 'behind', lag }
  return { state: lag.isAtLeast ? 'unknown' : 'ready', lag }
}

/** Returns the reason why a replica is not used. */
export function describeHealth({ state, lag, error }: ReplicaHealth): string {
  if (state === 'unreachable') return `it is unreachable: ${(error as Error).message}`
  if (state === 'behind') return `it is ${lag?.seconds.toFixed(0)} s behind; the maximum is ${maxLagSeconds} s`
  if (state === 'behind_pooler')
    return 'it is behind a pooler that lends connections per transaction, which requires DATABASE_POOLER=transaction'
  if (state === 'no_standby') return 'it is not a standby'
  if (state === 'another_log')
    return 'it follows another primary or timeline than the server of DATABASE_URL, or is another database of that server'
  if (lag)
    return `it has not replayed what the primary had ${lag.seconds.toFixed(0)} s ago: ${lag.bytes} bytes are missing`
  return 'the primary of its WAL is unknown: grant pg_read_all_stats to its role, or check if it still receives WAL'
}

/** True if a server has replayed everything up to an LSN. */
export const hasReached = (replayed: Lsn | undefined, required: Lsn) =>
  replayed?.log === required.log && replayed.at >= required.at
