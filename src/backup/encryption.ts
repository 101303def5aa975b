import { readFile } from 'node:fs/promises'
import type { Identity } from 'age-encryption'
import { DamagedBackup } from './frames.ts'

/** The age recipients (public keys) that a backup is encrypted to, or `plain` for no encryption. */
export type Recipients = readonly string[] | 'plain'

/** Private keys that decrypt a backup: texts such as `AGE-SECRET-KEY-1…`, or the key of a file that this process has just written. */
export type Identities = readonly (string | Identity)[]

/** Thrown if none of the identities decrypts the file. */
class WrongIdentity extends Error {}

/**
 * Encrypts a stream (age-encryption.org/v1). Returns the encrypted stream, and identities that decrypt it in this process, so that it can be
 * verified without the private keys of the recipients.
 */
export async function encrypt(plain: AsyncIterable<Buffer>, recipients: readonly string[]) {
  const { Encrypter } = await import('age-encryption')
  const encrypter = new Encrypter()
  for (const recipient of recipients)
    try {
      encrypter.addRecipient(recipient)
    } catch {
      throw new Error(`BACKUP_RECIPIENTS has an invalid age public key: ${recipient}. Copy it again.`)
    }
  let fileKey: Uint8Array | null = null
  // Keeps the key of this file. Nothing of it is written to the file.
  encrypter.addRecipient({
    wrapFileKey(key) {
      fileKey = key
      return []
    },
  })
  const encrypted: AsyncIterable<Uint8Array> = await encrypter.encrypt(ReadableStream.from(plain))
  const identities: Identities = [{ unwrapFileKey: () => fileKey }]
  return { encrypted, identities }
}

/** Decrypts a stream. Throws `WrongIdentity` or `DamagedBackup`. Errors of the stream are rethrown. */
export async function* decrypt(encrypted: AsyncIterable<Buffer>, identities: Identities): AsyncGenerator<Uint8Array> {
  const { Decrypter } = await import('age-encryption')
  const decrypter = new Decrypter()
  for (const identity of identities) decrypter.addIdentity(identity)
  let failure: unknown
  const source = async function* () {
    try {
      yield* encrypted
    } catch (error) {
      failure = error
      throw error
    }
  }
  try {
    yield* await decrypter.decrypt(ReadableStream.from(source()))
  } catch (error) {
    if (failure) throw failure
    const { message } = error as Error
    throw /no identity matched/.test(message) ? new WrongIdentity() : new DamagedBackup(`it can't be decrypted`)
  }
}

/** Returns an error with the file and its recipients for a `WrongIdentity`. Returns other errors unchanged. */
export const explainWrongIdentity = (error: unknown, file: string, recipients: readonly string[]) =>
  error instanceof WrongIdentity
    ? new Error(
        `${file} can't be decrypted with this identity. It is encrypted to ${recipients.join(', ')}. Use the identity file of one of these recipients.`,
      )
    : error

/** Reads the private keys in an identity file of age. Throws if it has none. */
export async function readIdentities(path: string): Promise<Identities> {
  const { Decrypter } = await import('age-encryption')
  const text = await readFile(path, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    throw new Error(`Identity file ${path} can't be read: ${code === 'ENOENT' ? 'not found' : code}.`)
  })
  const identities = text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !line.startsWith('#'))
  try {
    for (const identity of identities) new Decrypter().addIdentity(identity)
    if (identities.length) return identities
  } catch {
    // The message must not contain a private key.
  }
  throw new Error(
    `${path} must be an identity file: lines that begin with AGE-SECRET-KEY-1. Create one with "tillbridge backup keygen <file>".`,
  )
}

/** Creates a key pair: the text of an identity file, and its recipient. */
export async function createIdentity() {
  const { generateX25519Identity, identityToRecipient } = await import('age-encryption')
  const identity = await generateX25519Identity()
  const recipient = await identityToRecipient(identity)
  return { recipient, text: `# created: ${new Date().toISOString()}\n# public key: ${recipient}\n${identity}\n` }
}
