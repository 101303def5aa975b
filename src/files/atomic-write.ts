import { open, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'

interface How {
  /** Where it is written: on the same disk, and looked through each time, so not the folder of the file where there are many. */
  drafts?: string
  /** Throws where there is a file of this name. */
  isNew?: boolean
}

/** A folder, a pipe, a device: a file does not take its place. */
export class NoFile extends Error {}

/**
 * Makes a file that has its name only once it is whole, and on the disk. A link to a file is followed, and what is no file
 * refused (`NoFile`).
 * - The draft: `write` writes under the name that it is given.
 * - Failure: the draft goes, and a file that had the name before stays.
 * - Leftovers: drafts of processes that were killed go, if they were of this machine. Others, such as containers with the same volume, may
 *   still be writing theirs. With `isNew` an empty file may stay where a process is killed at the very end.
 */
export async function wholeFile<T>(
  path: string,
  write: (draft: string) => Promise<T>,
  { drafts: elsewhere, isNew = false }: How = {},
): Promise<T> {
  const file = await target(path)
  const drafts = elsewhere ?? dirname(file)
  const draftOf = (pid: number | string) => `.${basename(file)}.${hostname()}.${pid}.part`
  for (const name of await readdir(drafts)) {
    const [pid = ''] = /\d+(?=\.part$)/.exec(name) ?? []
    if (pid && name === draftOf(pid) && !isRunning(Number(pid))) await rm(join(drafts, name), { force: true })
  }
  const draft = join(drafts, draftOf(process.pid))
  try {
    const written = await write(draft)
    await sync(draft)
    // Not every file system has links, which would do it at once.
    if (isNew) await (await open(file, 'wx', 0o600)).close()
    await rename(draft, file).catch(async error => {
      if (isNew) await rm(file, { force: true })
      throw error
    })
    // The new name is on the disk once its folder is.
    await sync(dirname(file))
    return written
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** What is to be written: where a link of this name points to. */
async function target(path: string): Promise<string> {
  const file = await realpath(path).catch(() => resolve(path))
  const found = await stat(file).catch(() => undefined)
  if (found && !found.isFile()) throw new NoFile(`${path} is no file, and stays what it is`)
  return file
}

async function sync(path: string) {
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
