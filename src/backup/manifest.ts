import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { open } from 'node:fs/promises'
import { DamagedBackup, type Head, preamble } from './frames.ts'

/** The last lines of a backup. They aren't encrypted, so a backup can be checked without a private key. */
export interface Manifest extends Pick<Head, 'release' | 'takenAt' | 'secret' | 'service'> {
  /** The age recipients that can decrypt the payload. Null if it isn't encrypted. */
  recipients: readonly string[] | null
  /** Rows, and their size in bytes before compression and encryption. */
  rows: number
  bytes: number
  /** The bytes between the first line and the manifest. */
  payload: { bytes: number; sha256: string }
}

/** A manifest with the bytes that were signed. */
interface SignedManifest {
  manifest: Manifest
  signed: Buffer
  signature: Buffer
}

/** The DER header of an Ed25519 private key (RFC 8410), which its 32 bytes follow. */
const pkcs8Header = Buffer.from('302e020100300506032b657004220420', 'hex')

const createSigningKey = (seed: Buffer) =>
  createPrivateKey({ key: Buffer.concat([pkcs8Header, seed]), format: 'der', type: 'pkcs8' })

/** Signature and length of the manifest, at the end of the file: 86 characters, a line feed, 8 digits, a line feed. */
const trailerLength = 96
const maxManifestBytes = 1024 * 1024

/** Encodes a manifest as the last lines of a backup, signed with Ed25519. */
export function encodeManifest(manifest: Manifest, signingSeed: Buffer): Buffer {
  // The line feed before it separates the manifest from the payload for programs that read lines, such as `tail`.
  const line = Buffer.from(`\n${JSON.stringify(manifest)}\n`)
  const signature = sign(null, line, createSigningKey(signingSeed)).toString('base64url')
  return Buffer.concat([line, Buffer.from(`${signature}\n${String(line.length).padStart(8, '0')}\n`)])
}

/** Throws `DamagedBackup` if none of the secrets signed the manifest. */
export function verifySignature({ signed, signature }: SignedManifest, signingSeeds: readonly Buffer[]) {
  const isSigned = signingSeeds.some(seed => verify(null, signed, createPublicKey(createSigningKey(seed)), signature))
  if (!isSigned) throw new DamagedBackup('its manifest was not signed with the secret of this installation')
}

/** Reads the manifest of a file without checking its signature. Throws `DamagedBackup` if the file isn't complete. */
export async function readManifest(file: string): Promise<SignedManifest> {
  const handle = await open(file).catch(error => {
    throw error.code === 'ENOENT' ? new Error(`File ${file} not found.`) : error
  })
  const read = async (from: number, length: number) => {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from)
    return buffer.subarray(0, bytesRead)
  }
  try {
    const { size } = await handle.stat()
    requirePreamble(file, (await read(0, preamble.length)).toString('latin1'))
    const trailer = (await read(Math.max(0, size - trailerLength), trailerLength)).toString('latin1')
    const [, signature, digits] = /^([\w-]{86})\n(\d{8})\n$/.exec(trailer) ?? []
    const length = Number(digits)
    const start = size - trailerLength - length
    if (signature === undefined || length > maxManifestBytes || start < preamble.length)
      throw new DamagedBackup('its end is missing')
    const signed = await read(start, length)
    const manifest = parseManifest(signed)
    if (preamble.length + manifest.payload.bytes !== start)
      throw new DamagedBackup(`its content has ${start - preamble.length} bytes instead of ${manifest.payload.bytes}`)
    return { manifest, signed, signature: Buffer.from(signature, 'base64url') }
  } catch (error) {
    throw addFile(error, file)
  } finally {
    await handle.close()
  }
}

function parseManifest(line: Buffer): Manifest {
  try {
    const manifest = JSON.parse(line.toString()) as Manifest
    if (Number.isInteger(manifest.payload.bytes) && typeof manifest.secret === 'string') return manifest
  } catch {
    // The same message as for another type.
  }
  throw new DamagedBackup('its manifest is invalid')
}

function requirePreamble(file: string, start: string) {
  if (start === preamble) return
  throw new DamagedBackup(
    /^Tillbridge backup \d+\n/.test(start)
      ? `${file} was written by another version of Tillbridge. Restore it with that version.`
      : `${file} is not a backup. Create one with "tillbridge backup <file>".`,
  )
}

/** Adds the path to the message of a `DamagedBackup`, and what to do. */
export const addFile = (error: unknown, file: string) =>
  error instanceof DamagedBackup && !error.message.startsWith(file)
    ? new DamagedBackup(`${file} is damaged: ${error.message}. Use another backup.`)
    : error
