import type { Config } from '../../config/config.ts'
import type { Db } from '../../database/db.ts'
import { countNoun } from '../../domain/values/nouns.ts'
import { openConfiguredBackOffices } from '../../runtime/app.ts'
import type { Installation } from '../../runtime/installation/installation.ts'
import { describeAdoption, sortMisplaced } from '../../runtime/shards/misplaced-services.ts'
import { describeMissingService, openShard } from '../../runtime/shards/open-shard.ts'
import { listMoves, type Move } from '../../store/moves/moves.ts'
import { findConflicts, findMissingServices, listServicesIn, listShards } from '../../store/shards/shards.ts'
import { createQuietLog } from '../terminal/session.ts'
import { checkBackOffices, checkSyncs } from './back-offices.ts'
import { checkAlerts, checkJobs, describeDatabase, requireMigrated } from './database.ts'
import { checkBackups, checkClock, checkDurability } from './machine.ts'

/** Checks each shard like the control database. Throws if a check fails. */
export async function checkShards(config: Config, control: Pick<Installation, 'db' | 'keys'>): Promise<string> {
  const shards = await listShards(control.db)
  if (!shards.length) return 'no further shards'
  const lines: string[] = []
  let isHealthy = true
  for (const { name, services } of shards) {
    const problems = await findProblems(config, control, name)
    if (problems.length) isHealthy = false
    lines.push(`${name}: ${countNoun(services, 'service')}`, ...problems.map(problem => `  FAIL: ${problem}`))
  }
  if (!isHealthy) throw new Error(lines.join('\n'))
  return lines.join('\n')
}

/** Returns the failed checks of a shard. */
async function findProblems(
  config: Config,
  control: Pick<Installation, 'db' | 'keys'>,
  name: string,
): Promise<string[]> {
  const problems: string[] = []
  const collect = (check: Promise<unknown>) => check.catch((error: Error) => problems.push(error.message))
  const opened = await openShard(config, control, name, { skipMigrations: true }).catch((error: Error) => {
    problems.push(error.message)
  })
  if (!opened) return problems
  const { db } = opened
  await collect(requireMigrated(opened))
  if (problems.length) {
    await opened.close()
    return problems
  }
  const offices = await openConfiguredBackOffices(config, control.keys, db, createQuietLog())
  try {
    for (const check of [describeDatabase, checkJobs, checkAlerts]) await collect(check(opened))
    for (const check of [checkClock, checkDurability]) await collect(check(db))
    await collect(checkBackups(config, db, name))
    await collect(checkBackOffices(db, offices, config))
    await collect(checkSyncs(db, offices))
    const entries = await listServicesIn(db)
    const { stale, ahead } = await sortMisplaced(config, control, name, entries)
    for (const copy of stale)
      problems.push(
        `This shard was restored to a time before ${copy.name} was moved to ${copy.assignedShard}. To deactivate the old copy: tillbridge shard add ${name}`,
      )
    problems.push(...ahead.map(copy => describeAdoption(name, copy)))
    for (const service of await findMissingServices(control.db, db, name))
      problems.push(describeMissingService(name, service))
    const unregistered = await findConflicts(control.db, entries)
    if (unregistered.length)
      problems.push(
        `Services missing from the control database: ${unregistered.map(service => service.name).join(', ')}. To register them: tillbridge shard add ${name}`,
      )
  } finally {
    offices.close()
    await opened.close()
  }
  return problems
}

/** Lists moves of services between shards, and restores of services. Throws if one is abandoned. */
export async function checkMoves(control: Db): Promise<string> {
  const moves = await listMoves(control)
  if (!moves.length) return 'no service is being moved'
  const lines = moves.map(({ isDead, silentSeconds, ...move }) =>
    isDead
      ? `${describeMove(move)}, interrupted ${Math.floor(silentSeconds)} s ago. A worker will resolve it. To do it now: tillbridge service ${move.target === null ? 'restore' : 'move'} ${move.name} --undo`
      : `${describeMove(move)}, in progress`,
  )
  if (moves.some(({ isDead }) => isDead)) throw new Error(lines.join('\n'))
  return lines.join('\n')
}

const describeMove = ({ name, source, target, state }: Move<string | null>) =>
  target === null
    ? `${name} is being restored`
    : `${name} moves from ${source ?? 'the control database'} to ${target}${state === 'switched' ? ' (already served there)' : ''}`
