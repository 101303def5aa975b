import { join, resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import { deriveKeys, type Keys, loadOrCreateSecret, readSecret } from '../../crypto/keys.ts'
import type { Db } from '../../database/db.ts'
import { markDatabase, readMark } from '../../store/shards/shards.ts'

/** Returns the keys of a database. The first process marks the database with its secret. Throws if this process has another secret. */
export async function loadKeys(config: Config, db: Db): Promise<Keys> {
  const known = await readMark(db)
  // contributing/decisions/0030
  if (known?.name)
    throw new Error(
      `DATABASE_URL names the shard ${known.name} of an installation. It must name the control database of that installation.`,
    )
  if (known) return deriveVerifiedKeys(config, known.digest)
  const keys = deriveKeys(config.secretKey ?? (await loadOrCreateSecret(resolve(getSecretFile(config)))))
  await markDatabase(db, keys, null)
  return deriveVerifiedKeys(config, (await readMark(db))?.digest ?? keys.digest)
}

/** Returns the keys of a database without marking it. Throws if no process has marked it yet. */
export async function loadMarkedKeys(config: Config, db: Db): Promise<Keys> {
  const known = await readMark(db)
  if (!known) throw new Error('This database has not seen one yet: tillbridge start')
  return deriveVerifiedKeys(config, known.digest)
}

/** True if this installation has the secret that a database was marked with. */
export async function hasSecret(config: Config, digest: Buffer): Promise<boolean> {
  const secret = config.secretKey ?? (await readSecret(getSecretFile(config)))
  return secret !== undefined && deriveKeys(secret).digest.equals(digest)
}

const getSecretFile = ({ dataDir }: Config) => join(dataDir, 'secret')

/** Returns the keys of this installation's secret. Throws if `of`, a database or a backup, was marked with another secret. */
export async function deriveVerifiedKeys(config: Config, digest: Buffer, of?: string): Promise<Keys> {
  const whose = of ?? 'this database was first started with'
  const lost = of === undefined ? ' If it is lost permanently: tillbridge secret reset' : ''
  const file = resolve(getSecretFile(config))
  const kept = await readSecret(file)
  const secret = config.secretKey ?? kept
  if (secret === undefined)
    throw new Error(`The secret that ${whose} is missing: set SECRET_KEY, or put back ${file}.${lost}`)
  const keys = deriveKeys(secret)
  if (keys.digest.equals(digest)) return keys
  const other = `is not the secret that ${whose}`
  const useless = 'so no password or PIN would be right'
  if (config.secretKey === undefined)
    throw new Error(`${file} ${other}, ${useless}: put that one back, or set SECRET_KEY to it.${lost}`)
  throw new Error(
    kept !== undefined && deriveKeys(kept).digest.equals(digest)
      ? `SECRET_KEY ${other}: leave it out, and the one in ${file} counts.`
      : `SECRET_KEY ${other}, ${useless}: set it to that one.${lost}`,
  )
}
