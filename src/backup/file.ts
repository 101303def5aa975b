import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import type { Keys } from '../crypto/keys.ts'
import { writeAtomically } from '../files/atomic-write.ts'
import { handleLater } from '../telemetry/ignored-errors.ts'
import { decrypt, encrypt, explainWrongIdentity, type Identities, type Recipients } from './encryption.ts'
import { DamagedBackup, type End, type Frame, type Head, type Progress, parseFrames, preamble } from './frames.ts'
import { addFile, encodeManifest, type Manifest, readManifest, verifySignature } from './manifest.ts'
import { throttle } from './throttle.ts'
import { type VerifiedBackup, verify } from './verify.ts'

/** How a backup is protected: its recipients, and the keys whose secret signs its manifest. */
export interface Protection {
  recipients: Recipients
  keys: Pick<Keys, 'signing'>
}

/** Bytes read and decompressed at a time. With Node.js's default of 16 KB, a third of the time is spent between the threads. */
const chunkSize = 64 * 1024

/** Compresses at the fastest level, because rows of a table are so similar that the default level takes three times as long for the same size. */
const createCompressor = () =>
  createZstdCompress({
    chunkSize,
    params: { [constants.ZSTD_c_checksumFlag]: 1, [constants.ZSTD_c_compressionLevel]: 1 },
  })

/** Writes a backup to a stream and ends the stream. Returns its manifest, and identities that decrypt it in this process. */
export async function writeToStream(
  stream: Writable,
  frames: AsyncIterable<Buffer>,
  { recipients, keys }: Protection,
): Promise<{ manifest: Manifest; identities: Identities | undefined }> {
  let manifest: Manifest | undefined
  let identities: Identities | undefined
  async function* encode() {
    const summary = summarize(frames)
    const compressed = createCompressor()
    let payload: AsyncIterable<Uint8Array> = compressed
    // First, so that no snapshot stays open if a recipient is invalid.
    if (recipients !== 'plain') ({ encrypted: payload, identities } = await encrypt(compressed, recipients))
    const compressing = pipeline(Readable.from(summary.frames), compressed)
    // Its error also ends the loop below.
    handleLater(compressing)
    const hash = createHash('sha256')
    let bytes = 0
    yield preamble
    for await (const chunk of payload) {
      hash.update(chunk)
      bytes += chunk.length
      yield chunk
    }
    await compressing
    manifest = {
      ...summary.read(),
      recipients: recipients === 'plain' ? null : recipients,
      payload: { bytes, sha256: hash.digest('hex') },
    }
    yield encodeManifest(manifest, keys.signing)
  }
  await pipeline(encode, stream)
  if (!manifest) throw new Error('the stream ended before the manifest')
  return { manifest, identities }
}

/** Passes frames on, and reads the head, the number of rows and their size from them. */
function summarize(frames: AsyncIterable<Buffer>) {
  let head: Head | undefined
  let rows = 0
  let bytes = 0
  const parse = (frame: Buffer): unknown => JSON.parse(frame.subarray(5).toString())
  return {
    frames: (async function* () {
      for await (const frame of frames) {
        const kind = frame.toString('latin1', 0, 1)
        if (kind === 'H') head = parse(frame) as Head
        else if (kind === 'D') bytes += frame.length - 5
        else if (kind === 'E') rows = (parse(frame) as End).tables.reduce((sum, table) => sum + table.rows, 0)
        yield frame
      }
    })(),
    read() {
      if (!head) throw new Error('a backup must begin with its head')
      const { release, takenAt, secret, service } = head
      return { release, takenAt, secret, ...(service !== undefined && { service }), rows, bytes }
    },
  }
}

/**
 * Writes a backup to a file that only its owner can read, with a share of one core's time (`throttle`). The file is verified before it gets
 * its name, so a file of this name is always a complete backup.
 */
