/**
 * The parts of a backup: a first line that names the format, then frames, compressed with Zstandard. A frame is a letter, the length of
 * its body (four bytes, big-endian), and the body. `H` is the head. `T` is a table, followed by its rows in `D` frames as COPY text. `E`
 * is the end, with the expected row counts and digests. Head, tables and end are JSON.
 */
export type Frame = readonly [kind: 'H' | 'T' | 'D' | 'E', body: Buffer]

/** The first line of a backup in a format that this version can read. */
export const preamble = 'Tillbridge backup 1\n'

export interface Head {
  /** The version of Tillbridge that wrote it. */
  release: string
  /** The version of the PostgreSQL that it was taken from. */
  postgres: string
  /** RFC 3339, by that one's clock. */
  takenAt: string
  /** The migrations that the database had had. */
  migrations: { number: number; name: string; sha256: string }[]
  /** The digest of the secret that goes with the rows, in hexadecimal; the secret is not in here. */
  secret: string
  /** The one service whose rows these are. Absent: those of all. */
  service?: string
}

/** A table, as a statement names it and its columns. */
export interface TableHead {
  name: string
  columns: string[]
}

export interface End {
  tables: { name: string; rows: number; sha256: string }[]
  /** Columns that count by themselves, and how far they are. */
  counters: { table: string; column: string; last: string }[]
}

/** The file is not the backup that it was, or never was one; nothing was done with it. */
export class Damaged extends Error {}

const longest = 64 * 1024 * 1024

export function frame(kind: Frame[0], body: Buffer | Head | TableHead | End): Buffer {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
  const head = Buffer.alloc(5, kind)
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

/** The frames in a stream of bytes. Throws `Damaged` where it ends within one. */
export async function* framesIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    rest = rest.length ? Buffer.concat([rest, chunk]) : chunk
    for (;;) {
      const length = rest.length < 5 ? 0 : rest.readUInt32BE(1)
      if (length > longest) throw new Damaged('a frame is longer than any')
      if (rest.length < 5 + length || rest.length < 5) break
      yield [String.fromCharCode(rest[0] ?? 0) as Frame[0], rest.subarray(5, 5 + length)]
      rest = rest.subarray(5 + length)
    }
  }
  if (rest.length) throw new Damaged('it ends within a frame')
}
