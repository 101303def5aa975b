import { createReadStream, createWriteStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { writeAtomically } from '../files/atomic-write.ts'
import { handleLater } from '../telemetry/ignored-errors.ts'
import { DamagedBackup, type Frame, type Progress, parseFrames, preamble } from './frames.ts'
import { throttle } from './throttle.ts'
import { type VerifiedBackup, verify } from './verify.ts'

/** Bytes read and decompressed at a time. With Node.js's default of 16 KB, a third of the time is spent between the threads. */
const chunkSize = 64 * 1024

/** Compresses at the fastest level, because rows of a table are so similar that the default level takes three times as long for the same size. */
const createCompressor = () =>
  createZstdCompress({
    chunkSize,
    params: { [constants.ZSTD_c_checksumFlag]: 1, [constants.ZSTD_c_compressionLevel]: 1 },
  })

/** Writes a backup to a stream and ends the stream. */
export async function writeToStream(stream: Writable, frames: AsyncIterable<Buffer>) {
  stream.write(preamble)
  await pipeline(Readable.from(frames), createCompressor(), stream)
}

/**
 * Writes a backup to a file that only its owner can read, with a share of one core's time (`throttle`). The file is verified before it gets
 * its name, so a file of this name is always a complete backup.
 */
export const writeFile = (
  file: string,
  frames: AsyncIterable<Buffer>,
  { onVerify, share = 1, ...options }: { onVerify?: Progress; share?: number; isNew?: boolean } = {},
): Promise<VerifiedBackup> =>
  writeAtomically(
    file,
    async draft => {
      await writeToStream(createWriteStream(draft, { mode: 0o600 }), throttle(frames, share))
      return verifyFile(draft, onVerify, share)
    },
    options,
  )

/** Reads a complete file and returns its content. Throws `DamagedBackup` if anything differs from what was written. */
export const verifyFile = (file: string, onProgress?: Progress, share = 1): Promise<VerifiedBackup> =>
  verify(throttle(readFrames(file, onProgress), share)).catch(error => {
    // Reports an inconsistent file without its path.
    throw error instanceof DamagedBackup && !error.message.startsWith(file) ? toDamagedFile(file, error.message) : error
  })

/** Yields the frames of a file and reports the bytes read. Throws `DamagedBackup`. */
export async function* readFrames(file: string, onProgress: Progress = () => {}): AsyncGenerator<Frame> {
  const { size } = await stat(file).catch(error => {
    throw error.code === 'ENOENT' ? new Error(`File ${file} not found.`) : error
  })
  await requirePreamble(file)
  let bytes = preamble.length
  const decompressed = createZstdDecompress({ chunkSize })
  const read = pipeline(
    createReadStream(file, { start: preamble.length, highWaterMark: chunkSize }),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        bytes += chunk.length
        onProgress({ bytes, size })
        yield chunk
      }
    },
    decompressed,
  )
  // Its error also ends the frames below.
  handleLater(read)
  try {
    yield* parseFrames(decompressed)
  } catch (error) {
    if (error instanceof DamagedBackup) throw toDamagedFile(file, error.message)
    const { code, message } = error as NodeJS.ErrnoException
    throw /^(Z_|ZSTD_)|ERR_/.test(code ?? '') ? toDamagedFile(file, message) : error
  } finally {
    decompressed.destroy()
  }
}

const toDamagedFile = (file: string, reason: string) =>
  new DamagedBackup(`${file} is damaged: ${reason}. Use another backup.`)

async function requirePreamble(file: string) {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(preamble.length), 0, preamble.length, 0)
    const start = buffer.toString('latin1', 0, bytesRead)
    if (start === preamble) return
    throw new DamagedBackup(
      /^Tillbridge backup \d+\n/.test(start)
        ? `${file} was written by a newer version of Tillbridge. Restore it with that version.`
        : `${file} is not a backup. Create one with "tillbridge backup <file>".`,
    )
  } finally {
    await handle.close()
  }
}
