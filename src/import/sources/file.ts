import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline, Readable, type Transform } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { ImportError } from '../pipeline/import-error.ts'

export const formats = ['csv', 'ndjson'] as const
export type Format = (typeof formats)[number]

/** A file to import: plain, gzip or zstd. */
export interface Source {
  name: string
  format: Format
  stream: Readable
  /** Bytes to read, if known. */
  size?: number
  /** Set if the source can be read again. */
  path?: string
  /** The maximum size after decompression. Absent: unlimited. */
  maxUnpackedBytes?: number
}

const chunkBytes = 64 * 1024

/** Opens a file, or standard input for `-`. The default format follows from the file's extension. For standard input, it is CSV. */
export async function openSource(path: string, explicitFormat?: Format): Promise<Source> {
  if (path === '-') return { name: 'standard input', format: explicitFormat ?? 'csv', stream: process.stdin }
  const format = explicitFormat ?? findFormat(path)
  if (!format)
    throw new ImportError(
      `${path} must end with .csv, .ndjson or .jsonl, also with .gz or .zst. Otherwise, use --format csv or --format ndjson.`,
    )
  const file = await stat(path).catch(error => {
    throw new ImportError(describeReadError(path, error))
  })
  const source: Source = { name: path, format, stream: createReadStream(path, { highWaterMark: chunkBytes }) }
  // A named pipe can be read only once.
  return file.isFile() ? { ...source, size: file.size, path } : source
}

const findFormat = (path: string): Format | undefined => {
  const [, ending] = /\.(csv|ndjson|jsonl)(\.gz|\.zst)?$/i.exec(path) ?? []
  return ending === undefined ? undefined : ending.toLowerCase() === 'csv' ? 'csv' : 'ndjson'
}

/** Reads the bytes of a source, and decompresses gzip and zstd. `onRead` receives the number of bytes read from the file. */
export async function* readBytes(
  { name, stream, maxUnpackedBytes = Infinity }: Source,
  onRead: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let head: Buffer = Buffer.alloc(0)
  const countBytes = async function* () {
    if (head.length) yield head
    for (;;) {
      const { value, done } = await chunks.next()
      if (done) return
      onRead(value.length)
      yield value
    }
  }
  const limitBytes = async function* (unpackedChunks: AsyncIterable<Buffer>) {
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
      yield* limitBytes(decompress(countBytes(), createGunzip({ chunkSize: chunkBytes })))
    else if (head.length >= 4 && head.readUInt32LE() === 0xfd2fb528)
      yield* limitBytes(decompress(countBytes(), createZstdDecompress({ chunkSize: chunkBytes })))
    else yield* countBytes()
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (/^(Z_|ZSTD_|ERR_ZLIB|ERR_ZSTD)/.test(code))
      throw new ImportError(`${name} can't be decompressed completely, because it is damaged.`)
    if (code) throw new ImportError(`${name} can't be read: ${message}.`)
    throw error
  } finally {
    stream.destroy()
  }
}

async function* decompress(compressed: AsyncIterable<Buffer>, decoder: Transform): AsyncGenerator<Buffer> {
  // Errors of both streams reach the reader of `decoder`.
  pipeline(Readable.from(compressed), decoder, () => {})
  yield* decoder as AsyncIterable<Buffer>
}

export const describeReadError = (path: string, { code, message }: NodeJS.ErrnoException) =>
  code === 'ENOENT' ? `${path} doesn't exist.` : `${path} can't be read: ${message}.`
