import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Database } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { countNoun } from '../domain/values/nouns.ts'
import { deleteImportProgress, findInterruptedImport, recordImportProgress } from '../store/sync/imports.ts'
import { ImportError } from './pipeline/import-error.ts'
import type { Sheet } from './pipeline/sheet.ts'
import type { Source } from './sources/file.ts'

/** After a crash, the lines since the last checkpoint are imported again, which changes nothing. */
const checkpointIntervalMs = 1_000

/** The progress of one file's import, stored in the database. */
interface Checkpoint {
  /** The import starts after this line. 0: at the beginning. */
  resumeAfter: number
  /** Records that all lines up to this one are imported, at most once per interval. `before` must be complete first. */
  save(line: number, before: () => Promise<void> | undefined): Promise<void>
  /** Records that the import was stopped after this line. */
  saveNow(line: number): Promise<void>
  /** Deletes the progress: the file is imported completely. */
  clear(): Promise<void>
}

interface CheckpointOptions {
  /** Continue an interrupted import. */
  resume: boolean
  onRemark(text: string): void
}

/** Opens the checkpoint of a file. Returns undefined for a stream, which can't be read again. */
export async function openCheckpoint(
  db: Database,
  service: Service,
  type: string,
  { name, path }: Pick<Source, 'name' | 'path'>,
  { resume, onRemark }: CheckpointOptions,
): Promise<Checkpoint | undefined> {
  if (path === undefined) {
    if (resume) throw new ImportError(`The import of ${name} can't be resumed: --resume needs a file.`)
    return
  }
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  const file = { importType: type, digest: hash.digest() }
  const interrupted = await findInterruptedImport(db, service, file)
  if (interrupted)
    onRemark(
      `${describeInterruption(interrupted)} ${resume ? 'Resuming after that line.' : 'Starting at the first line. To resume, use --resume.'}`,
    )
  else if (resume) onRemark(`No import of this content of ${name} was interrupted. Starting at the first line.`)
  const saveNow = async (line: number) => void (await recordImportProgress(db, service, file, line))
  let nextSave = 0
  return {
    resumeAfter: resume ? (interrupted?.line ?? 0) : 0,
    async save(line, before) {
      if (performance.now() < nextSave) return
      await before()
      await saveNow(line)
      nextSave = performance.now() + checkpointIntervalMs
    },
    saveNow,
    clear: async () => void (await deleteImportProgress(db, service, file)),
  }
}

const describeInterruption = ({ line, minutes }: { line: number; minutes: number }) =>
  `An import of this file was interrupted ${minutes < 1 ? 'a moment' : minutes < 120 ? countNoun(minutes, 'minute') : countNoun(Math.floor(minutes / 60), 'hour')} ago, after line ${line.toLocaleString('en')}.`

/** Returns the sheet without its first lines. A record that has several rows in the file's last imported line is imported again. */
export const skipLines = (line: number, sheet: Sheet): Sheet => ({
  ...sheet,
  lines: (async function* () {
    const first = sheet.sparse ? line : line + 1
    for await (const lines of sheet.lines) {
      const last = lines.at(-1)
      if (last && last.number >= first) yield lines.filter(({ number }) => number >= first)
    }
  })(),
})
