import { join, resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import { deriveKeys, deriveLookupKeys, type Keys, loadOrCreateSecret, readSecret } from '../../crypto/keys.ts'
import type { Db } from '../../database/db.ts'
import { type DatabaseMark, markDatabase, readMark, unsealLookup } from '../../store/shards/shards.ts'

/** Returns the keys of a database. The first process marks the database with its secret. Throws if this process has another secret. */
export async function loadKeys(config: Config, db: Db): Promise<Keys> {
  const mark = await readMark(db)
  // contributing/decisions/0030
  if (mark?.name)
    throw new Error(
      `DATABASE_URL names the shard ${mark.name} of an installation. It must name the control database of that installation.`,
    )
  if (mark) return deriveVerifiedKeys(config, mark)
  const secrets = splitSecrets(config.secretKey ?? (await loadOrCreateSecret(resolve(getSecretFile(config)))))
  const keys = deriveKeys(secrets[0] ?? '')
  await markDatabase(db, keys, null)
  return deriveVerifiedKeys(config, (await readMark(db)) ?? keys)
}

/** Returns the keys of a database without marking it. Throws if no process has marked it yet. */
export async function loadMarkedKeys(config: Config, db: Db): Promise<Keys> {
  const mark = await readMark(db)
  if (!mark) throw new Error('This database has no secret yet. Run "tillbridge start".')
  return deriveVerifiedKeys(config, mark)
}

/** True if this installation has the secret that a database was marked with. */
export async function hasSecret(config: Config, digest: Buffer): Promise<boolean> {
  const secret = config.secretKey ?? (await readSecret(getSecretFile(config)))
  return secret !== undefined && splitSecrets(secret).some(candidate => deriveKeys(candidate).digest.equals(digest))
}

/** SECRET_KEY can contain several secrets: the newest first, then those that a rotation replaces. */
const splitSecrets = (secrets: string) => secrets.split(',')

const getSecretFile = ({ dataDir }: Config) => join(dataDir, 'secret')

/**
 * Returns the keys of this installation's secrets. Throws if the mark is from another secret. `relation` describes in messages how the
 * secret belongs to the marked backup. Absent for a database.
 */
export async function deriveVerifiedKeys(
  config: Config,
  mark: Pick<DatabaseMark, 'digest'> & Partial<Pick<DatabaseMark, 'lookup' | 'previousDigest'>>,
  relation?: string,
): Promise<Keys> {
  const { digest, previousDigest } = mark
  const description = relation ?? 'this database was first started with'
  const lost = relation === undefined ? ' If it is lost permanently, run "tillbridge secret reset".' : ''
  const file = resolve(getSecretFile(config))
  const stored = await readSecret(file)
  const secret = config.secretKey ?? stored
  if (secret === undefined)
    throw new Error(`The secret that ${description} is missing. Set SECRET_KEY, or restore ${file}.${lost}`)
  const derived = splitSecrets(secret).map(deriveKeys)
  const active = derived.find(candidate => candidate.digest.equals(digest))
  if (active && previousDigest && !derived.some(candidate => candidate.digest.equals(previousDigest)))
    throw new Error(
      'SECRET_KEY must also contain the previous secret, after a comma, until "tillbridge secret rotate" reports that nothing uses it.',
    )
  if (active) {
    const otherKeys = derived.filter(candidate => candidate !== active)
    const keys: Keys = { ...active, otherKeys, isNewest: active === derived[0] }
    return mark.lookup ? { ...keys, ...deriveLookupKeys(unsealLookup(keys, mark.lookup)) } : keys
  }
  const different = `is not the secret that ${description}`
  const consequence = 'so no password or PIN would match'
  if (config.secretKey === undefined)
    throw new Error(`${file} ${different}, ${consequence}. Restore the file, or set SECRET_KEY to that secret.${lost}`)
  throw new Error(
    stored !== undefined && splitSecrets(stored).some(candidate => deriveKeys(candidate).digest.equals(digest))
      ? `SECRET_KEY ${different}. Remove the setting to use the secret in ${file}.`
      : `SECRET_KEY ${different}, ${consequence}. Set it to that secret.${lost}`,
  )
}
