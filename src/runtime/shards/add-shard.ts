import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/db.ts'
import { empty } from '../../store/service-deletion/purge.ts'
import { tablesThatStay } from '../../store/shards/control-tables.ts'
import { type Copy, copiesAmong, entriesNamed, leaveAlone, serveFrom } from '../../store/shards/copies.ts'
import { adopt, entriesOf, keepDatabase, mark, missingFrom, readMark } from '../../store/shards/shards.ts'
import { connect } from '../installation/connect.ts'
import type { Installation } from '../installation/installation.ts'
import { requireOneServer } from '../installation/require-one-server.ts'
import { howToTake, isPlaced, sortCopies } from './copies.ts'
import { howToBegin, named, requireMark } from './reach-shard.ts'

interface Adding {
  name: string
  url: string
  /** Services that are to be served from there, though the control database has them elsewhere. */
  take?: readonly string[]
}

/**
 * Registers a database under a name, or gives a registered one a new URL. Then registers its unknown services. If the database belongs to
 * another installation, it throws an error that says what to do. Returns the number of its services, and notes for the operator.
 */
export async function addDatabase(
  config: Config,
  installation: Pick<Installation, 'db' | 'keys'>,
  { name, url, take = [] }: Adding,
): Promise<{ services: number; told: string[] }> {
  const { db: control, keys } = installation
  // Before anything is made in it.
  const asItIs = await connect(config, url, { asItIs: true, named })
  try {
    if (await readMark(asItIs.db)) await requireMark(asItIs.db, keys, name)
  } finally {
    await asItIs.close()
  }
  const { db, close } = await connect(config, url, { named, statementTimeoutMs: 0 })
  try {
    await requireOneServer(db)
    await mark(db, keys, name)
    await requireMark(db, keys, name)
    const taken = await takeable(config, installation, { name, take }, db)
    const entries = await entriesOf(db)
    const others = entries.filter(each => !take.includes(each.name))
    const { stale, ahead } = await sortCopies(config, installation, name, others)
    await control.transaction(async tx => {
      await keepDatabase(tx, keys, name, url)
      const strange = await adopt(tx, name, entries)
      if (strange.length)
        throw new Error(
          `The database ${name} has services whose number or name is another one's here: ${strange.map(each => `${each.name} (${each.id})`).join(', ')}. Nothing was added.`,
        )
      // Before anybody learns where the database is, and does the jobs of these.
      for (const copy of stale) await leaveAlone(db, copy)
    })
    for (const copy of taken) await takeIn(control, db, name, copy)
    const missing = await missingFrom(control, db, name)
    return {
      services: entries.length - stale.length,
      told: [
        ...stale.map(
          copy => `${copy.name} is in ${copy.place}: what ${name} has of it is of before, and nothing is done for it.`,
        ),
        ...ahead.map(copy => howToTake(name, copy)),
        ...missing.map(each => howToBegin(name, each)),
      ],
    }
  } finally {
    await close()
  }
}

/**
 * The services that are to be taken from where the control database has them. Throws where one is not in the database, or is served from
 * elsewhere.
 */
async function takeable(
  config: Config,
  installation: Pick<Installation, 'db' | 'keys'>,
  { name: database, take }: Required<Pick<Adding, 'name' | 'take'>>,
  db: Database,
): Promise<Copy[]> {
  const found = await entriesNamed(db, take)
  const missing = take.filter(each => !found.some(({ name }) => name === each))
  if (missing.length) throw new Error(`Services not found in ${database}: ${missing.join(', ')}.`)
  const copies = await copiesAmong(installation.db, database, found)
  for (const copy of copies)
    if (await isPlaced(config, installation, copy))
      throw new Error(
        `${copy.name} is in ${copy.place}, and served there: tillbridge service move ${copy.name} --to ${database}`,
      )
  return copies
}

/** Serves a service from a shard. Its older rows in the control database are deleted, except those about its accounts. */
async function takeIn(control: Database, db: Database, database: string, copy: Copy) {
  await serveFrom(control, db, database, copy)
  if (copy.place !== null) return
  await empty(control, copy, undefined, new AbortController().signal, tablesThatStay)
}
