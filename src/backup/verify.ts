import { createHash, type Hash } from 'node:crypto'
import { Damaged, type End, type Frame, type Head, type TableHead } from './frames.ts'

/** The content of a backup that was read completely. */
export interface Checked {
  head: Head
  end: End
  rows: number
  /** Before they were compressed. */
  bytes: number
}

function json(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    throw new Damaged('a part of it cannot be read')
  }
}

/** Reads all frames, and compares what came with what the end says. Throws `Damaged`. */
export async function check(frames: AsyncIterable<Frame>): Promise<Checked> {
  let head: Head | undefined
  let end: End | undefined
  const found: { name: string; rows: number; hash: Hash }[] = []
  let bytes = 0
  for await (const [kind, body] of frames) {
    if (end || (kind === 'H') === (head !== undefined)) throw new Damaged('its parts are not in their order')
    const table = found.at(-1)
    if (kind === 'H') head = json(body) as Head
    else if (kind === 'T') found.push({ name: (json(body) as TableHead).name, rows: 0, hash: createHash('sha256') })
    else if (kind === 'E') end = json(body) as End
    else if (kind === 'D' && table) {
      table.hash.update(body)
      table.rows += linesIn(body)
      bytes += body.length
    } else throw new Damaged('it has a part that no backup has')
  }
  if (!head || !end) throw new Damaged('its end is missing')
  const told = found.map(({ hash, ...table }) => ({ ...table, sha256: hash.digest('hex') }))
  const wrong = told.find(({ name, rows, sha256 }, i) => {
    const wanted = end.tables[i]
    return wanted?.name !== name || wanted.rows !== rows || wanted.sha256 !== sha256
  })
  if (wrong || told.length !== end.tables.length)
    throw new Damaged(`the rows of ${wrong?.name ?? 'some tables'} are not those that were written`)
  return { head, end, bytes, rows: told.reduce((sum, { rows }) => sum + rows, 0) }
}

/** COPY writes a row as a line, and a line feed within it as `\n`. */
function linesIn(bytes: Buffer) {
  let lines = 0
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++
  return lines
}
