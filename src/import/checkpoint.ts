import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Database } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { forgetReached, interruptedAt, noteReached } from '../store/sync/imports.ts'
import { ImportError } from './pipeline/import-error.ts'
import type { Sheet } from './pipeline/sheet.ts'
import type { Source } from './sources/file.ts'

/** How far an import has come is noted so often: what was put in since then is put in again, which changes nothing. */
const noteEveryMs = 1_000

/** How far the import of a file has come, known beyond this process. */
interface Reached {
  /** The line behind which it goes on; 0: at the beginning. */
  from: number
  /** All lines up to this one are in. Has what is `before` it outlive the process as well, where it notes it. */
  reached(line: number, before: () => Promise<void> | undefined): Promise<void>
  /** It was stopped behind this line. */
  left(line: number): Promise<void>
  /** It is in to its end. */
  end(): Promise<void>
}

interface IngestOptions {
  /** Go on where an earlier import was interrupted. */
  resume: boolean
  onRemark(text: string): void
}

/** Finds how far the import of a file has come; undefined for a stream, which cannot be read again. */
export async function reachedIn(
  db: Database,
  service: Service,
  type: string,
  { name, path }: Pick<Source, 'name' | 'path'>,
  { resume, onRemark }: IngestOptions,
): Promise<Reached | undefined> {
  if (path === undefined) {
    if (resume) throw new ImportError(`${name} cannot be gone on with: --resume needs a file.`)
    return
  }
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  const file = { importType: type, digest: hash.digest() }
  const earlier = await interruptedAt(db, service, file)
  if (earlier)
    onRemark(
      `${told(earlier)} ${resume ? 'This one goes on from there.' : 'This one begins at the first line; --resume would go on from there.'}`,
    )
  else if (resume) onRemark(`No import of ${name} was interrupted, as it is now: this one begins at the first line.`)
  const note = async (line: number) => void (await noteReached(db, service, file, line))
  let next = 0
  return {
    from: resume ? (earlier?.line ?? 0) : 0,
    async reached(line, before) {
      if (performance.now() < next) return
      await before()
      await note(line)
      next = performance.now() + noteEveryMs
    },
    left: note,
    end: async () => void (await forgetReached(db, service, file)),
  }
}

const told = ({ line, minutes }: { line: number; minutes: number }) =>
  `An import of this file was interrupted ${minutes < 1 ? 'a moment' : minutes < 120 ? `${minutes} minutes` : `${Math.floor(minutes / 60)} hours`} ago, behind line ${line.toLocaleString('en')}: what is up to it is in.`

/** The sheet without its lines up to this one. What is in it of a record, which may be many rows, need not be all of it: it comes again. */
export const behind = (line: number, sheet: Sheet): Sheet => ({
  ...sheet,
  lines: (async function* () {
    const first = sheet.sparse ? line : line + 1
    for await (const lines of sheet.lines) {
      const last = lines.at(-1)
      if (last && last.number >= first) yield lines.filter(({ number }) => number >= first)
    }
  })(),
})
