import type { Config } from '../../config/config.ts'
import { hasDigest, type Keys } from '../../crypto/keys.ts'
import type { Db } from '../../database/db.ts'
import { findShardUrl, readMark } from '../../store/shards/shards.ts'
import { type ConnectOptions, connect, type OpenedDatabase } from '../installation/connect.ts'
import type { Installation } from '../installation/installation.ts'

/** Names the setting with a shard's URL, for messages. */
export const shardUrlSetting = 'its URL (tillbridge shard add)'

/** The remedy if the control database assigns a service to a shard that doesn't contain it. */
export const describeMissingService = (database: string, name: string) =>
  `${name} is not in ${database}: tillbridge service add ${name} --shard ${database} creates it again, empty; tillbridge service remove ${name} --no-backup forgets it.`

/** Opens a shard by name and applies pending migrations. Throws, with a remedy, if it can't be used. */
export async function openShard(
  config: Config,
  { db: control, keys }: Pick<Installation, 'db' | 'keys'>,
  name: string,
  opening: ConnectOptions = {},
): Promise<OpenedDatabase> {
  const url = await findShardUrl(control, keys, name)
  if (url === undefined) throw new Error(`Shard ${name} not found. Run "tillbridge shard list".`)
  return openShardAt(config, keys, name, url, opening)
}

export async function openShardAt(
  config: Config,
  keys: Keys,
  name: string,
  url: string,
  opening: ConnectOptions,
): Promise<OpenedDatabase> {
  const opened = await connect(config, url, { ...opening, settingName: shardUrlSetting }).catch(error => {
    throw new Error(`Shard ${name}: ${(error as Error).message}`, { cause: error })
  })
  try {
    await requireMark(opened.db, keys, name)
    return opened
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** Throws, with a remedy, if a database is not this shard of this installation. */
export async function requireMark(db: Db, keys: Keys, name: string) {
  const mark = await readMark(db)
  if (!mark) throw new Error(`The database of shard ${name} is empty. Restore it, or add it again.`)
  if (mark.name === null)
    throw new Error('This database is the control database of an installation. A shard must be an empty database.')
  if (!hasDigest(keys, mark.digest))
    throw new Error(`This database is the shard ${mark.name} of an installation with another secret.`)
  if (mark.name !== name) throw new Error(`This database is already the shard ${mark.name}, not ${name}.`)
}
