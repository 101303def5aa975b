import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../seed/random.ts'
import { sql } from '../../src/database/db.ts'
import { describeKills } from './crash-points.ts'
import type { Installation } from './installation.ts'
import { expireLeases } from './leases.ts'
import type { History } from './operations/history.ts'

/** The targets and times of kills (kill -9). */
export interface KillSchedule {
  /** Shortest and longest pause between two kills. */
  pauseMs: readonly [number, number]
  /** Share of kills that hit API processes and workers. All other kills hit PostgreSQL. */
  shares: { api: number; worker: number }
  /** Probability that a process with a crash point isn't killed elsewhere. */
  spareChance: number
  /** If true, one API process always stays up. */
  keepsOneApi: boolean
  /** Maximum number of kills. Crash points can add more. Default: no limit. */
  maxKills?: number
  /** Probability that the leases of running processes expire too, so that two of them execute the same write. */
  expireChance: number
}

/** Kills processes until `isOver`. */
export function startKilling(
  { apis, workers, postgres, db }: Installation,
  history: History,
  schedule: KillSchedule,
  random: Random,
  isOver: () => boolean,
) {
  const { pauseMs, shares, spareChance, keepsOneApi, maxKills = Number.POSITIVE_INFINITY, expireChance } = schedule
  const killsPostgres = shares.api + shares.worker < 1
  let postgresKills = 0
  let operationsAtKill = 0
  let killedAt = 0

  const countKills = () => [...apis, ...workers].reduce((sum, server) => sum + server.kills.length, postgresKills)

  function pickTarget() {
    const draw = random.fraction()
    if (draw < shares.api) return random.pick(apis)
    return draw < shares.api + shares.worker ? random.pick(workers) : undefined
  }

  async function kill() {
    const target = pickTarget()
    // On a slow machine writes need time between two kills.
    if (history.operations.length === operationsAtKill && performance.now() - killedAt < 5_000) return
    if (target ? !target.isUp : !(await db.row(sql`select 1`).then(Boolean, () => false))) return
    if (!apis.some(api => api.isUp && !(keepsOneApi && api === target))) return
    if (target?.crashPoint && random.chance(spareChance)) return
    if (random.chance(expireChance)) await expireLeases(db, { includeRunningJobs: true }).catch(() => {})
    if (isOver()) return
    if (target) target.kill()
    else {
      process.kill(postgres.pid, 'SIGKILL')
      postgresKills++
    }
    operationsAtKill = history.operations.length
    killedAt = performance.now()
  }

  async function run() {
    while (!isOver()) {
      await delay(random.integer(...pauseMs))
      if (!isOver() && countKills() < maxKills) await kill()
    }
  }
  return {
    countKills,
    /** Lists the killed processes, the number of their kills, and the crash points. */
    describe: () => `${describeKills([...apis, ...workers])}${killsPostgres ? `, PostgreSQL ${postgresKills}` : ''}`,
    /** Resolves after `isOver`. */
    done: run(),
  }
}
