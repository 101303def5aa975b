import { access, lstat, mkdir, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type ExportPlace, ExportsUnreadable, freeName } from './export-source.ts'

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

/** A folder of this machine. */
export function openFolder(folder: string): ExportPlace {
  const told = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw new ExportsUnreadable(`The folder of exports: ${(error as NodeJS.ErrnoException).code ?? 'no code'}.`)
    }
  }
  const makeRoom = async () => {
    for (const place of ['done', 'failed']) await mkdir(join(folder, place), { recursive: true })
  }
  return {
    makeRoom: () => told(access(folder).then(makeRoom)),
    names: () => told(readdir(folder)),
    async markOf(name) {
      // It may just have gone.
      const found = await lstat(join(folder, name)).catch(() => undefined)
      return found?.isFile() ? { size: found.size, changedAt: found.mtimeMs } : undefined
    },
    async bring(name) {
      await told(makeRoom())
      return { path: join(folder, name), rejectedPath: join(folder, 'failed', `${name}.rejected.ndjson`) }
    },
    leave: (name, to) =>
      told(
        (async () => {
          await makeRoom()
          const target = await freeName(join(folder, to, name), isThere)
          await rename(join(folder, name), target)
          return target
        })(),
      ),
    async close() {},
  }
}
