import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/db.ts'
import { purgeRows } from '../../store/service-deletion/purge.ts'
import { retainedTables } from '../../store/shards/control-tables.ts'
import {
  findByName,
  findMisplaced,
  type MisplacedService,
  retireService,
  serveFromShard,
} from '../../store/shards/misplaced-services.ts'
import {
  findMissingServices,
  listServicesIn,
  markDatabase,
  readMark,
  registerServices,
  storeShard,
} from '../../store/shards/shards.ts'
import { connect } from '../installation/connect.ts'
import type { Installation } from '../installation/installation.ts'
import { requireOneServer } from '../installation/require-one-server.ts'
import { describeAdoption, isServedByAssignedShard, sortMisplaced } from './misplaced-services.ts'
import { describeMissingService, requireMark, shardUrlSetting } from './open-shard.ts'

interface ShardToAdd {
  name: string
  url: string
  /** Services to serve from this shard, although the control database assigns another database. */
  adopt?: readonly string[]
}

/**
 * Registers a database under a name, or gives a registered one a new URL. Then registers its unknown services. If the database belongs to
 * another installation, it throws an error that says what to do. Returns the number of its services, and notes for the operator.
 */
export async function addShard(
  config: Config,
  installation: Pick<Installation, 'db' | 'keys'>,
  { name, url, adopt = [] }: ShardToAdd,
): Promise<{ services: number; notes: string[] }> {
  const { db: control, keys } = installation
  // Checked before anything is created in the database.
  const unmigrated = await connect(config, url, { skipMigrations: true, settingName: shardUrlSetting })
  try {
    if (await readMark(unmigrated.db)) await requireMark(unmigrated.db, keys, name)
  } finally {
    await unmigrated.close()
  }
  const { db, close } = await connect(config, url, { settingName: shardUrlSetting, statementTimeoutMs: 0 })
  try {
    await requireOneServer(db)
    await markDatabase(db, keys, name)
    await requireMark(db, keys, name)
    const adoptable = await findAdoptable(config, installation, { name, adopt }, db)
    const entries = await listServicesIn(db)
    const remaining = entries.filter(entry => !adopt.includes(entry.name))
    const { stale, ahead } = await sortMisplaced(config, installation, name, remaining)
    await control.transaction(async tx => {
      await storeShard(tx, keys, name, url)
      const conflicts = await registerServices(tx, name, entries)
      if (conflicts.length)
        throw new Error(
          `Shard ${name} has services whose number or name belongs to another service of this installation: ${conflicts.map(conflict => `${conflict.name} (${conflict.id})`).join(', ')}. Nothing was added.`,
        )
      // Before the commit, after which other processes open the shard and run its jobs.
      for (const copy of stale) await retireService(db, copy)
    })
    for (const copy of adoptable) await adoptService(control, db, name, copy)
    const missing = await findMissingServices(control, db, name)
    return {
      services: entries.length - stale.length,
      notes: [
        ...stale.map(
          copy => `${copy.name} is served from ${copy.assignedShard}. Its rows in ${name} are outdated and unused.`,
        ),
        ...ahead.map(copy => describeAdoption(name, copy)),
        ...missing.map(service => describeMissingService(name, service)),
      ],
    }
  } finally {
    await close()
  }
}

/**
 * Returns the services to adopt. Throws if one is not in the shard, or is served from another database.
 */
async function findAdoptable(
  config: Config,
  installation: Pick<Installation, 'db' | 'keys'>,
  { name: database, adopt }: Required<Pick<ShardToAdd, 'name' | 'adopt'>>,
  db: Database,
): Promise<MisplacedService[]> {
  const services = await findByName(db, adopt)
  const missing = adopt.filter(service => !services.some(({ name }) => name === service))
  if (missing.length) throw new Error(`Services not found in ${database}: ${missing.join(', ')}.`)
  const copies = await findMisplaced(installation.db, database, services)
  for (const copy of copies)
    if (await isServedByAssignedShard(config, installation, copy))
      throw new Error(
        `${copy.name} is served from ${copy.assignedShard}. Move it with "tillbridge service move ${copy.name} --to ${database}".`,
      )
  return copies
}

/** Serves a service from a shard. Its older rows in the control database are deleted, except those about its accounts. */
async function adoptService(control: Database, db: Database, database: string, copy: MisplacedService) {
  await serveFromShard(control, db, database, copy)
  if (copy.assignedShard !== null) return
  await purgeRows(control, copy, undefined, new AbortController().signal, retainedTables)
}
