import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createAtomicallySync } from '../files/atomic-write.ts'
import { accessDenied } from '../postgres/access-denied.ts'

// Rotation of the secret: contributing/decisions/0037-key-ring.md.

/** The purposes of keys for hashes that `hashSecret` stores. */
type HashPurpose = 'passwords' | 'pins' | 'sessions'

/** Keys of one secret, which is kept outside the database. */
interface SecretKeys extends Record<HashPurpose, Buffer> {
  /** Begins each value that these keys encrypted or hashed. */
  id: Buffer
  /** Encrypts stored responses, queued emails and other systems' passwords. */
  sealed: Buffer
  /** The seed of the Ed25519 key that signs backups. */
  signing: Buffer
  /** Identifies the secret in the database. It does not help to guess the secret or a key. */
  digest: Buffer
}

/** Keys for each purpose. New values use the keys of the active secret. */
export interface Keys extends SecretKeys {
  cursors: Buffer
  /** Hashes of idempotency keys, reservations and counters: values that processes must find again during and after a rotation. */
  subjects: Buffer
  /** The secret of `cursors` and `subjects`. A rotation keeps it. */
  lookup: Buffer
  /** Other secrets whose values can still be read. */
  otherKeys: readonly SecretKeys[]
  /** True if the active secret is the newest one, so hashes of other secrets are replaced at their next use. */
  isNewest: boolean
}

export const idLength = 4

const deriveKey = (secret: string | Buffer, purpose: string) =>
  Buffer.from(hkdfSync('sha256', secret, '', `tillbridge ${purpose}`, 32))

/** Derives the keys of all purposes from a secret (HKDF, RFC 5869). */
export function deriveKeys(secret: string | Buffer): Keys {
  const digest = computeHmac(deriveKey(secret, 'digest'), 'the secret of this database')
  return {
    id: digest.subarray(0, idLength),
    digest,
    passwords: deriveKey(secret, 'passwords'),
    pins: deriveKey(secret, 'pins'),
    sessions: deriveKey(secret, 'sessions'),
    sealed: deriveKey(secret, 'sealed'),
    signing: deriveKey(secret, 'signing'),
    ...deriveLookupKeys(deriveKey(secret, 'lookup')),
    otherKeys: [],
    isNewest: true,
  }
}

export const deriveLookupKeys = (lookup: Buffer): Pick<Keys, 'lookup' | 'cursors' | 'subjects'> => ({
  lookup,
  cursors: deriveKey(lookup, 'cursors'),
  subjects: deriveKey(lookup, 'subjects'),
})

/** True if a database or backup was marked with one of the secrets. */
export const hasDigest = (keys: Keys, digest: Buffer) =>
  [keys, ...keys.otherKeys].some(candidate => candidate.digest.equals(digest))

/** Reads the secret in `file`. Returns undefined if the file does not exist. */
export async function readSecret(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES') throw accessDenied(file, 'read')
    if (code !== 'ENOENT') throw error
    return
  }
}

/** Returns the secret in `file` (mode 600). Creates it on first use: 256 random bits in hexadecimal. Throws if the file has no valid secret. */
export async function loadOrCreateSecret(file: string): Promise<string> {
  const existing = await readSecret(file)
  if (existing !== undefined) {
    if (/^[^\s,]{32,}(,[^\s,]{32,})*$/.test(existing)) return existing
    throw new Error(
      `${file} must contain a secret of at least 32 characters. Restore the file, or delete it to create a new secret.`,
    )
  }
  await mkdir(dirname(file), { recursive: true })
  // A partly written secret would invalidate all passwords. If two processes create one, both use the first.
  createAtomicallySync(file, `${randomBytes(32).toString('hex')}\n`, 0o600)
  return loadOrCreateSecret(file)
}

/** Returns the HMAC-SHA-256 of the parts. Each part is prefixed with its length, so no two lists of parts have the same input. */
export const computeHmac = (key: Buffer, ...parts: readonly (string | Buffer)[]) => {
  const mac = createHmac('sha256', key)
  for (const part of parts) mac.update(`${part.length}:`).update(part)
  return mac.digest()
}

const hashWith = (keys: SecretKeys, purpose: HashPurpose, parts: readonly (string | Buffer)[]) =>
  Buffer.concat([keys.id, computeHmac(keys[purpose], ...parts)])

/** Returns the stored hash of a password, PIN or token: the key's identifier and an HMAC. */
export const hashSecret = (keys: Keys, purpose: HashPurpose, ...parts: readonly (string | Buffer)[]) =>
  hashWith(keys, purpose, parts)

/** Returns all hashes that can be stored for a password, PIN or token, the one of the active secret first. */
export const listHashes = (keys: Keys, purpose: HashPurpose, ...parts: readonly (string | Buffer)[]) =>
  [keys, ...keys.otherKeys].map(candidate => hashWith(candidate, purpose, parts))

/**
 * Encrypts text (AES-256-GCM). Returns the key's identifier, nonce, tag and ciphertext. It can be decrypted only with the same `context`,
 * which names the row, so a ciphertext that was copied to another row is rejected.
 */
export function seal({ id, sealed: key }: Keys, context: string, text: string): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([id, nonce, cipher.getAuthTag(), sealed])
}

/** Decrypts the result of `seal`. Throws if the context differs, or none of the secrets encrypted it. */
export function unseal(keys: Keys, context: string, stored: Buffer): string {
  const id = stored.subarray(0, idLength)
  const key = [keys, ...keys.otherKeys].find(candidate => candidate.id.equals(id))?.sealed
  if (!key) throw new Error('the value was encrypted with another secret')
  const sealed = stored.subarray(idLength)
  const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).setAAD(Buffer.from(context))
  cipher.setAuthTag(sealed.subarray(12, 28))
  return cipher.update(sealed.subarray(28), undefined, 'utf8') + cipher.final('utf8')
}
