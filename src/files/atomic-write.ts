import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { open, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { ignoreError } from '../telemetry/ignored-errors.ts'

interface Options {
  /** Folder of the draft. It must be on the same disk, and is listed on each write. Default: the folder of the file. */
  drafts?: string
  /** Throws if the file exists. Default false. */
  isNew?: boolean
}

/** Thrown if the path names a folder, a pipe or a device, which a file can't replace. */
export class NotAFile extends Error {}

/**
 * Writes a file under a temporary name (`draft`), flushes it to the disk and renames it, so that readers see the old file or the complete
 * new one. Follows a symbolic link. Throws `NotAFile` if the path names something else than a file.
 * - Failure: the draft is deleted, and an existing file stays.
 * - Leftovers: drafts of processes of this machine that were killed are deleted. Other machines, such as containers with the same volume,
 *   may still be writing theirs. With `isNew` a kill during the rename can leave an empty file.
 */
export async function writeAtomically<T>(
  path: string,
  write: (draft: string) => Promise<T>,
  { drafts: draftFolder, isNew = false }: Options = {},
): Promise<T> {
  const file = await resolveTarget(path)
  const drafts = draftFolder ?? dirname(file)
  const getDraftName = (pid: number | string) => `.${basename(file)}.${hostname()}.${pid}.part`
  for (const name of await readdir(drafts)) {
    const [pid = ''] = /\d+(?=\.part$)/.exec(name) ?? []
    if (pid && name === getDraftName(pid) && !isRunning(Number(pid))) await rm(join(drafts, name), { force: true })
  }
  const draft = join(drafts, getDraftName(process.pid))
  try {
    const result = await write(draft)
    await flush(draft)
    // A hard link would do this in one step, but not every file system has links.
    if (isNew) await (await open(file, 'wx', 0o600)).close()
    await rename(draft, file).catch(async error => {
      if (isNew) await rm(file, { force: true })
      throw error
    })
    // The new name survives a power cut only after its folder is flushed.
    await flush(dirname(file))
    return result
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Writes a small file atomically while the process starts. The path must not be a symbolic link. */
export function writeAtomicallySync(path: string, content: string, mode: number): void {
  renameSync(writeDraftSync(path, content, mode), path)
}

/** Writes a file unless it exists: of two processes that create it at the same time, the first one wins. */
export function createAtomicallySync(path: string, content: string, mode: number): void {
  const draft = writeDraftSync(path, content, mode)
  try {
    // A rename would replace the file that another process has just created.
    linkSync(draft, path)
  } catch {
    // Not every file system has links.
    if (!existsSync(path)) renameSync(draft, path)
  }
  rmSync(draft, { force: true })
}

function writeDraftSync(path: string, content: string, mode: number): string {
  const draft = `${path}.${randomUUID()}`
  writeFileSync(draft, content, { mode, flush: true })
  return draft
}

/** Returns the path, or the target of a link. */
async function resolveTarget(path: string): Promise<string> {
  const file = await realpath(path).catch(() => resolve(path))
  const existing = await ignoreError(stat(file), 'file does not exist yet')
  if (existing && !existing.isFile()) throw new NotAFile(`${path} must be a file`)
  return file
}

async function flush(path: string) {
  const handle = await open(path)
  await handle.sync().finally(() => handle.close())
}

function isRunning(pid: number) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
