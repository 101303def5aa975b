import type { Random } from '../../seed/random.ts'
import type { Failpoint } from '../../src/testing/failpoints.ts'
import type { ManagedProcess, ProcessRole } from './processes.ts'

export type BackOfficeName = 'embedded' | 'apparel21'

/** Crash points of every write, and of a write that another back office executes (contributing/decisions/0012). */
const writeCrashPoints = ['before_effect', 'after_effect', 'before_commit', 'after_commit'] as const
const upstreamWriteCrashPoints = ['after_claim', 'before_upstream', 'after_upstream'] as const
/** Crash points of the job that recovers writes, and of the one that sends emails. */
const recoveryCrashPoints = ['before_effect', 'after_effect', 'before_commit'] as const
const emailCrashPoints = ['before_smtp', 'after_smtp', 'before_mark_sent'] as const

const crashPoints: Record<BackOfficeName, Record<ProcessRole, readonly Failpoint[]>> = {
  embedded: { api: writeCrashPoints, worker: emailCrashPoints },
  apparel21: { api: [...writeCrashPoints, ...upstreamWriteCrashPoints], worker: recoveryCrashPoints },
}

/** Picks the crash point of each process that starts; with probability `1 - share` it has none. */
export const pickCrashPoint = (backOffice: BackOfficeName, random: Random, share: number) => (role: ProcessRole) =>
  random.chance(share) ? random.pick(crashPoints[backOffice][role]) : undefined

/** Describes how often each process was killed, and at which crash points. */
export function describeKills(processes: readonly ManagedProcess[]): string {
  const count = (points: readonly string[]) =>
    [...Map.groupBy(points, point => point)].map(([point, { length }]) => `${point} ${length}`).join(', ')
  return processes
    .map(({ name, kills }) => `${name} ${kills.length}${kills.length ? ` (${count(kills)})` : ''}`)
    .join(', ')
}
