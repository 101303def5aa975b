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
  /** What is stored encrypted: answers that are given again, e-mails that wait. */
  sealed: Buffer
  /** What the database knows the secret by. It is of no help in guessing the secret, or any of the keys. */
  digest: Buffer
}

export function keysFrom(secret: string | Buffer): Keys {
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

/** The secret in `file`; undefined where there is none. */
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

/** The secret in `file` (mode 600), made on first use: 256 random bits in hexadecimal. Throws where the file holds something else. */
export async function secretIn(file: string): Promise<string> {
  const known = await readSecret(file)
  if (known !== undefined) {
    if (/^\S{32,}$/.test(known)) return known
    throw new Error(`${file} holds no secret: remove it, and one is made, or put back the right one.`)
  }
  await mkdir(dirname(file), { recursive: true })
  // Half a secret would lock everybody out. If two processes create one, both use the first.
  createAtomicallySync(file, `${randomBytes(32).toString('hex')}\n`, 0o600)
  return secretIn(file)
}

export const hmac = (key: Buffer, ...parts: readonly (string | Buffer)[]) => {
  const mac = createHmac('sha256', key)
  for (const part of parts) mac.update(`${part.length}:`).update(part)
  return mac.digest()
}

/** Encrypts a text (AES-256-GCM): nonce, tag, ciphertext. It opens only for the same `place`: what is moved elsewhere is refused. */
export function seal(key: Buffer, place: string, text: string): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** The text of `seal`; throws where key or place are not the same. */
export function unseal(key: Buffer, place: string, sealed: Buffer): string {
  const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).setAAD(Buffer.from(place))
  cipher.setAuthTag(sealed.subarray(12, 28))
  return cipher.update(sealed.subarray(28), undefined, 'utf8') + cipher.final('utf8')
}
