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
  if (!known) throw new Error('This database has no secret yet. Run "tillbridge start".')
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
  const description = of ?? 'this database was first started with'
  const lost = of === undefined ? ' If it is lost permanently, run "tillbridge secret reset".' : ''
  const file = resolve(getSecretFile(config))
  const kept = await readSecret(file)
  const secret = config.secretKey ?? kept
  if (secret === undefined)
    throw new Error(`The secret that ${description} is missing. Set SECRET_KEY, or restore ${file}.${lost}`)
  const keys = deriveKeys(secret)
  if (keys.digest.equals(digest)) return keys
  const different = `is not the secret that ${description}`
  const consequence = 'so no password or PIN would match'
  if (config.secretKey === undefined)
    throw new Error(`${file} ${different}, ${consequence}. Restore the file, or set SECRET_KEY to that secret.${lost}`)
  throw new Error(
    kept !== undefined && deriveKeys(kept).digest.equals(digest)
      ? `SECRET_KEY ${different}. Remove the setting to use the secret in ${file}.`
      : `SECRET_KEY ${different}, ${consequence}. Set it to that secret.${lost}`,
  )
}
