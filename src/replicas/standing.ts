import type { Db } from '../db.ts'
import { type Position, positionIn, type Reached, reached } from './position.ts'
import type { Lag, Trail } from './trail.ts'

/** Whether a replica is asked, and if not, why. */
export type State = 'unknown' | 'ready' | 'away' | 'behind' | 'no_standby' | 'another_log'

export interface Standing {
  state: State
  lag?: Lag | undefined
  /** What was met where it is away. */
  fault?: unknown
}

/** Seconds that a replica may be behind at most, and still answers: what was erased, and settings, are seen no later. */
export const mostBehindSeconds = 30

/** How far whoever answers over these connections has come. */
export async function reachedBy(db: Db): Promise<Reached> {
  const found = await db.row<Reached>(reached)
  if (!found) throw new Error('a server has one control file')
  return found
}

/** How a server stands by what it says of itself, and by what is known of the primary. */
export function standingOf({ isStandby, position }: Reached, trail: Trail): Standing {
  if (!isStandby) return { state: 'no_standby' }
  if (!trail.isKnown() || position === null) return { state: 'unknown' }
  const lag = trail.lagAt(positionIn(position))
  if (!lag) return { state: 'another_log' }
  return { state: lag.seconds > mostBehindSeconds ? 'behind' : 'ready', lag }
}

/** In words. */
export function whyOf({ state, lag, fault }: Standing): string {
  if (state === 'away') return `it cannot be reached: ${(fault as Error).message}`
  if (state === 'behind') return `it is ${lag?.seconds.toFixed(0)} s behind, and ${mostBehindSeconds} s are the most`
  if (state === 'no_standby') return 'it is no standby'
  if (state === 'another_log')
    return 'it follows another primary than the one that DATABASE_URL leads to, or another timeline of it'
  return 'nothing is known of it yet'
}

/** Whether whoever is there has all that lies before a position. */
export const isAt = (there: Position | undefined, wanted: Position) =>
  there?.log === wanted.log && there.at >= wanted.at
