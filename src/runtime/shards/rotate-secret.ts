import { deriveLookupKeys, type Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import {
  beginRotation,
  countRemaining,
  endRotation,
  markRotatedShard,
  type RemainingValues,
  reencrypt,
} from '../../store/shards/secret-rotation.ts'
import { failpoint } from '../../testing/failpoints.ts'

interface Databases {
  control: Database
  keys: Keys
  /** Opens a shard by name, or the control database without one. */
  open(name?: string): Promise<Database>
  names(): Promise<string[]>
}

interface RotationResult extends RemainingValues {
  /** True if this run has made the newest secret the active one. Running processes use the previous one until they restart. */
  isStarted: boolean
  reencrypted: number
  isEnded: boolean
}

/**
 * Makes the newest secret of SECRET_KEY the active one, and encrypts all values again. It can be repeated, also after a crash. `force` ends
 * the rotation even if hashes of the previous secret remain: they become invalid.
 */
export async function rotateSecret(
  { control, keys: current, open, names }: Databases,
  { force, onProgress }: { force: boolean; onProgress: (share: number) => void },
): Promise<RotationResult> {
  const [target] = current.otherKeys
  if (!target) throw new Error('SECRET_KEY must contain the new secret and the previous one, separated by a comma.')
  const isStarted = !current.isNewest
  // The lookup secret stays. The new keys come without their own.
  const keys: Keys = isStarted
    ? {
        ...target,
        ...deriveLookupKeys(current.lookup),
        otherKeys: [current, ...current.otherKeys.slice(1)],
        isNewest: true,
      }
    : current
  if (isStarted && !(await beginRotation(control, keys, current.digest)))
    throw new Error('Another rotation is unfinished. Finish it first, with the secrets that it began with.')
  failpoint('secret_rotation_begun')
  const databases = [undefined, ...(await names())]
  const result: RotationResult = { isStarted, reencrypted: 0, isEnded: false, encrypted: 0, passwords: 0, pins: 0 }
  for (const [i, name] of databases.entries()) {
    const db = await open(name)
    if (name !== undefined) await markRotatedShard(db, keys)
    result.reencrypted += await reencrypt(db, keys, share => onProgress((i + share) / databases.length))
    const remaining = await countRemaining(db, keys)
    for (const kind of ['encrypted', 'passwords', 'pins'] as const) result[kind] += remaining[kind]
  }
  const hashes = result.passwords + result.pins
  result.isEnded = !isStarted && result.encrypted === 0 && (hashes === 0 || force)
  if (result.isEnded) await endRotation(control)
  return result
}