export const writeFile = (
  file: string,
  frames: AsyncIterable<Buffer>,
  { recipients, keys, onVerify, share = 1, ...options }: Protection & WriteOptions,
): Promise<VerifiedBackup> =>
  writeAtomically(
    file,
    async draft => {
      const stream = createWriteStream(draft, { mode: 0o600 })
      const { identities } = await writeToStream(stream, throttle(frames, share), { recipients, keys })
      return verifyFile(draft, [keys.signing], { identities, onProgress: onVerify, share })
    },
    options,
  )

interface WriteOptions {
  onVerify?: Progress
  share?: number
  isNew?: boolean
}

interface ReadOptions {
  /** Required for an encrypted file. */
  identities?: Identities | undefined
  onProgress?: Progress | undefined
  /** Called with each frame, before it is returned. */
  onFrame?: (frame: Frame) => void
}

/** Returns the seeds of all signing keys whose signature is valid. */
export const listSigningSeeds = ({ signing, otherKeys }: Keys) => [signing, ...otherKeys.map(other => other.signing)]

/** Reads a complete file and returns its content. Throws `DamagedBackup` if anything differs from what was written, or signed by others. */
export async function verifyFile(
  file: string,
  signingSeeds: readonly Buffer[],
  { share = 1, ...options }: ReadOptions & { share?: number } = {},
): Promise<VerifiedBackup> {
  try {
    verifySignature(await readManifest(file), signingSeeds)
    return await verify(throttle(readFrames(file, options), share))
  } catch (error) {
    throw addFile(error, file)
  }
}

/** Compares the payload with the signed manifest, without decrypting it. Throws `DamagedBackup`. */
export async function verifyPayload(file: string, signingSeeds: readonly Buffer[], onProgress: Progress) {
  try {
    const signed = await readManifest(file)
    verifySignature(signed, signingSeeds)
    for await (const _ of readPayload(file, signed.manifest, onProgress));
  } catch (error) {
    throw addFile(error, file)
  }
}

/** Yields the frames of a file and reports the bytes read. Throws `DamagedBackup`. */
export async function* readFrames(
  file: string,
  { identities, onProgress = () => {}, onFrame = () => {} }: ReadOptions = {},
): AsyncGenerator<Frame> {
  const { manifest } = await readManifest(file)
  const { recipients } = manifest
  if (recipients && !identities)
    throw new Error(`${file} is encrypted. Add --identity <file> with the private key of ${recipients.join(' or ')}.`)
  const payload = readPayload(file, manifest, onProgress)
  const decompressed = createZstdDecompress({ chunkSize })
  const reading = pipeline(Readable.from(recipients ? decrypt(payload, identities ?? []) : payload), decompressed)
  // Its error also ends the frames below.
  handleLater(reading)
  try {
    for await (const frame of parseFrames(decompressed)) {
      onFrame(frame)
      yield frame
    }
    await reading
  } catch (error) {
    if (error instanceof DamagedBackup) throw addFile(error, file)
    const { code, message } = error as NodeJS.ErrnoException
    if (/^(Z_|ZSTD_)|ERR_/.test(code ?? '')) throw addFile(new DamagedBackup(message), file)
    throw explainWrongIdentity(error, file, recipients ?? [])
  } finally {
    decompressed.destroy()
  }
}

/** Yields the bytes between the first line and the manifest. Throws `DamagedBackup` after the last one if the digest differs. */
async function* readPayload(file: string, { payload }: Manifest, onProgress: Progress): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let bytes = 0
  const range = { start: preamble.length, end: preamble.length + payload.bytes - 1, highWaterMark: chunkSize }
  for await (const chunk of createReadStream(file, range) as AsyncIterable<Buffer>) {
    hash.update(chunk)
    bytes += chunk.length
    onProgress({ bytes, size: payload.bytes })
    yield chunk
  }
  if (hash.digest('hex') !== payload.sha256) throw new DamagedBackup('its content differs from its manifest')
}
