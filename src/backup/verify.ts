import { createHash, type Hash } from 'node:crypto'
import { DamagedBackup, type End, type Frame, type Head, type TableHead } from './frames.ts'

/** The content of a backup that was read completely. */
export interface VerifiedBackup {
  head: Head
  end: End
  rows: number
  /** Size before compression. */
  bytes: number
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    throw new DamagedBackup('a frame is not valid JSON')
  }
}

/** Reads all frames, and compares row counts and digests with the end frame. Throws `DamagedBackup`. */
export async function verify(frames: AsyncIterable<Frame>): Promise<VerifiedBackup> {
  let head: Head | undefined
  let end: End | undefined
  const hashed: { name: string; rows: number; hash: Hash }[] = []
  let bytes = 0
  for await (const [kind, body] of frames) {
    if (end || (kind === 'H') === (head !== undefined)) throw new DamagedBackup('its frames are out of order')
    const table = hashed.at(-1)
    if (kind === 'H') head = parseJson(body) as Head
    else if (kind === 'T')
      hashed.push({ name: (parseJson(body) as TableHead).name, rows: 0, hash: createHash('sha256') })
    else if (kind === 'E') end = parseJson(body) as End
    else if (kind === 'D' && table) {
      table.hash.update(body)
      table.rows += countLines(body)
      bytes += body.length
    } else throw new DamagedBackup('it has a frame of an unknown type')
  }
  if (!head || !end) throw new DamagedBackup('its end is missing')
  const actual = hashed.map(({ hash, ...table }) => ({ ...table, sha256: hash.digest('hex') }))
  const different = actual.find(({ name, rows, sha256 }, i) => {
    const expected = end.tables[i]
    return expected?.name !== name || expected.rows !== rows || expected.sha256 !== sha256
  })
  if (different || actual.length !== end.tables.length)
    throw new DamagedBackup(`the rows of ${different?.name ?? 'some tables'} differ from what was written`)
  return { head, end, bytes, rows: actual.reduce((sum, { rows }) => sum + rows, 0) }
}

/** Counts rows: COPY writes each row as a line, and a line feed within a value as `\n`. */
function countLines(bytes: Buffer) {
  let lines = 0
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++
  return lines
}
