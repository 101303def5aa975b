import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline, Readable, type Transform } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { ImportError } from '../pipeline/import-error.ts'

export const formats = ['csv', 'ndjson'] as const
export type Format = (typeof formats)[number]

/** A file to import: plain, gzip or zstd. */
export interface Source {
  /** What messages call it. */
  name: string
  format: Format
  stream: Readable
  /** How many bytes there are to read, where that is known. */
  size?: number
  /** Where it can be read again. */
  path?: string
  /** The maximum size after decompression. Absent: unlimited. */
  maxUnpackedBytes?: number
}

const chunkBytes = 64 * 1024

/** Opens a file, or standard input for `-`. The format is told by the name, unless given; standard input is CSV. */
export async function openSource(path: string, format?: Format): Promise<Source> {
  if (path === '-') return { name: 'standard input', format: format ?? 'csv', stream: process.stdin }
  const told = format ?? formatOf(path)
  if (!told)
    throw new ImportError(
      `${path}: the name does not tell the format (.csv, .ndjson, .jsonl, with or without .gz or .zst): --format csv or --format ndjson.`,
    )
  const found = await stat(path).catch(error => {
    throw new ImportError(notRead(path, error))
  })
  const source: Source = { name: path, format: told, stream: createReadStream(path, { highWaterMark: chunkBytes }) }
  // What comes out of a pipe comes once, whether it has a name or not.
  return found.isFile() ? { ...source, size: found.size, path } : source
}

const formatOf = (path: string): Format | undefined => {
  const [, ending] = /\.(csv|ndjson|jsonl)(\.gz|\.zst)?$/i.exec(path) ?? []
  return ending === undefined ? undefined : ending.toLowerCase() === 'csv' ? 'csv' : 'ndjson'
}

/** The bytes of a source, unpacked when they begin as gzip or zstd does. `onRead` hears how many bytes were taken from the file. */
export async function* bytesOf(
  { name, stream, maxUnpackedBytes = Infinity }: Source,
  onRead: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let head: Buffer = Buffer.alloc(0)
  const counted = async function* () {
    if (head.length) yield head
    for (;;) {
      const { value, done } = await chunks.next()
      if (done) return
      onRead(value.length)
      yield value
    }
  }
  const limited = async function* (unpackedChunks: AsyncIterable<Buffer>) {
    let size = 0
    for await (const chunk of unpackedChunks) {
      size += chunk.length
      if (size > maxUnpackedBytes)
        throw new ImportError(
          `${name} has more than ${maxUnpackedBytes / 1024 ** 3} GiB after decompression. Split it.`,
        )
      yield chunk
    }
  }
  try {
    while (head.length < 4) {
      const { value, done } = await chunks.next()
      if (done) break
      onRead(value.length)
      head = Buffer.concat([head, value])
    }
    if (head[0] === 0x1f && head[1] === 0x8b)
      yield* limited(unpacked(counted(), createGunzip({ chunkSize: chunkBytes })))
    else if (head.length >= 4 && head.readUInt32LE() === 0xfd2fb528)
      yield* limited(unpacked(counted(), createZstdDecompress({ chunkSize: chunkBytes })))
    else yield* counted()
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (/^(Z_|ZSTD_|ERR_ZLIB|ERR_ZSTD)/.test(code))
      throw new ImportError(`${name} is damaged: it cannot be unpacked to its end.`)
    if (code) throw new ImportError(`${name} cannot be read: ${message}.`)
    throw error
  } finally {
    stream.destroy()
  }
}

async function* unpacked(packed: AsyncIterable<Buffer>, unpacking: Transform): AsyncGenerator<Buffer> {
  // Errors of either side arrive at the reader below.
  pipeline(Readable.from(packed), unpacking, () => {})
  yield* unpacking as AsyncIterable<Buffer>
}

/** What is said of a file that could not be read. */
export const notRead = (path: string, { code, message }: NodeJS.ErrnoException) =>
  `${path} cannot be read: ${code === 'ENOENT' ? 'there is no such file' : message}.`
