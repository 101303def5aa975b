import type { Config } from '../../config/config.ts'
import { type Copy, copiesAmong, isThere } from '../../store/shards/copies.ts'
import type { Entry } from '../../store/shards/shards.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import type { Installation } from '../installation/installation.ts'
import { reachDatabase } from './reach-shard.ts'

type Known = Pick<Installation, 'db' | 'keys'>

/**
 * Returns true if a service is in the database that the control database names, and undefined if that database is unavailable. Nothing
 * moves back into the control database, so its rows of a service in a shard are older than the move.
 */
export async function isPlaced(config: Config, control: Known, copy: Copy): Promise<boolean | undefined> {
  if (copy.place === null) return false
  const reached = await ignoreError(reachDatabase(config, control, copy.place), 'shard is unavailable')
  return reached && isThere(reached.db, copy).finally(reached.close)
}

/**
 * Sorts the services of a shard that the control database has elsewhere. `stale`: the shard was restored from a backup that is older than
 * their move. `ahead`: the control database was.
 */
export async function sortCopies(config: Config, control: Known, database: string, entries: readonly Entry[]) {
  const sorted: Record<'stale' | 'ahead', Copy[]> = { stale: [], ahead: [] }
  for (const copy of await copiesAmong(control.db, database, entries))
    sorted[(await isPlaced(config, control, copy)) === false ? 'ahead' : 'stale'].push(copy)
  return sorted
}

/** Returns the command that resolves a service that is `ahead`. */
export const howToTake = (database: string, { name, place }: Copy) =>
  `The control database was restored to a time before ${name} was moved to ${database}, and lists it in ${place ?? 'itself'}. To serve it from ${database}: tillbridge shard add ${database} --adopt ${name}`
