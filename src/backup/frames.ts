/**
 * The parts of a backup: a first line that names the format, then frames, compressed with Zstandard. A frame is a letter, the length of
 * its body (four bytes, big-endian), and the body. `H` is the head. `T` is a table, followed by its rows in `D` frames as COPY text. `E`
 * is the end, with the expected row counts and digests. Head, tables and end are JSON.
 */
export type Frame = readonly [kind: 'H' | 'T' | 'D' | 'E', body: Buffer]

/** Receives the bytes that were written or read so far, and the total if it is known. */
export type Progress = (progress: { bytes: number; size?: number }) => void

/** The first line of a backup in a format that this version can read. */
export const preamble = 'Tillbridge backup 1\n'

export interface Head {
  /** The version of Tillbridge that wrote the backup. */
  release: string
  /** The version of the PostgreSQL server. */
  postgres: string
  /** RFC 3339, by the server's clock. */
  takenAt: string
  /** The migrations that the database had. */
  migrations: { number: number; name: string; sha256: string }[]
  /** The digest of the installation's secret, in hexadecimal. A backup never contains the secret. */
  secret: string
  /** The only service in the backup. Absent if it contains all services. */
  service?: string
}

/** A table and its columns, quoted for SQL. */
export interface TableHead {
  name: string
  columns: string[]
}

export interface End {
  tables: { name: string; rows: number; sha256: string }[]
  /** Identity columns and the last value of their sequences. */
  sequences: { table: string; column: string; last: string }[]
}

/** Thrown for a file that is no backup, or has changed since it was written. */
export class DamagedBackup extends Error {}

const maxFrameBytes = 64 * 1024 * 1024

export function encodeFrame(kind: Frame[0], body: Buffer | Head | TableHead | End): Buffer {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
  const head = Buffer.alloc(5, kind)
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

/** Yields the frames of a stream of bytes. Throws `DamagedBackup` if the stream ends within a frame. */
export async function* parseFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let buffer: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    buffer = buffer.length ? Buffer.concat([buffer, chunk]) : chunk
    for (;;) {
      const length = buffer.length < 5 ? 0 : buffer.readUInt32BE(1)
      if (length > maxFrameBytes) throw new DamagedBackup(`a frame has more than ${maxFrameBytes} bytes`)
      if (buffer.length < 5 + length || buffer.length < 5) break
      yield [String.fromCharCode(buffer[0] ?? 0) as Frame[0], buffer.subarray(5, 5 + length)]
      buffer = buffer.subarray(5 + length)
    }
  }
  if (buffer.length) throw new DamagedBackup('it ends within a frame')
}
