import { open, readdir, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'

interface How {
  /** Where it is written: on the same disk, and looked through each time, so not the folder of the file where there are many. */
  drafts?: string
  /** Throws where there is a file of this name. */
  isNew?: boolean
}

/**
 * Makes a file that has its name only once it is whole, and on the disk. `write` is given the name to write it by. Whatever it throws, what
 * had the name stays. What processes that were killed have left of it goes: those of this machine, since other
 * ones, such as containers with the same volume, may be writing theirs.
 */
export async function wholeFile<T>(
  path: string,
  write: (draft: string) => Promise<T>,
  { drafts = dirname(resolve(path)), isNew = false }: How = {},
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
    // Not every file system has links, which would do it at once.
    if (isNew) await (await open(file, 'wx', 0o600)).close()
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
