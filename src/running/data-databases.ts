import type { Config } from '../config.ts'
import type { Db } from '../db.ts'
import type { Keys } from '../secrets.ts'
import { adopt, databaseUrl, entriesOf, keepDatabase, mark, readMark } from '../store/running/data-databases.ts'
import { connect, type OpenedDatabase, type Opening } from './connecting.ts'
import type { Installation } from './installation.ts'
import { requireOneServer } from './one-server.ts'

/** What says where a data database is. */
const named = 'its URL (tillbridge database add)'

/** Opens a data database by its name, and brings it up to date. Throws, with a way out, where it cannot be worked with. */
export async function reachDatabase(
  config: Config,
  { db: control, keys }: Pick<Installation, 'db' | 'keys'>,
  name: string,
  opening: Opening = {},
): Promise<OpenedDatabase> {
  const url = await databaseUrl(control, keys, name)
  if (url === undefined) throw new Error(`There is no database ${name}; to see all: tillbridge database list`)
  return openAt(config, keys, name, url, opening)
}

/** Opens a data database where it is. */
export async function openAt(
  config: Config,
  keys: Keys,
  name: string,
  url: string,
  opening: Opening,
): Promise<OpenedDatabase> {
  const opened = await connect(config, url, { ...opening, named }).catch(error => {
    throw new Error(`The database ${name}: ${(error as Error).message}`, { cause: error })
  })
  try {
    await requireMark(opened.db, keys, name)
    return opened
  } catch (error) {
    await opened.close()
    throw error
  }
}

/**
 * Makes a database known by a name, or an address of one that is known, and enters services that are in it and not known. Throws, with a
 * way out, where it is somebody else's. Returns how many services are in it.
 */
export async function addDatabase(
  config: Config,
  { db: control, keys }: Pick<Installation, 'db' | 'keys'>,
  name: string,
  url: string,
): Promise<number> {
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
    const entries = await entriesOf(db)
    await control.transaction(async tx => {
      await keepDatabase(tx, keys, name, url)
      const strange = await adopt(tx, name, entries)
      if (strange.length)
        throw new Error(
          `The database ${name} has services whose number or name is another one's here: ${strange.map(each => `${each.name} (${each.id})`).join(', ')}. Nothing was added.`,
        )
    })
    return entries.length
  } finally {
    await close()
  }
}

async function requireMark(db: Db, keys: Keys, name: string) {
  const found = await readMark(db)
  if (!found) throw new Error(`The database ${name} is empty now: restore it, or add it anew.`)
  if (found.name === null)
    throw new Error('This database is an installation of its own, or the one that is asked: name an empty one.')
  if (!found.digest.equals(keys.digest))
    throw new Error(`This database belongs to an installation with another secret, which knows it as ${found.name}.`)
  if (found.name !== name) throw new Error(`This database is known as ${found.name} already, and not as ${name}.`)
}
