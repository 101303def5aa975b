import { openBackOffices } from '../../backoffice/back-offices.ts'
import { backOfficeSettings, type Config } from '../../config/config.ts'
import type { Installation } from '../../runtime/installation/installation.ts'
import { howToTake, sortCopies } from '../../runtime/shards/copies.ts'
import { howToBegin, reachDatabase } from '../../runtime/shards/reach-shard.ts'
import { entriesOf, listDatabases, missingFrom, strangers } from '../../store/shards/shards.ts'
import { quietLog } from '../terminal/quiet-log.ts'
import { backOffices, syncs } from './back-offices.ts'
import { aboutDatabase, alerts, jobs, requireMigrated } from './database.ts'
import { backups, clock, durability } from './machine.ts'

/** Checks each shard like the control database. Throws if a check fails. */
export async function dataDatabases(config: Config, control: Pick<Installation, 'db' | 'keys'>): Promise<string> {
  const known = await listDatabases(control.db)
  if (!known.length) return 'no further shards'
  const lines: string[] = []
  let isWell = true
  for (const { name, services } of known) {
    const faults = await faultsOf(config, control, name)
    if (faults.length) isWell = false
    lines.push(`${name}: ${services} services`, ...faults.map(fault => `  FAIL: ${fault}`))
  }
  if (!isWell) throw new Error(lines.join('\n'))
  return lines.join('\n')
}

/** Returns the failed checks of a shard. */
async function faultsOf(config: Config, control: Pick<Installation, 'db' | 'keys'>, name: string): Promise<string[]> {
  const faults: string[] = []
  const looked = (look: Promise<unknown>) => look.catch((error: Error) => faults.push(error.message))
  const reached = await reachDatabase(config, control, name, { asItIs: true }).catch((error: Error) => {
    faults.push(error.message)
  })
  if (!reached) return faults
  const { db } = reached
  await looked(requireMigrated(reached))
  if (faults.length) {
    await reached.close()
    return faults
  }
  const offices = await openBackOffices({
    db,
    keys: control.keys,
    defaults: backOfficeSettings(config),
    log: quietLog(),
  })
  try {
    for (const look of [aboutDatabase, jobs, alerts]) await looked(look(reached))
    for (const look of [clock, durability]) await looked(look(db))
    await looked(backups(db, name))
    await looked(backOffices(db, offices, config))
    await looked(syncs(db, offices))
    const entries = await entriesOf(db)
    const { stale, ahead } = await sortCopies(config, control, name, entries)
    for (const copy of stale)
      faults.push(
        `This shard was restored to a time before ${copy.name} was moved to ${copy.place}. To deactivate the old copy: tillbridge shard add ${name}`,
      )
    faults.push(...ahead.map(copy => howToTake(name, copy)))
    for (const each of await missingFrom(control.db, db, name)) faults.push(howToBegin(name, each))
    const unknown = await strangers(control.db, entries)
    if (unknown.length)
      faults.push(
        `Services missing from the control database: ${unknown.map(each => each.name).join(', ')}. To register them: tillbridge shard add ${name}`,
      )
  } finally {
    offices.close()
    await reached.close()
  }
  return faults
}
