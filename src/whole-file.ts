import { open, readdir, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'

/**
 * Makes a file that has its name only once it is whole, and on the disk.
 * - The draft: `write` writes under the name that it is given.
 * - The folder of drafts: on the same disk. It is looked through each time, so it is not the file's own where that holds many.
 * - Failure: the draft goes, and a file that had the name before stays.
 * - Leftovers: drafts of processes that were killed go, if they were of this machine. Others, such as containers with the same volume, may
 *   still be writing theirs.
 */
export async function wholeFile<T>(
  path: string,
  write: (draft: string) => Promise<T>,
  drafts = dirname(resolve(path)),
): Promise<T> {
  const file = resolve(path)
  const draftOf = (pid: number | string) => `.${basename(file)}.${hostname()}.${pid}.part`
  for (const name of await readdir(drafts)) {
    const [pid = ''] = /\d+(?=\.part$)/.exec(name) ?? []
    if (pid && name === draftOf(pid) && !isRunning(Number(pid))) await rm(join(drafts, name), { force: true })
  }
  const draft = join(drafts, draftOf(process.pid))
  try {
    const written = await write(draft)
    await sync(draft)
    await rename(draft, file)
    // The new name is on the disk once its folder is.
    await sync(dirname(file))
    return written
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
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
