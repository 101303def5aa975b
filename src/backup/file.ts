import { createReadStream, createWriteStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { writeAtomically } from '../files/atomic-write.ts'
import { handleLater } from '../telemetry/ignored-errors.ts'
import { Damaged, type Frame, framesIn, preamble } from './frames.ts'
import type { Progress } from './progress.ts'
import { paced } from './throttle.ts'
import { type Checked, check } from './verify.ts'

/** Bytes that are read and unpacked at a time: by 16 KB, as usual, a third of the time is the way there and back. */
const chunkSize = 64 * 1024

/** The fastest level: rows of a table are so alike that the usual one takes three times as long, and makes the file no smaller. */
const compressor = () =>
  createZstdCompress({
    chunkSize,
    params: { [constants.ZSTD_c_checksumFlag]: 1, [constants.ZSTD_c_compressionLevel]: 1 },
  })

/** Writes a backup to a stream, which is ended. */
export async function writeTo(stream: Writable, frames: AsyncIterable<Buffer>) {
  stream.write(preamble)
  await pipeline(Readable.from(frames), compressor(), stream)
}

/**
 * Writes a backup to a file that only its owner can read, with a share of one core's time (`paced`). It is read back before it gets its
 * name: a file of this name is a whole backup, at all times.
 */
export const writeFile = (
  file: string,
  frames: AsyncIterable<Buffer>,
  { onCheck, share = 1, ...how }: { onCheck?: Progress; share?: number; isNew?: boolean } = {},
): Promise<Checked> =>
  writeAtomically(
    file,
    async draft => {
      await writeTo(createWriteStream(draft, { mode: 0o600 }), paced(frames, share))
      return checkFile(draft, onCheck, share)
    },
    how,
  )

/** Reads a whole file, and says what is in it. Throws `Damaged` where anything of it is not as it was written. */
export const checkFile = (file: string, onProgress?: Progress, share = 1): Promise<Checked> =>
  check(paced(readFrames(file, onProgress), share)).catch(error => {
    // Reports an inconsistent file without its path.
    throw error instanceof Damaged && !error.message.startsWith(file) ? damaged(file, error.message) : error
  })

/** Yields the frames of a file and reports the bytes read. Throws `Damaged`. */
export async function* readFrames(file: string, onProgress: Progress = () => {}): AsyncGenerator<Frame> {
  const { size } = await stat(file).catch(error => {
    throw error.code === 'ENOENT' ? new Error(`There is no file ${file}.`) : error
  })
  await requirePreamble(file)
  let bytes = preamble.length
  const unpacked = createZstdDecompress({ chunkSize })
  const read = pipeline(
    createReadStream(file, { start: preamble.length, highWaterMark: chunkSize }),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        bytes += chunk.length
        onProgress({ bytes, size })
        yield chunk
      }
    },
    unpacked,
  )
  // It ends the frames below, too.
  handleLater(read)
  try {
    yield* framesIn(unpacked)
  } catch (error) {
    if (error instanceof Damaged) throw damaged(file, error.message)
    const { code, message } = error as NodeJS.ErrnoException
    throw /^(Z_|ZSTD_)|ERR_/.test(code ?? '') ? damaged(file, message) : error
  } finally {
    unpacked.destroy()
  }
}

const damaged = (file: string, why: string) => new Damaged(`${file} is damaged: ${why}. Take another backup.`)

async function requirePreamble(file: string) {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(preamble.length), 0, preamble.length, 0)
    const found = buffer.toString('latin1', 0, bytesRead)
    if (found === preamble) return
    throw new Damaged(
      /^Tillbridge backup \d+\n/.test(found)
        ? `${file} is of a newer Tillbridge: restore it with that one.`
        : `${file} is not a backup: tillbridge backup <file> makes one.`,
    )
  } finally {
    await handle.close()
  }
}
