import type { Config } from '../../config/config.ts'
import { findMisplaced, isServedIn, type MisplacedService } from '../../store/shards/misplaced-services.ts'
import type { ShardService } from '../../store/shards/shards.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import type { Installation } from '../installation/installation.ts'
import { openShard } from './open-shard.ts'

type ControlDatabase = Pick<Installation, 'db' | 'keys'>

/**
 * Returns true if a service is in the database that the control database names, and undefined if that database is unavailable. Nothing
 * moves back into the control database, so its rows of a service in a shard are older than the move.
 */
export async function isServedByAssignedShard(
  config: Config,
  control: ControlDatabase,
  copy: MisplacedService,
): Promise<boolean | undefined> {
  if (copy.assignedShard === null) return false
  const reached = await ignoreError(openShard(config, control, copy.assignedShard), 'shard is unavailable')
  return reached && isServedIn(reached.db, copy).finally(reached.close)
}

/**
 * Sorts the services of a shard that the control database has elsewhere. `stale`: the shard was restored from a backup that is older than
 * their move. `ahead`: the control database was.
 */
export async function sortMisplaced(
  config: Config,
  control: ControlDatabase,
  database: string,
  entries: readonly ShardService[],
) {
  const sorted: Record<'stale' | 'ahead', MisplacedService[]> = { stale: [], ahead: [] }
  for (const copy of await findMisplaced(control.db, database, entries))
    sorted[(await isServedByAssignedShard(config, control, copy)) === false ? 'ahead' : 'stale'].push(copy)
  return sorted
}

/** Returns the command that resolves a service that is `ahead`. */
export const describeAdoption = (database: string, { name, assignedShard: place }: MisplacedService) =>
  `The control database was restored to a time before ${name} was moved to ${database}, and lists it in ${place ?? 'itself'}. To serve it from ${database}: tillbridge shard add ${database} --adopt ${name}`
