import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createAtomicallySync } from '../files/atomic-write.ts'
import { accessDenied } from '../postgres/access-denied.ts'

/** Keys for each purpose, all from one secret that is kept outside the database. */
export interface Keys {
  passwords: Buffer
  cursors: Buffer
  subjects: Buffer
  pins: Buffer
  sessions: Buffer
  /** Encrypts stored responses and queued emails. */
  sealed: Buffer
  /** Identifies the secret in the database. It does not help to guess the secret or a key. */
  digest: Buffer
}

/** Derives the keys of all purposes from the secret (HKDF, RFC 5869). */
export function deriveKeys(secret: string | Buffer): Keys {
  const key = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, '', `tillbridge ${purpose}`, 32))
  return {
    passwords: key('passwords'),
    cursors: key('cursors'),
    subjects: key('subjects'),
    pins: key('pins'),
    sessions: key('sessions'),
    sealed: key('sealed'),
    digest: hmac(key('digest'), 'the secret of this database'),
  }
}

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
    if (/^\S{32,}$/.test(existing)) return existing
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
export const hmac = (key: Buffer, ...parts: readonly (string | Buffer)[]) => {
  const mac = createHmac('sha256', key)
  for (const part of parts) mac.update(`${part.length}:`).update(part)
  return mac.digest()
}

/**
 * Encrypts text (AES-256-GCM). Returns nonce, tag and ciphertext. It can be decrypted only with the same `context`, which names the row, so
 * a ciphertext that was copied to another row is rejected.
 */
export function seal(key: Buffer, context: string, text: string): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** Decrypts the result of `seal`. Throws if the key or the context differs. */
export function unseal(key: Buffer, context: string, sealed: Buffer): string {
  const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).setAAD(Buffer.from(context))
  cipher.setAuthTag(sealed.subarray(12, 28))
  return cipher.update(sealed.subarray(28), undefined, 'utf8') + cipher.final('utf8')
}
